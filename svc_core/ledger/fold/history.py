"""The records that others displace, and by what."""

from typing import Any

from svc_core.ledger.fold.standing import Displacement, Standing
from svc_core.ledger.fold.view import DisplacerView, HistoryView
from svc_core.ledger.records import Record


def history(standing: Standing) -> tuple[HistoryView, ...]:
    """Every record that is displaced at some valid time, oldest first."""
    found = standing.displacements
    return tuple(
        [
            _row(record, found[record.seq, record.id])
            for record in standing.records
            if (record.seq, record.id) in found
        ]
    )


def content(record: Record) -> dict[str, Any] | None:
    """What a record says, without the salt, which would let others guess what was erased."""
    if record.payload is None:
        return None
    return {name: value for name, value in record.payload.items() if name != "salt"}


def _row(record: Record, displacement: Displacement) -> HistoryView:
    return HistoryView(
        record.id,
        record.seq,
        record.kind,
        record.op,
        record.author,
        record.recorded_at,
        record.valid_from,
        record.valid_to,
        record.target,
        record.payload is None,
        content(record),
        displacement.everywhere,
        tuple([_displacer(each) for each in displacement.by]),
    )


def _displacer(record: Record) -> DisplacerView:
    return DisplacerView(
        record.id,
        record.op,
        record.author,
        record.recorded_at,
        record.valid_from,
        record.valid_to,
        (record.payload or {}).get("reason"),
    )
