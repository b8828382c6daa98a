"""Reads the rows of one company that a fusion joins, from its vulnerabilities to its figures.

Rule 1: every part reads a bounded number of rows; a count is exact, or `truncated` says so.
Rule 2: a vulnerability belongs to the company that owned its vendor when it was published.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from heapq import heappush, heappushpop
from typing import Any, get_args

from attrs import define, field, frozen

from svc_core.base import instants
from svc_core.base.instants import Interval
from svc_core.formats.cyber.cve_fields import CVE_ID
from svc_core.intel.economy import finance
from svc_core.intel.economy import market_lists as markets
from svc_core.intel.economy.indicators import newest
from svc_core.intel.economy.market import MARKETS
from svc_core.intel.economy.statement import FILINGS, OBSERVATIONS, Metric
from svc_core.intel.entities import directory, exploitation, render
from svc_core.intel.entities.model import Entity
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.entities.vulnerability import CVES, vendor_day
from svc_core.intel.fusion.rules import (
    ALIAS,
    CAVEAT,
    CYBER_ITEM,
    NAME,
    FusionRows,
    exposure,
    fusion_links,
    instant_of,
    is_in,
    timeline,
)
from svc_core.intel.incidents import operations
from svc_core.intel.incidents.model import INCIDENTS
from svc_core.intel.linking.references import is_entity_id, vendor_references
from svc_core.intel.news.model import NEWS
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, StoredRow
from svc_core.operation.source_members import SEVERITIES

Row = dict[str, Any]
_KeyFilters = Mapping[str, tuple[str, ...]]

COUNTED_MAX = 10_000  # vulnerabilities that are counted: more than any vendor has in a year
UNKNOWN = "unknown"
LISTED_MAX = 1_000  # of them that the KEV catalogue lists
CVES_MAX = ROWS_MAX = 25
FILINGS_MAX = 50
INDICATORS_MAX = 10
INCIDENTS_READ = 200  # of every category, of which those about a CVE are shown
MARKETS_READ = 100  # markets that name the company, of which those of the window are shown
FORMATS = {
    "cve": ("cve", "nvd", "csaf"),
    "kev": ("kev",),
    "epss": ("epss",),
    "filings": ("sec-submissions",),
    "financials": ("sec-companyfacts",),
    "markets": ("polymarket", "kalshi", "manifold"),
    "news": ("rss", "atom", "rdf", "jsonfeed"),
}
"""The formats of the documents that each part is read from."""


@frozen
class FirmWindow:
    """A company and a time window, with the references that may mean the company."""

    ctx: Context
    window: Interval
    entity: Row
    references: tuple[str, ...]

    @classmethod
    async def of(cls, ctx: Context, window: Interval, entity: StoredRow[Entity]) -> "FirmWindow":
        """The window of an entity, with all references that may mean it."""
        (row,) = await render.whole(ctx, [entity.raw])
        references = await directory.entity_references(ctx, [entity.id])
        return cls(ctx, window, json.loads(row), references)

    @property
    def ids(self) -> tuple[str, ...]:
        """The references that are ids."""
        return tuple(filter(is_entity_id, self.references))

    @property
    def span(self) -> tuple[int, int | None]:
        """The window in microseconds since 1970; an open start is 0, as no row here is older."""
        start, end = self.window.start, self.window.end
        return 0 if start is None else micros(start), None if end is None else micros(end)

    @property
    def days(self) -> tuple[date | None, date | None]:
        """The first and the last day of the window."""
        start, end = self.window.start, self.window.end
        return start and start.date(), end and end.date()

    async def rows(
        self, collection: Collection[Any], filters: _KeyFilters, limit: int, **bounds: Any
    ) -> list[bytes]:
        """The stored bytes of the first rows of a collection that match."""
        page = await self.ctx.tx.documents.scan(collection, where=filters, limit=limit, **bounds)
        return [row.raw for row in page.rows]


async def fusion_of(firm: FirmWindow, lag_max: int) -> Row:
    """The fusion of a company, as the JSON members of the answer; temporal links are at most
    `lag_max` days long.
    """
    cyber, market, news = await _cyber(firm), await _market(firm), await _news(firm)
    present = {
        "cve": cyber["cveCount"],
        "kev": cyber["kevCount"],
        "epss": cyber["maxEpss"] is not None,
        **{name: market[name] for name in ("filings", "financials", "markets")},
        "news": news,
    }
    coverage = await _coverage(firm.ctx, present)
    ownership = owners(firm.references, cyber["cves"])
    rows = FusionRows(firm.entity, firm.window, cyber, market, news, ownership, lag_max)
    start, end = (time and instants.render(time) for time in (firm.window.start, firm.window.end))
    return {
        "entity": firm.entity,
        "window": {"start": start, "end": end},
        "coverage": coverage,
        "cyber": cyber,
        "market": market,
        "timeline": timeline(rows),
        "links": fusion_links(rows),
        "exposure": exposure(coverage, cyber, market["filings"]),
        "caveat": CAVEAT,
    }


async def _coverage(ctx: Context, present: Mapping[str, Any]) -> dict[str, str]:
    """For each part whether any of its documents was ever read, and whether it has rows."""
    silent = [part for part in FORMATS if not present[part]]
    read = {part: await exploitation.was_read(ctx, FORMATS[part]) for part in silent}
    return {
        part: "notLoaded" if not read.get(part, True) else "empty" if part in read else "loaded"
        for part in FORMATS
    }


# -- cyber -------------------------------------------------------------------------------------


async def _cyber(firm: FirmWindow) -> Row:
    filters: _KeyFilters = {"maker": firm.references, "state": ("PUBLISHED",)}
    raws = await firm.rows(CVES, {**filters, "kev": ("known", "listed")}, LISTED_MAX)
    kevs = [row for row in map(json.loads, raws) if is_in(firm.window, row["kev"]["dateAdded"])]
    kevs.sort(key=lambda row: (row["kev"]["dateAdded"], row["id"]), reverse=True)
    tally = _Tally()
    span: Any = {"order": "published", "ranges": {"published": firm.span}}
    async for document in firm.ctx.every(CVES, COUNTED_MAX + 1, where=filters, **span):
        tally.add(json.loads(document.raw))
    is_whole = tally.severities.total() <= COUNTED_MAX
    for row in kevs:
        if not is_in(firm.window, row["publishedAt"]):
            tally.add(row)
    best = [row for _, row in sorted(tally.best, reverse=True)]
    rows = {row["id"]: row for row in (*kevs, *best)}
    top = [json.dumps(row).encode() for row in list(rows.values())[:CVES_MAX]]
    cves = await exploitation.full_cve_rows(firm.ctx, top)
    use = [row["kev"].get("knownRansomwareCampaignUse") for row in kevs]
    return {
        "cveCount": tally.severities.total(),
        "kevCount": len(kevs),
        "ransomwareCount": use.count("Known"),
        "maxEpss": tally.epss,
        "bySeverity": {name: tally.severities[name] for name in (*SEVERITIES, UNKNOWN)},
        "truncated": not is_whole or len(raws) == LISTED_MAX,
        "cves": cves,
        "incidents": await _incidents(firm),
        "actors": await _actors(firm, cves),
    }


@define
class _Tally:
    """Counts of vulnerabilities by severity, and the ones with the highest EPSS and CVSS scores."""

    severities: Counter[str] = field(factory=Counter)
    epss: float | None = None
    best: list[tuple[tuple[float, float, str], Row]] = field(factory=list)

    def add(self, row: Row) -> None:
        """Count one more vulnerability."""
        self.severities[(row["score"] or {}).get("severity") or UNKNOWN] += 1
        if row["epss"]:
            self.epss = max(self.epss or 0.0, row["epss"]["score"])
        push = heappush if len(self.best) < CVES_MAX else heappushpop
        push(self.best, (_weight(row), row))


def _weight(row: Row) -> tuple[float, float, str]:
    score = (row["score"] or {}).get("baseScore")
    return (row["epss"] or {}).get("score") or 0.0, score or 0.0, row["id"]


def owners(references: Sequence[str], cves: Sequence[Row]) -> dict[str, tuple[str, float]]:
    """By CVE id the vendor through which it belongs to the company, and how certain that is."""
    vendors: dict[str, tuple[str, float]] = {}
    for row in cves:
        time = row["publishedAt"]
        day = vendor_day(row["cveId"], time and instants.parse(time))
        kev_vendors = [row["kev"].get("vendorProject")] if row.get("kev") else []
        for vendor in filter(None, [*(item["vendor"] for item in row["affected"]), *kev_vendors]):
            refs = [ref for ref in vendor_references(vendor, day) if ref in references]
            if refs:
                certainty = ALIAS if is_entity_id(refs[0]) else NAME
                vendors.setdefault(row["id"], (f"vendor {vendor} as of {day}", certainty))
    return vendors


async def _incidents(firm: FirmWindow) -> list[Row]:
    """The latest incidents of the window that are cyber incidents by their category, or by a CVE
    among those who take part.
    """
    raws: dict[str, bytes] = {}
    for clause, limit in (({"category": ("cyber",)}, ROWS_MAX), ({}, INCIDENTS_READ)):
        filters = {"entity": firm.references, **clause}
        rows = await firm.rows(INCIDENTS, filters, limit, ranges={"started": firm.span})
        raws |= {row["id"]: raw for raw in rows if is_cyber(row := json.loads(raw))}
    incidents = await operations.current_incidents(firm.ctx, list(raws.values()))
    ranking = sorted(map(json.loads, incidents), key=lambda row: (row["startedAt"], row["id"]))
    return ranking[: -ROWS_MAX - 1 : -1]


def is_cyber(incident: Row) -> bool:
    """Whether an incident is one of cyber: its sources class it so, or it is about a CVE."""
    names = (party["name"] for party in incident["entities"])
    return incident["category"] == "cyber" or any(map(CVE_ID.fullmatch, names))


async def _actors(firm: FirmWindow, cves: Sequence[Row]) -> list[Row]:
    """The threat actors that exploit these vulnerabilities or target the company."""
    targets: _KeyFilters = {"target": firm.ids, "type": ("targets",), "surface": ("cyber:live",)}
    actors = [json.loads(row)["source"] for row in await firm.rows(RELATIONS, targets, ROWS_MAX)]
    exploiters = [item["entityId"] for row in cves for item in row["exploitedBy"]]
    entities = await directory.rows_by_reference(firm.ctx, [*actors, *exploiters])
    raws = {entity.id: entity.raw for entity in entities.values()}
    rows = [json.loads(row) for row in await render.whole(firm.ctx, list(raws.values()))]
    live = [row for row in rows if row["type"] in _ACTORS and not row["revoked"]]
    return sorted(live, key=lambda row: (row["name"], row["id"]))[:ROWS_MAX]


_ACTORS = frozenset({"threatActor", "campaign"})


# -- market and news ---------------------------------------------------------------------------


async def _market(firm: FirmWindow) -> Row:
    codes = firm.entity["countryCodes"] or [(firm.entity["jurisdiction"] or "")[:2]]
    figures, _ = await newest(firm.ctx, {"country": (codes[0],)}, {}, limit=INDICATORS_MAX)
    latest = [await _latest(firm, metric) for metric in get_args(Metric)]
    return {
        "financials": [row for row in latest if row is not None],
        "filings": await _filings(firm),
        "markets": await _markets(firm),
        "indicators": [json.loads(row) for row in figures],
    }


async def _latest(firm: FirmWindow, metric: str) -> Row | None:
    """The newest figure of a metric that was filed within the window, preferring whole years."""
    filters = {"entity": firm.ids, "metric": (metric,)}
    span = finance.filing_ranges(firm.days[1])
    rows = await firm.rows(OBSERVATIONS, filters, len(_MONTHS) * 2, ranges=span)
    figures = [json.loads(finance.public_row(row, firm.entity["id"])) for row in rows]
    latest = [row for row in figures if row["periodEnd"] == figures[0]["periodEnd"]]
    latest.sort(key=lambda row: _MONTHS.index(row["periodMonths"]))
    return next(iter(latest), None)


_MONTHS = (12, 3, 6, 9, None)


async def _filings(firm: FirmWindow) -> list[Row]:
    """The filings that report a cyber incident and the newest others, the newest first."""
    start, end = (day and day.toordinal() for day in firm.days)
    filters: dict[str, tuple[str, ...]] = {"entity": firm.ids, "form": ("8-K", "8-K/A")}
    filings: dict[str, Row] = {}
    for clause in (filters | {"item": (CYBER_ITEM,)}, filters):
        for raw in await firm.rows(FILINGS, clause, FILINGS_MAX, start=start, end=end):
            row: Row = json.loads(raw)
            filings.setdefault(row["id"], row | {"entityId": firm.entity["id"]})
    top = list(filings.values())[:FILINGS_MAX]
    return sorted(top, key=lambda row: (row["filedDate"], row["id"]), reverse=True)


async def _markets(firm: FirmWindow) -> list[Row]:
    """The markets that name the company and were open within the window, the newest first."""
    rows = await firm.rows(MARKETS, {"entity": firm.references}, MARKETS_READ)
    listings = map(json.loads, await markets.with_named_entities(firm.ctx, rows))
    return [row for row in listings if is_open_within(firm.window, row)][:ROWS_MAX]


def is_open_within(window: Interval, row: Row) -> bool:
    """Whether a market may have been open at some time of the window."""
    opens, closes = row["opensAt"], row["closesAt"]
    return not (
        (opens and window.end and instant_of(opens) > window.end)
        or (closes and window.start and instant_of(closes) < window.start)
    )


async def _news(firm: FirmWindow) -> list[Row]:
    start, end = firm.span
    rows = await firm.rows(NEWS, {"entity": firm.references}, ROWS_MAX, start=start, end=end)
    return [json.loads(row) for row in rows]
