"""`svc ledger verify`: verifies an export without a server, a database or settings."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import Parameter

from svc_core import wire
from svc_core.ledger.log.checkpoint import open_checkpoint
from svc_core.ledger.log.note import NoteError, VerifierKey, from_base64, to_base64
from svc_core.ledger.log.policy import Policy, PolicyError
from svc_core.ledger.log.tree import HASH_BYTES
from svc_core.ledger.model import verification
from svc_core.ledger.verify.anchors import LogEvidence
from svc_core.ledger.verify.log_verification import verify_export
from svc_core.ledger.verify.outcome import Level, VerificationOutcome
from svc_core.ledger.verify.outcome_text import outcome_lines
from svc_http.outside.fetch.exports import export_opener
from svc_http.run.cli import show
from svc_http.run.cli.exit_codes import REFUSED, UsageError
from svc_http.run.cli.files import content, spooled
from svc_http.run.cli.options import ANSWER, AnswerOptions

P = TypeVar("P")

NOTE_BYTES_MAX = 1024 * 1024
"""Of a checkpoint, a receipt or a policy: a thousand times what they take."""


def verify_command(
    file: Annotated[str, Parameter(help="The export, plain or gzip; - is stdin.")],
    *,
    checkpoint: Annotated[
        tuple[Path, ...],
        Parameter(negative=(), help="A checkpoint that was kept elsewhere; repeatable."),
    ] = (),
    receipt: Annotated[
        tuple[Path, ...],
        Parameter(negative=(), help="A receipt that an append returned; repeatable."),
    ] = (),
    key: Annotated[
        str | None, Parameter(help="The ledger's verifier key, as `svc ledger key` prints it.")
    ] = None,
    policy: Annotated[
        Path | None, Parameter(help="A file that says which witnesses must have signed.")
    ] = None,
    level: Annotated[
        Level, Parameter(help="integrity checks the bytes alone, strict also what they say.")
    ] = "strict",
    from_size: Annotated[
        int | None, Parameter(help="The ledger's size when you last saw it.")
    ] = None,
    from_root: Annotated[str | None, Parameter(help="Its root at that size, base64.")] = None,
    answer: AnswerOptions = ANSWER,
) -> int:
    """Verify an export; needs no server and no database.

    It exits with 0 when the file is sound, 1 when it is not and 2 when it could not be read, and
    names the first line that is wrong and how it was changed.
    """
    vkey, earlier = _parse_option("--key", VerifierKey.parse, key), _anchor(from_size, from_root)
    evidence = LogEvidence(
        level=level,
        vkey=vkey,
        policy=_parse_option(f"--policy {policy}", Policy.parse, policy and _note(policy)),
        checkpoints=tuple(map(_note, checkpoint)),
        receipts=tuple(map(_note, receipt)),
        anchors=() if earlier is None else (earlier,),
    )
    with spooled(file) as path, show.bar("verify") as tell:
        blocks = export_opener(path, "MiB", tell)
        outcome = verify_export(blocks, **evidence)
        consistency = None if earlier is None else _consistency(outcome, earlier, blocks)
    if answer.json:
        members: Any = wire.to_json(
            verification(outcome, ledger="", origin="", vkey="", checkpoint=None, consistency=None)
        )
        own = {
            "ledger": outcome.ledger,
            "origin": None if vkey is None else vkey.name,
            "vkey": None if vkey is None else vkey.vkey,
            "checkpoint": next(_covering(evidence["checkpoints"], outcome, vkey), None),
            "consistency": consistency,
        }
        show.as_json({**members, **own})
    else:
        flags = {"is_keyed": key is not None, "has_notes": bool(checkpoint or receipt)}
        show.print_lines(*outcome_lines(file, outcome, **flags))
    return 0 if outcome.ok else REFUSED


# -- what is held against the file -------------------------------------------------------------


def _note(path: Path) -> bytes:
    return content(str(path), NOTE_BYTES_MAX)


def _parse_option(option: str, parse: Callable[[Any], P], text: Any) -> P | None:
    try:
        return None if text is None else parse(text)
    except (NoteError, PolicyError) as wrong:
        raise UsageError(f"{option}: {wrong} See: svc ledger verify --help") from wrong


def _anchor(size: int | None, root: str | None) -> tuple[int, bytes] | None:
    if size is None and root is None:
        return None
    if size is None or root is None:
        raise UsageError("--from-size and --from-root belong together")
    try:
        hash_ = from_base64(root)
    except NoteError:
        hash_ = b""
    if size < 0 or len(hash_) != HASH_BYTES:
        raise UsageError("--from-root must be the base64 of 32 bytes, --from-size not negative")
    return size, hash_


# -- the outcome for programs ------------------------------------------------------------------


def _covering(
    checkpoints: Iterable[str | bytes], outcome: VerificationOutcome, key: VerifierKey | None
) -> Iterator[str]:
    """Those of the checkpoints that the key has signed for all of a sound file."""
    if key is None or not outcome.ok:
        return
    for text in checkpoints:
        note = text if isinstance(text, str) else text.decode()
        with suppress(NoteError):  # a witness alone may have signed it
            if open_checkpoint(note, key).size == outcome.size:
                yield note


def _consistency(
    outcome: VerificationOutcome, earlier: tuple[int, bytes], blocks: Callable[[], Iterator[bytes]]
) -> Any:
    """Whether the file continues what was seen; the file itself is the proof."""
    size, root = earlier
    holds: bool | None = True
    if not outcome.ok:
        holds = verify_export(blocks, anchors=(earlier,), level="integrity").checks.tree
    return {"fromSize": size, "fromRootHash": to_base64(root), "proof": None, "ok": holds}
