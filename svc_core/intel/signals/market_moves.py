"""Finds prediction markets whose probability moved strongly within a day."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from svc_core.intel.entities.model import EntityRef
from svc_core.intel.linking.references import text_references
from svc_core.intel.signals.detectors import DETECTORS, signal_evidence
from svc_core.intel.signals.model import MARKET_POINTS, MarketPoints, Signal
from svc_core.intel.signals.source_diffs import Diff
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.text.deviation import furthest_point, thin_points


async def move_signals(ctx: Context, diffs: Sequence[Diff]) -> list[Signal]:
    """The signals of markets that moved; also stores the price points of each market."""
    tracks = await ctx.find_many(MARKET_POINTS, [diff.claim.row for diff in diffs])
    signals: list[Signal] = []
    for diff in diffs:
        row = diff.claim.row
        before = tracks.get(row) or MarketPoints(row, None)
        price = _price(diff.claim.said, before.label)
        if price is None:
            continue
        label, share = price
        at = micros(diff.stamp)
        points = before.points if label == before.label else ()
        signals += _move(diff, label, _prevailing(points, diff), (at, share))
        after = MarketPoints(row, label, thin_points(points, (at, share)))
        if after != before:
            await ctx.save(MARKET_POINTS, row, after)
            tracks[row] = after
    return signals


def _price(members: Mapping[str, Any], label: str | None) -> tuple[str, float] | None:
    """The label and probability of the outcome that is followed; None for a closed market.

    It is the outcome that was followed before, else the first one.
    """
    shares: dict[str, float] = {
        outcome["label"]: outcome["probability"]
        for outcome in members.get("outcomes") or ()
        if outcome.get("label") is not None and outcome.get("probability") is not None
    }
    if members.get("status") != "open" or not shares:
        return None
    name = label if label is not None and label in shares else next(iter(shares))
    return name, shares[name]


def _prevailing(points: tuple[tuple[int, float], ...], diff: Diff) -> tuple[tuple[int, float], ...]:
    """The points, the last one repeated at the time when its source was last read unchanged."""
    read_at = diff.source.health.last_success_at
    if not points or read_at is None or not points[-1][0] < micros(read_at) < micros(diff.stamp):
        return points
    return (*points, (micros(read_at), points[-1][1]))


def _move(
    diff: Diff, label: str, points: Sequence[tuple[int, float]], last: tuple[int, float]
) -> Iterator[Signal]:
    numbers = DETECTORS["marketMove"].numbers
    members, row = diff.claim.said, diff.claim.row
    amounts = ((members.get(name) or {}).get("value") for name in ("volume24h", "volume"))
    volume = next((amount for amount in amounts if amount is not None), 0)
    first = furthest_point(points, last, timedelta(hours=numbers["windowHours"]))
    if first is None or volume < numbers["volumeMin"]:
        return
    delta = round(last[1] - first[1], 6)
    if abs(delta) < (least := numbers["deltaMin"]):
        return
    direction = "up" if delta > 0 else "down"
    start = diff.stamp - timedelta(microseconds=last[0] - first[0])
    references = text_references(members["question"], diff.stamp.date())
    yield diff.signal(
        "marketMove",
        f"{row}|{direction}|{diff.stamp:%Y-%m-%d}",
        f"{members['question']} {label}: {first[1]:.0%} to {last[1]:.0%}",
        direction=direction,
        measure=abs(delta),
        evidence=signal_evidence(last[1], first[1], start, diff.stamp, threshold=least),
        entities=tuple(EntityRef(ref, name, "mentioned") for ref, name in references.items()),
        market_ids=(row,),
    )
