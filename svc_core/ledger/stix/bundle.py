"""Exports the fold of a subject as one STIX 2.1 bundle.

Rule 1: the bytes depend on the set of records, the two times, the size and the marking: not on the
        order of the records, nor on the process that writes them.
Rule 2: every reference leads to an object of the bundle; a claim's other subject is always in it.
Rule 3: what is in force at the valid time is in the bundle, refuted or not. What an object says
        depends on the record time alone, so bundles of several valid times agree in all they share.
"""

from collections.abc import Iterable
from typing import Final

from svc_core.ledger.fold.bitemporal import fold_records
from svc_core.ledger.fold.claims import value_text
from svc_core.ledger.fold.recordset import RecordSet
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.records import SealedRecord
from svc_core.ledger.stix.issuer import Issuer
from svc_core.ledger.stix.statement_objects import Maker, other_subject
from svc_core.ledger.stix.subject_state import SubjectState, subject_states
from svc_core.ledger.stix.subjects import subject_label, subject_object
from svc_core.ledger.transfer.marking import AMBER, Tlp
from svc_core.ledger.transfer.stix_ids import FIXED_TIME
from svc_core.ledger.transfer.stix_writer import Object, bundle_bytes

_REPORT_TYPES: Final = frozenset(
    {"campaign", "identity", "intrusion-set", "malware", "threat-actor", "tool", "vulnerability"}
)
"""The types of objects that are words of report-type-ov as well (STIX 2.1, 10.23)."""


def stix_bundle(
    records: Iterable[SealedRecord] | RecordSet,
    subject: str,
    *,
    ledger: str,
    valid_time: str,
    record_time: str | None = None,
    size: int | None = None,
    tlp: Tlp = AMBER,
) -> bytes:
    """Build the bundle of `subject` at a record and a valid time, as canonical bytes.

    `records` are those of the subject and of every subject that it is claimed to be related to
    (`others` names them); further ones are passed over. `record_time` and `size` bound them as
    they do a fold. Times are the ledger's texts of 27 characters.
    """
    visible = RecordSet.of(records).restrict(record_time=record_time, size=size)
    subjects = subject_states(visible.records)
    state = subjects.get(subject) or SubjectState(subject, Standing(()))
    issuer = Issuer(ledger, tlp)
    objects = _objects(issuer, state, subjects, valid_time)
    known_at = record_time or state.newest or FIXED_TIME
    key = (known_at, valid_time, "" if size is None else str(size))
    report = _report(issuer, state, visible, key, list(objects))
    id_ = issuer.id("bundle", subject, *key)
    return bundle_bytes(id_, issuer.preamble(), tlp, (*objects.values(), report))


def related_subjects(
    records: Iterable[SealedRecord] | RecordSet,
    subject: str,
    *,
    valid_time: str,
    record_time: str | None = None,
) -> tuple[str, ...]:
    """Return the subjects that claims in force refer to: their records belong in the bundle."""
    standing = Standing.of(records, subject, record_time=record_time)
    subjects = [other_subject(record) for record in standing.live(valid_time)]
    return tuple(dict.fromkeys(name for name in subjects if name is not None and name != subject))


def _objects(
    issuer: Issuer, state: SubjectState, subjects: dict[str, SubjectState], valid_time: str
) -> dict[str, Object]:
    """Build the objects of the bundle by identifier, in the order of the records."""
    maker = Maker(issuer, state)
    objects = [subject_object(issuer, state)]
    for record in state.standing.live(valid_time):
        name = other_subject(record)
        peer = None
        if name is not None:
            peer = subjects.get(name) or SubjectState(name, Standing(()))
            objects.append(subject_object(issuer, peer))
        product = maker.objects_of(record, peer)
        objects += [*product.objects, *maker.opinions(record, product.about)]
    return {item["id"]: item for item in objects}


# -- the report --------------------------------------------------------------------------------


def _report(
    issuer: Issuer,
    state: SubjectState,
    visible: RecordSet,
    key: tuple[str, str, str],
    about: list[str],
) -> Object:
    known_at, valid_time, size = key
    kind = about[0].partition("--")[0]
    return issuer.stix_object(
        "report",
        (state.subject, *key),
        known_at,
        known_at,
        name=f"{subject_label(state)} at record time {known_at}, valid time {valid_time}",
        description=_summary(state, visible, valid_time),
        report_types=[kind if kind in _REPORT_TYPES else "threat-report"],
        published=f"{known_at[:23]}Z",
        object_refs=about,
        extensions=issuer.proof(
            record=state.subject,
            record_time=known_at,
            valid_time=valid_time,
            size=int(size) if size else None,
        ),
    )


def _summary(state: SubjectState, visible: RecordSet, valid_time: str) -> str | None:
    """Summarise the fold as text, one line for each predicate."""
    view = fold_records(visible, state.subject, valid_time=valid_time)
    lines = []
    for predicate, claim in sorted(view.claims.items()):
        best = [value_text(row.value) or "" for row in claim.candidates if row.best]
        values = ", ".join(best) or "every value refuted"
        rest = f" (contested: {len(claim.candidates)} values)" if claim.contested else ""
        lines.append(f"{predicate} = {values}{rest}")
    return "\n".join(lines) or None
