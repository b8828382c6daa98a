"""What an export knows of one subject: what stands of it, and when each thing last changed.

Rule 1: all of it depends on the record time and never on the valid time. So whatever an object
        takes from here is the same in the exports of every valid time.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from attrs import frozen

from svc_core.ledger.fold.recordset import readable
from svc_core.ledger.fold.standing import Standing
from svc_core.ledger.records import STATEMENTS, Kind, Payload, Record

Object = dict[str, Any]
"""A STIX object as JSON."""


def said(record: Record | None, kind: Kind | None = None) -> Payload:
    """What a record, of this kind, says; nothing where that was erased or has no canonical form."""
    if record is None or (kind is not None and record.kind != kind):
        return {}
    return (record.payload or {}) if readable(record.payload) else {}


def text(value: Any) -> str | None:
    """The value where it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


@frozen(slots=False)
class Known:
    """The records of one subject that are visible at a record time."""

    subject: str
    standing: Standing

    @property
    def records(self) -> tuple[Record, ...]:
        """The records, oldest first."""
        return self.standing.records

    @cached_property
    def latest(self) -> Mapping[str, str]:
        """For each record, by its id, when the newest record that touches it was recorded."""
        found: dict[str, str] = {}
        for each in reversed(self.records):
            found[each.id] = max(found.get(each.id, ""), each.recorded_at)
            if each.target is not None:
                found[each.target] = max(found.get(each.target, ""), found[each.id])
        return found

    @cached_property
    def newest(self) -> str | None:
        """When the newest of its records was recorded."""
        return max([each.recorded_at for each in self.records], default=None)

    @cached_property
    def standing_statements(self) -> tuple[Record, ...]:
        """The statements that hold at some valid time and are not refuted, oldest first."""
        return tuple(
            [
                each
                for each in self.records
                if each.op in STATEMENTS
                and not self.standing.is_withdrawn(each)
                and self.standing.verdicts(each).state != "refuted"
            ]
        )

    @cached_property
    def identity(self) -> Record | None:
        """The newest standing record that says what the subject is."""
        found = [each for each in self.standing_statements if said(each, "subject")]
        return found[-1] if found else None

    @cached_property
    def shaped(self) -> str:
        """When what decides the STIX type of the subject last changed; an empty text for never.

        Every object about the subject refers to it by an identifier in which that type stands.
        """
        kinds = {"subject"}
        if any(said(each).get("type") == "location" for each in self.records):
            kinds.add("claim")
        return max([each.recorded_at for each in self.records if each.kind in kinds], default="")


def known_subjects(records: Iterable[Record]) -> dict[str, Known]:
    """The records by the subject that they are about."""
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.subject, []).append(record)
    return {name: Known(name, Standing(tuple(own))) for name, own in found.items()}
