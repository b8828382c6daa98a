"""The ledger operations (Spec: Ontology ledger) and what a log offers besides (C2SP tlog)."""

from typing import Any

from svc_core import problem
from svc_core.ledger.append.erasure import without_erased
from svc_core.ledger.examples import APPENDS
from svc_core.ledger.fold.view import SubjectView
from svc_core.ledger.model import LedgerRecord, SealedRow, SubjectRow, Verification
from svc_core.ledger.usecases import (
    STIX,
    SVG,
    AppendRecords,
    ExportSubject,
    FoldSubject,
    GetCheckpoint,
    GetRecord,
    GetTile,
    ListRecords,
    ListSubjects,
    OpenSubject,
    ProveRecord,
    VerifyLedger,
    append_records,
    export_subject,
    fold_subject,
    get_checkpoint,
    get_record,
    get_tile,
    list_records,
    list_subjects,
    open_subject,
    prove_record,
    verify_ledger,
)
from svc_core.operation import JSON, NDJSON, OCTETS, TEXT, Operation
from svc_core.result import Content, Created, One, Page

READ = frozenset({"ledger:read"})
WRITE = frozenset({"ledger:write"})

_APPENDING = tuple(
    problem.CATALOGUE[code]
    for code in (
        "TIMESTAMP_INVALID",
        "TIMESTAMP_LEAP_SECOND",
        "TIMESTAMP_PRECISION",
        "INTERVAL_EMPTY",
        "NUMBER_PRECISION",
        "RECORD_TOO_LARGE",
    )
)
_JUDGING = tuple(
    problem.CATALOGUE[code]
    for code in (
        "DESIGNATOR_INVALID",
        "UNKNOWN_SUBJECT",
        "UNKNOWN_TARGET",
        "UNKNOWN_EVIDENCE",
        "FOUR_EYES_REQUIRED",
        "ERASURE_NOT_ALLOWED",
        "DUPLICATE_RECORD",
        "TARGET_NOT_IN_FORCE",
        "TRANSITION_NOT_ALLOWED",
    )
)
_TIMES = (problem.TIMESTAMP_INVALID, problem.TIMESTAMP_LEAP_SECOND, problem.TIMESTAMP_PRECISION)

_LOG = ("X-Svc-Ledger-Size", "X-Svc-Ledger-Root", "X-Svc-Ledger-Vkey")
_TAG = (
    'The `ETag` is that of the ledger, `"<size>-<seal>"`: its size, and the first 16 digits of its '
    "last seal. `If-Match` takes the one of the last append, or one put together from the `size` "
    "and `headSeal` in the `basis` of a fold."
)
_CHECKPOINT = """\
api.example.org/led_0123456789abcdef01234567
8
6267Ce8SRLM8d2xbzkcY8YBJMqz8geVSCfxImmA15fE=

— api.example.org/led_0123456789abcdef01234567 nzeQrSSGgy/CJk8XOPtQvTEiOIrsrisz600Qk9jxeF9/6OJ60Y7s\
ENz70OMeqvn+x+8Hk7IrxMmwtgXvlL0NVNWtZAo=
"""
_RECEIPT = f"""\
c2sp.org/tlog-proof@v1
index 3
7bEEGmvNWieRFdek1VsqExJC2TTGbEyEPDY+ImSz3Ys=
xSnZeJFj5J52Jli0hxOA4XBiSnDSEDqQMUaJPeBIhuM=
010AZzK1+y39LYNnepHTujzsHP9wkcWskHxwFwOkD4E=

{_CHECKPOINT}"""
_PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1240 100" role="img"></svg>'
_BUNDLE = {
    "type": "bundle",
    "id": "bundle--438e322a-3d78-550d-ae4a-d14028864e6e",
    "objects": [
        {
            "type": "identity",
            "spec_version": "2.1",
            "id": "identity--222b2319-94cc-529b-aece-72ed433ca42f",
            "created_by_ref": "identity--85d1d17b-0d94-56cf-93f3-42c0b8b3c02f",
            "created": "2026-01-05T09:00:00.000Z",
            "modified": "2026-02-03T10:00:00.000Z",
            "object_marking_refs": ["marking-definition--55d920b0-5e8b-4f79-9ee9-91f868d9b421"],
            "name": "Müller Shipping AG",
            "identity_class": "organization",
        }
    ],
}


def _read(id_: str, path: str, **members: Any) -> Operation[Any, Any]:
    """What all reading operations of the ledger have in common."""
    return Operation(
        id=id_,
        method="GET",
        path=f"/ledger/{path}",
        tag="Ledger",
        group="ledger",
        version="2.0",
        scopes=READ,
        binding="workspace",
        **members,
    )


def _checkpoint(id_: str, path: str, **members: Any) -> Operation[Any, Any]:
    """The checkpoint, at one of its two addresses."""
    return _read(
        id_,
        path,
        request=GetCheckpoint,
        response=Content,
        run=get_checkpoint,
        fields=_LOG,
        media=(TEXT,),
        examples={TEXT.media_type: _CHECKPOINT},
        signs=True,
        timeless=True,
        **members,
    )


def _append(id_: str, path: str, **members: Any) -> Operation[Any, Any]:
    """What both appending operations have in common."""
    return Operation(
        id=id_,
        method="POST",
        path=f"/ledger/{path}",
        tag="Ledger",
        group="ledger",
        version="2.0",
        scopes=WRITE,
        binding="workspace",
        success=201,
        idempotency="optional",
        # A kept answer holds content that may have to be erased.
        confidential=True,
        replay=without_erased,
        conditional=True,
        exact=True,
        signs=True,
        **members,
    )


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    _read(
        "listSubjects",
        "subjects",
        verb="subjects",
        columns=("id", "type", "label", "openedAt", "author"),
        summary="List subjects",
        description=(
            "The subjects of the workspace, newest first, each as it is described now. With "
            "`designator`, only those that ever had it."
        ),
        request=ListSubjects,
        response=Page[SubjectRow],
        run=list_subjects,
        fails=(problem.DESIGNATOR_INVALID,),
    ),
    _append(
        "openSubject",
        "subjects",
        verb="open",
        summary="Open a subject",
        description=(
            "Appends the record that opens a subject. The answer is the sealed record with a "
            "receipt. " + _TAG
        ),
        request=OpenSubject,
        response=Created[LedgerRecord],
        run=open_subject,
        fails=_APPENDING,
        examples={"body": {"type": "organization", "label": "Pier 7 AG"}},
    ),
    _read(
        "getSubject",
        "subjects/{subjectId}",
        verb="fold",
        summary="Fold a subject",
        description=(
            "The subject as the ledger knew it at `recordTime`, for what held at `validTime`. "
            "Contradictory claims stand side by side, ranked by their verification. `basis` names "
            "the prefix of the ledger that was read: its `size` repeats the answer exactly. As SVG "
            "it is a picture: upwards when it was recorded, across when it is said to hold."
        ),
        request=FoldSubject,
        response=One[SubjectView] | Content,
        run=fold_subject,
        media=(JSON, SVG),
        examples={SVG.media_type: _PICTURE},
        fails=_TIMES,
    ),
    _read(
        "exportSubject",
        "subjects/{subjectId}/stix",
        verb="stix",
        summary="Export a subject as STIX",
        description=(
            "The fold of the subject as a STIX 2.1 bundle: what was known at `recordTime` and is "
            "in force at `validTime`, each object with the proof of its origin. Identifiers are "
            "the same in every export, so that a repeated import updates what has changed and "
            "nothing else. The subjects that claims refer to are in the bundle."
        ),
        request=ExportSubject,
        response=Content,
        run=export_subject,
        media=(STIX,),
        examples={STIX.media_type: _BUNDLE},
        fails=_TIMES,
    ),
    _read(
        "exportRecords",
        "records",
        verb="records",
        columns=("head.seq", "head.id", "head.kind", "head.op", "head.subject"),
        summary="Export sealed lines",
        description=(
            "The sealed lines of the log, byte for byte, oldest first. Kept as they are, they make "
            "a file that anyone can verify without this service. Header fields give the size, the "
            "root and the verifier key of the log."
        ),
        request=ListRecords,
        response=Page[SealedRow],
        run=list_records,
        fields=_LOG,
        media=(NDJSON, JSON),
        fails=(problem.CONFLICTING_PARAMETERS,),
        signs=True,
        timeless=True,
    ),
    _append(
        "appendRecords",
        "records",
        summary="Append records",
        description=(
            "Appends one record, or a list of up to 100, all or none of them, with one record "
            "time. The answer gives each sealed record with its receipt. A JSON Pointer says what "
            "is wrong with which entry.\n\n"
            "Besides `kind`, `subject` and `op` (`assert` by default), an entry has at least:\n\n"
            "- designator: `scheme`, `value`\n"
            "- observation: `observedAt`, `text`, `source` with `url`, `retrievedAt` and "
            "`contentSha256`\n"
            "- claim: `predicate`, `value`\n"
            "- `op` `amend` or `supersede`: `target`, and the members of its kind\n"
            "- `op` `retract`: `target`, `reason`\n"
            "- `op` `verify`: `target`, `state`; for `verified` a `method`, for `corroborated` "
            "`evidence`\n"
            "- `op` `erase`: `target`, `reason`\n\n"
            "They all stand side by side: what the answer shows under `payload` is sent without "
            "it. The server adds the salt that is sealed with each record.\n\n" + _TAG
        ),
        request=AppendRecords,
        response=Created[LedgerRecord] | Created[tuple[LedgerRecord, ...]],
        run=append_records,
        fails=(*_APPENDING, *_JUDGING),
        examples={"body": APPENDS["claim"], "bodies": APPENDS},
    ),
    _read(
        "getRecord",
        "records/{recordId}",
        verb="record",
        summary="Read a record",
        description="One sealed record; `payload` is null once its content was erased.",
        request=GetRecord,
        response=One[LedgerRecord],
        run=get_record,
        timeless=True,
    ),
    _read(
        "proveRecord",
        "records/{recordId}/proof",
        verb="prove",
        summary="Prove a record",
        description=(
            "The receipt of a record (c2sp.org/tlog-proof@v1): its index, the inclusion proof and "
            "the signed checkpoint of the current size, or of `size`."
        ),
        request=ProveRecord,
        response=Content,
        run=prove_record,
        fields=_LOG,
        media=(TEXT,),
        examples={TEXT.media_type: _RECEIPT},
        signs=True,
        timeless=True,
    ),
    _read(
        "verifyLedger",
        "verify",
        verb="check",
        summary="Verify the seal",
        description=(
            "Hashes every record again and compares it with the chain, the tree and every kept "
            "checkpoint. The answer is 200 even when the ledger is not sound: read `ok`. With "
            "`fromSize` and `fromRootHash` it also proves that what you saw then is still there."
        ),
        request=VerifyLedger,
        response=One[Verification],
        run=verify_ledger,
        signs=True,
        timeless=True,
    ),
    _checkpoint(
        "getCheckpoint",
        "checkpoint",
        verb="checkpoint",
        summary="Read the checkpoint",
        description=(
            "The signed tree head (C2SP tlog-checkpoint), of the current size or of `size`. Keep "
            "it elsewhere: it later shows that nothing was cut off or rewritten."
        ),
    ),
    _checkpoint(
        "getLogCheckpoint",
        "tlog/checkpoint",
        verb="log-checkpoint",
        summary="Read the checkpoint of the log",
        description=(
            "The same checkpoint beside the tiles, where tools for the format (C2SP tlog-tiles) "
            "look for it: the address of the log is `/api/v2/ledger/tlog`."
        ),
    ),
    _read(
        "getTile",
        "tlog/tile/{+tile}",
        verb="tile",
        summary="Read a tile",
        description=(
            "A tile of the log (C2SP tlog-tiles): hashes of a level of the tree, or the heads of "
            "records under `entries`. Tools for the format compute every proof from them."
        ),
        request=GetTile,
        response=Content,
        run=get_tile,
        media=(OCTETS,),
        examples={OCTETS.media_type: "\x01" * 32},
        timeless=True,
    ),
)
