"""Finds prediction markets whose probability moved strongly within a day.

A price is judged by the times that the market itself gives, so a market without them has no move.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from svc_core.intel.economy.market import MARKETS, Market
from svc_core.intel.entities.model import EntityRef
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.linking.references import text_references
from svc_core.intel.signals.detectors import (
    DETECTORS,
    signal_evidence,
    signal_id,
    signal_of,
    write_signals,
)
from svc_core.intel.signals.deviation import Point, moves, thin_points
from svc_core.intel.signals.model import MARKET_POINTS, MarketPoints, Signal
from svc_core.operation.context import Context
from svc_core.operation.members import micros

_DIRECTIONS = ("up", "down")


async def follow_prices(ctx: Context, claims: Sequence[Contribution]) -> None:
    """Store the prices that sources state of markets, and write the signals of those that moved."""
    tracks = await ctx.find_many(MARKET_POINTS, [claim.row for claim in claims])
    changed: dict[str, MarketPoints] = {}
    for claim in claims:
        before = tracks.get(claim.row) or MarketPoints(claim.row, None)
        label, share = _price(claim.said)
        if share is None or claim.stamp is None:
            continue
        points = before.points if label == before.label else ()
        after = MarketPoints(claim.row, label, thin_points((*points, (micros(claim.stamp), share))))
        if after != before:
            tracks[claim.row] = changed[claim.row] = after
    markets = await ctx.find_many(MARKETS, changed)
    signals: list[Signal] = []
    ids: list[str] = []
    for id_, track in changed.items():
        await ctx.save(MARKET_POINTS, id_, track)
        days = sorted({f"{_instant(at):%Y-%m-%d}" for at, _ in track.points})
        # What happened on the first day may have been measured by prices that are gone.
        keys = (f"{id_}|{way}|{day}" for way in _DIRECTIONS for day in days[1:] or days)
        ids += [signal_id("marketMove", key) for key in keys]
        signals += _moves(markets[id_], track) if id_ in markets else ()
    if changed:
        await write_signals(ctx, signals, ids)


def _price(members: Mapping[str, Any]) -> tuple[str | None, float | None]:
    """The label and probability of the first outcome; None for a closed market."""
    if members.get("status") != "open":
        return None, None
    outcomes = [
        (outcome["label"], outcome["probability"])
        for outcome in members.get("outcomes") or ()
        if outcome.get("label") is not None and outcome.get("probability") is not None
    ]
    return next(iter(outcomes), (None, None))


def _instant(at: int) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=at)


def _moves(market: Market, track: MarketPoints) -> Iterator[Signal]:
    """The strongest move of each day in each direction."""
    numbers = DETECTORS["marketMove"].numbers
    amounts = (market.volume24h, market.volume)
    volume = next((amount.value for amount in amounts if amount and amount.value is not None), 0)
    if volume < numbers["volumeMin"]:
        return
    strongest: dict[str, tuple[Point, Point]] = {}
    window, least = timedelta(hours=numbers["windowHours"]), numbers["deltaMin"]
    for first, last in moves(track.points, window):
        delta = round(last[1] - first[1], 6)
        key = f"{track.id}|{_DIRECTIONS[delta < 0]}|{_instant(last[0]):%Y-%m-%d}"
        before = strongest.get(key)
        if abs(delta) >= least and (
            before is None or abs(delta) > abs(before[1][1] - before[0][1])
        ):
            strongest[key] = first, last
    for key, (first, last) in strongest.items():
        start, end = _instant(first[0]), _instant(last[0])
        references = text_references(market.question, end.date())
        yield signal_of(
            "marketMove",
            key,
            f"{market.question} {track.label}: {first[1]:.0%} to {last[1]:.0%}",
            signal_evidence(last[1], first[1], start, end, threshold=least),
            direction="up" if last[1] > first[1] else "down",
            measure=round(abs(last[1] - first[1]), 6),
            entities=tuple(EntityRef(ref, name, "mentioned") for ref, name in references.items()),
            market_ids=(track.id,),
            sources=market.sources,
        )
