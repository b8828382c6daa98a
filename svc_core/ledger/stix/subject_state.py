"""The state of one subject for a STIX export: its standing, and when each record last changed.

Rule 1: all of it depends on the record time and never on the valid time. So whatever an object
        takes from here is the same in the exports of every valid time.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from attrs import frozen

from svc_core.ledger.fold.recordset import canonical_form
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.records import STATEMENTS, Kind, Payload, SealedRecord


def payload_of(record: SealedRecord | None, kind: Kind | None = None) -> Payload:
    """Return the payload of a record of this kind; empty if erased or without canonical form."""
    if record is None or (kind is not None and record.kind != kind):
        return {}
    return (record.payload or {}) if canonical_form(record.payload) else {}


def text_in(value: Any) -> str | None:
    """Return a value if it is a non-empty text, else None."""
    return value if isinstance(value, str) and value else None


@frozen(slots=False)
class SubjectState:
    """The records of one subject that are visible at a record time."""

    subject: str
    standing: Standing

    @property
    def records(self) -> tuple[SealedRecord, ...]:
        """The records, oldest first."""
        return self.standing.records

    @cached_property
    def latest(self) -> Mapping[str, str]:
        """For each record id, the record time of the newest record that acts on it."""
        times: dict[str, str] = {}
        for record in reversed(self.records):
            times[record.id] = max(times.get(record.id, ""), record.recorded_at)
            if record.target is not None:
                times[record.target] = max(times.get(record.target, ""), times[record.id])
        return times

    @cached_property
    def newest(self) -> str | None:
        """The record time of the newest record."""
        return max([record.recorded_at for record in self.records], default=None)

    @cached_property
    def standing_statements(self) -> tuple[SealedRecord, ...]:
        """The statements that hold at some valid time and are not refuted, oldest first."""
        return tuple(
            [
                record
                for record in self.records
                if record.op in STATEMENTS
                and not self.standing.is_withdrawn(record)
                and self.standing.verdicts(record).state != "refuted"
            ]
        )

    @cached_property
    def identity(self) -> SealedRecord | None:
        """The newest standing record of the subject itself, with label and type."""
        records = [record for record in self.standing_statements if payload_of(record, "subject")]
        return records[-1] if records else None

    @cached_property
    def shape_time(self) -> str:
        """The newest record time that may affect the STIX type of the subject; empty if none does.

        Every object about the subject refers to it by an identifier in which that type stands.
        """
        kinds = {"subject"}
        if any(payload_of(record).get("type") == "location" for record in self.records):
            kinds.add("claim")
        times = [record.recorded_at for record in self.records if record.kind in kinds]
        return max(times, default="")


def subject_states(records: Iterable[SealedRecord]) -> dict[str, SubjectState]:
    """Group records by subject."""
    by_subject: dict[str, list[SealedRecord]] = {}
    for record in records:
        by_subject.setdefault(record.subject, []).append(record)
    return {name: SubjectState(name, Standing(tuple(group))) for name, group in by_subject.items()}
