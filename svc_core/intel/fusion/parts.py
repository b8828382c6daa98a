"""What is read of one company, from its vulnerabilities to its figures.

Rule 1: every part reads a bounded number of rows; what was counted is exact or `truncated`.
Rule 2: a vulnerability belongs to whoever owned its maker when it was published.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from heapq import heappush, heappushpop
from typing import Any, get_args

from attrs import define, field, frozen

from svc_core import wire
from svc_core.base import instants
from svc_core.base.instants import Interval
from svc_core.intel.economy import finance, markets
from svc_core.intel.economy.indicators import newest
from svc_core.intel.economy.market import MARKETS
from svc_core.intel.economy.statement import OBSERVATIONS, Metric
from svc_core.intel.entities import directory, exploitation, render
from svc_core.intel.entities.model import Entity
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.entities.vulnerability import CVES, day_of
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.fusion.rules import (
    ALIAS,
    CAVEAT,
    CYBER_ITEM,
    NAME,
    Loaded,
    exposure,
    is_in,
    links,
    moment,
    timeline,
)
from svc_core.intel.incidents import operations
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.intel.linking.references import is_id, of_vendor
from svc_core.intel.news.model import NEWS
from svc_core.operation.context import Context
from svc_core.operation.facts import SEVERITIES
from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, Document

Row = dict[str, Any]
Where = Mapping[str, tuple[str, ...]]

COUNTED_MAX = 10_000  # vulnerabilities that are counted: more than any vendor has in a year
UNKNOWN = "unknown"
LISTED_MAX = 1_000  # of them listed by the catalogue
CVES_MAX = ROWS_MAX = 25
FILINGS_MAX = 50
INDICATORS_MAX = 10
MARKETS_READ = 100  # that name it, of which those of the window are shown
FORMATS = {
    "cve": ("cve", "nvd", "csaf"),
    "kev": ("kev",),
    "epss": ("epss",),
    "filings": ("sec-submissions",),
    "financials": ("sec-companyfacts",),
    "markets": ("polymarket", "kalshi", "manifold"),
    "news": ("rss", "atom", "rdf", "jsonfeed"),
}
"""The formats that each part is told in."""


@frozen
class Whom:
    """Whose rows are read, by which references, of which time."""

    ctx: Context
    window: Interval
    entity: Row
    references: tuple[str, ...]

    @classmethod
    async def of(cls, ctx: Context, window: Interval, entity: Document[Entity]) -> "Whom":
        """An entity with all references that may mean it."""
        (row,) = await render.whole(ctx, [entity.raw])
        known = await directory.references(ctx, [entity.id])
        return cls(ctx, window, json.loads(row), known)

    @property
    def ids(self) -> tuple[str, ...]:
        """The references that are ids."""
        return tuple(filter(is_id, self.references))

    @property
    def span(self) -> tuple[int, int | None]:
        """The window in microseconds since 1970; nothing that is read here is older."""
        start, end = self.window.start, self.window.end
        return 0 if start is None else micros(start), None if end is None else micros(end)

    @property
    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day of the window."""
        start, end = self.window.start, self.window.end
        return start and start.date(), end and end.date()

    async def rows(
        self, collection: Collection[Any], where: Where, limit: int, **more: Any
    ) -> list[bytes]:
        """Some rows of a collection."""
        found = await self.ctx.tx.documents.scan(collection, where=where, limit=limit, **more)
        return [row.raw for row in found.rows]


async def fused(whom: Whom) -> Row:
    """The answer, as it is written."""
    cyber, market, news = await _cyber(whom), await _market(whom), await _news(whom)
    present = {
        "cve": cyber["cveCount"],
        "kev": cyber["kevCount"],
        "epss": cyber["maxEpss"] is not None,
        **{name: market[name] for name in ("filings", "financials", "markets")},
        "news": news,
    }
    coverage = await _coverage(whom.ctx, present)
    owned = owners(whom.references, cyber["cves"])
    loaded = Loaded(whom.entity, whom.window, cyber, market, news, owned)
    start, end = (one and instants.render(one) for one in (whom.window.start, whom.window.end))
    return {
        "entity": whom.entity,
        "window": {"start": start, "end": end},
        "coverage": coverage,
        "cyber": cyber,
        "market": market,
        "timeline": timeline(loaded),
        "links": links(loaded),
        "exposure": exposure(coverage, cyber, market["filings"]),
        "caveat": CAVEAT,
    }


async def _coverage(ctx: Context, present: Mapping[str, Any]) -> dict[str, str]:
    """Of each part whether it was read, and whether it tells anything."""
    silent = [part for part in FORMATS if not present[part]]
    read = {part: await _was_read(ctx, FORMATS[part]) for part in silent}
    return {
        part: "notLoaded" if not read.get(part, True) else "empty" if part in read else "loaded"
        for part in FORMATS
    }


async def _was_read(ctx: Context, formats: tuple[str, ...]) -> bool:
    """Whether a document of one of these formats was read."""
    rows = [row.raw async for row in ctx.every(SOURCES, where={"format": formats})]
    return any(SOURCES.decode(raw).last_run is not None for raw in rows)


# -- cyber -------------------------------------------------------------------------------------


async def _cyber(whom: Whom) -> Row:
    made: Where = {"maker": whom.references, "state": ("PUBLISHED",)}
    told = await whom.rows(CVES, {**made, "kev": ("known", "listed")}, LISTED_MAX)
    listed = [row for row in map(json.loads, told) if is_in(whom.window, row["kev"]["dateAdded"])]
    listed.sort(key=lambda row: (row["kev"]["dateAdded"], row["id"]), reverse=True)
    tally = _Tally()
    published: Any = {"order": "published", "ranges": {"published": whom.span}}
    async for one in whom.ctx.every(CVES, COUNTED_MAX + 1, where=made, **published):
        tally.add(json.loads(one.raw))
    is_whole = tally.severities.total() <= COUNTED_MAX
    for row in listed:
        if not is_in(whom.window, row["publishedAt"]):
            tally.add(row)
    best = [row for _, row in sorted(tally.best, reverse=True)]
    rows = {row["id"]: row for row in (*listed, *best)}
    some = [json.dumps(row).encode() for row in list(rows.values())[:CVES_MAX]]
    cves = await exploitation.whole(whom.ctx, some)
    use = [row["kev"].get("knownRansomwareCampaignUse") for row in listed]
    return {
        "cveCount": tally.severities.total(),
        "kevCount": len(listed),
        "ransomwareCount": use.count("Known"),
        "maxEpss": tally.epss,
        "bySeverity": {name: tally.severities[name] for name in (*SEVERITIES, UNKNOWN)},
        "truncated": not is_whole or len(told) == LISTED_MAX,
        "cves": cves,
        "incidents": await _incidents(whom),
        "actors": await _actors(whom, cves),
    }


@define
class _Tally:
    """What was counted of vulnerabilities, and which of them are the likeliest and gravest."""

    severities: Counter[str] = field(factory=Counter)
    epss: float | None = None
    best: list[tuple[tuple[float, float, str], Row]] = field(factory=list)

    def add(self, row: Row) -> None:
        """Count one more."""
        self.severities[(row["score"] or {}).get("severity") or UNKNOWN] += 1
        if row["epss"]:
            self.epss = max(self.epss or 0.0, row["epss"]["score"])
        push = heappush if len(self.best) < CVES_MAX else heappushpop
        push(self.best, (_weight(row), row))


def _weight(row: Row) -> tuple[float, float, str]:
    score = (row["score"] or {}).get("baseScore")
    return (row["epss"] or {}).get("score") or 0.0, score or 0.0, row["id"]


def owners(references: Sequence[str], cves: Sequence[Row]) -> dict[str, tuple[str, float]]:
    """By which vendor each vulnerability is the company's, and how sure that is."""
    found: dict[str, tuple[str, float]] = {}
    for row in cves:
        published = row["publishedAt"]
        day = day_of(row["cveId"], published and instants.parse(published))
        listed = [row["kev"].get("vendorProject")] if row.get("kev") else []
        for vendor in filter(None, [*(one["vendor"] for one in row["affected"]), *listed]):
            meant = [one for one in of_vendor(vendor, day) if one in references]
            if meant:
                sure = ALIAS if is_id(meant[0]) else NAME
                found.setdefault(row["id"], (f"vendor {vendor} as of {day}", sure))
    return found


async def _incidents(whom: Whom) -> list[Row]:
    rows = await whom.rows(
        INCIDENTS, {"entity": whom.references}, ROWS_MAX, ranges={"started": whom.span}
    )
    return [json.loads(row) for row in await operations.shown(whom.ctx, rows)]


async def _actors(whom: Whom, cves: Sequence[Row]) -> list[Row]:
    """Who exploits these vulnerabilities, or targets the company."""
    targets: Where = {"target": whom.ids, "type": ("targets",), "surface": ("cyber:live",)}
    aimed = [json.loads(row)["source"] for row in await whom.rows(RELATIONS, targets, ROWS_MAX)]
    named = [one["entityId"] for row in cves for one in row["exploitedBy"]]
    meant = await directory.named(whom.ctx, [*aimed, *named])
    held = {one.id: one.raw for one in meant.values()}
    rows = [json.loads(row) for row in await render.whole(whom.ctx, list(held.values()))]
    live = [row for row in rows if row["type"] in _ACTORS and not row["revoked"]]
    return sorted(live, key=lambda row: (row["name"], row["id"]))[:ROWS_MAX]


_ACTORS = frozenset({"threatActor", "campaign"})


# -- market and news ---------------------------------------------------------------------------


async def _market(whom: Whom) -> Row:
    codes = whom.entity["countryCodes"] or [(whom.entity["jurisdiction"] or "")[:2]]
    figures, _ = await newest(whom.ctx, {"country": (codes[0],)}, {}, limit=INDICATORS_MAX)
    latest = [await _latest(whom, metric) for metric in get_args(Metric)]
    return {
        "financials": [row for row in latest if row is not None],
        "filings": await _filings(whom),
        "markets": await _markets(whom),
        "indicators": [json.loads(row) for row in figures],
    }


async def _latest(whom: Whom, metric: str) -> Row | None:
    """The newest figure that had been filed by the end of the window: of a year before others."""
    where = {"entity": whom.ids, "metric": (metric,)}
    known = finance.known(whom.days[1])
    rows = await whom.rows(OBSERVATIONS, where, len(_MONTHS) * 2, ranges=known)
    told = [json.loads(finance.shown(row, whom.entity["id"])) for row in rows]
    ending = [row for row in told if row["periodEnd"] == told[0]["periodEnd"]]
    ending.sort(key=lambda row: _MONTHS.index(row["periodMonths"]))
    return next(iter(ending), None)


_MONTHS = (12, 3, 6, 9, None)


async def _filings(whom: Whom) -> list[Row]:
    """Those that report a cyber incident and the newest, the newest first."""
    first, last = whom.days
    span: Any = {"since": first, "until": last, "limit": FILINGS_MAX, "form": ("8-K", "8-K/A")}
    found: dict[str, Row] = {}
    for items in (span | {"item": (CYBER_ITEM,)}, span):
        for one in await finance.filings(whom.ctx, [whom.entity["id"]], **items):
            row = json.loads(wire.dumps(one)) | {"entityId": whom.entity["id"]}
            found.setdefault(one.id, row)
    some = list(found.values())[:FILINGS_MAX]
    return sorted(some, key=lambda row: (row["filedDate"], row["id"]), reverse=True)


async def _markets(whom: Whom) -> list[Row]:
    """Those that were open at some time of the window, the newest first."""
    rows = await whom.rows(MARKETS, {"entity": whom.references}, MARKETS_READ)
    told = map(json.loads, await markets.told(whom.ctx, rows))
    return [row for row in told if was_open(whom.window, row)][:ROWS_MAX]


def was_open(window: Interval, row: Row) -> bool:
    """Whether a market may have been open at some time of the window."""
    opened, closed = row["opensAt"], row["closesAt"]
    return not (
        (opened and window.end and moment(opened) > window.end)
        or (closed and window.start and moment(closed) < window.start)
    )


async def _news(whom: Whom) -> list[Row]:
    start, end = whom.span
    rows = await whom.rows(NEWS, {"entity": whom.references}, ROWS_MAX, start=start, end=end)
    return [json.loads(row) for row in rows]
