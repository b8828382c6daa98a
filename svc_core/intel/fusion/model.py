"""The answer of a fusion: one company's vulnerabilities, filings, figures, markets and news."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal

from attrs import frozen

from svc_core.intel.economy.indicator import Indicator
from svc_core.intel.economy.market import Market
from svc_core.intel.economy.statement import Filing, FinancialObservation
from svc_core.intel.entities.model import Entity
from svc_core.intel.entities.vulnerability import Cve
from svc_core.intel.incidents.model import Incident
from svc_core.operation.members import Share, SourceId
from svc_core.operation.source_members import Measurement
from svc_core.wire.constraints import Doc, Example, Ge

Coverage = Literal["loaded", "empty", "notLoaded"]
TimelineKind = Literal[
    "cvePublished", "kevAdded", "filing", "financial", "marketOpened", "marketCloses",
    "marketResolved", "incident", "news",
]  # fmt: skip
LinkType = Literal["sameEntity", "vendorOf", "affects", "disclosedIn", "temporal"]
Count = Annotated[int, Ge(0)]

_COVERAGE_DOC = Doc(
    "`empty`: read, and nothing about this entity in the window; `notLoaded`: never read."
)


@frozen
class FusionWindow:
    """The time that is looked at; null is an open end."""

    start: Annotated[datetime | None, Doc("From here on."), Example("2025-02-01T00:00:00Z")]
    end: Annotated[datetime | None, Doc("Up to here."), Example("2026-01-31T23:59:59Z")]


@frozen
class FusionCoverage:
    """Of which parts documents were read."""

    cve: Annotated[Coverage, _COVERAGE_DOC, Example("loaded")]
    kev: Annotated[Coverage, _COVERAGE_DOC, Example("loaded")]
    epss: Annotated[Coverage, _COVERAGE_DOC, Example("loaded")]
    filings: Annotated[Coverage, _COVERAGE_DOC, Example("loaded")]
    financials: Annotated[Coverage, _COVERAGE_DOC, Example("empty")]
    markets: Annotated[Coverage, _COVERAGE_DOC, Example("empty")]
    news: Annotated[Coverage, _COVERAGE_DOC, Example("notLoaded")]


@frozen
class FusionCyber:
    """Vulnerabilities of what it makes, incidents that it takes part in, actors."""

    cve_count: Annotated[Count, Doc("Published or listed in the window."), Example(12)]
    kev_count: Annotated[Count, Doc("Listed by the catalogue in the window."), Example(2)]
    ransomware_count: Annotated[Count, Doc("Of those used by ransomware."), Example(1)]
    max_epss: Annotated[Share | None, Doc("Null where none has a score."), Example(0.94)]
    by_severity: Annotated[
        Mapping[str, int],
        Doc("How many of each severity; `unknown` without a score."),
        Example({"info": 0, "low": 1, "medium": 4, "high": 5, "critical": 2, "unknown": 0}),
    ]
    truncated: Annotated[bool, Doc("Whether there are more than were counted."), Example(False)]
    cves: Annotated[tuple[Cve, ...], Doc("Up to 25: listed ones, then the likeliest and gravest.")]
    incidents: Annotated[tuple[Incident, ...], Doc("The latest that it takes part in, up to 25.")]
    actors: Annotated[tuple[Entity, ...], Doc("Who exploits these or targets it, up to 25.")]


@frozen
class FusionMarket:
    """Figures, filings, markets and indicators."""

    financials: Annotated[tuple[FinancialObservation, ...], Doc("Of each metric the newest filed.")]
    filings: Annotated[tuple[Filing, ...], Doc("8-K and 8-K/A: cyber incidents, then the newest.")]
    markets: Annotated[tuple[Market, ...], Doc("Whose question names it, up to 25.")]
    indicators: Annotated[tuple[Indicator, ...], Doc("The newest of its country, up to 10.")]


@frozen
class TimelineEntry:
    """One thing that happened."""

    at: Annotated[datetime, Doc("When; a date is its midnight."), Example("2026-01-19T00:00:00Z")]
    kind: Annotated[TimelineKind, Doc("What happened."), Example("kevAdded")]
    ref_id: Annotated[str, Doc("The row that tells it."), Example("ent_65f1c0de8badf00d12345678")]
    title: Annotated[str, Doc("In one line."), Example("Quillard Gateway command injection")]
    measurement: Annotated[Measurement | None, Doc("What was measured; null for nothing.")]
    source_ids: Annotated[tuple[SourceId, ...], Doc("Who tells of it.")]


@frozen
class FusionLink:
    """What joins two rows of the answer. A `temporal` link says when, never why."""

    from_id: Annotated[str, Doc("A row."), Example("ent_65f1c0de8badf00d12345678")]
    to_id: Annotated[str, Doc("Another one."), Example("obs_65f1c0de8badf00d12345678")]
    type: Annotated[LinkType, Doc("What joins them."), Example("temporal")]
    basis: Annotated[str, Doc("What it was read from."), Example("KEV dateAdded to 8-K filedDate")]
    confidence: Annotated[Share, Doc("How sure it is that both are the company's."), Example(0.85)]
    lag_days: Annotated[int | None, Doc("Days between; below 0 backwards."), Example(17)]


@frozen
class ExposurePart:
    """One part of an exposure."""

    observed: Annotated[float, Ge(0), Doc("What was counted."), Example(2)]
    value: Annotated[Share, Doc("As a part of 1."), Example(0.5)]
    weight: Annotated[Share, Doc("Of the whole."), Example(0.3)]


@frozen
class Exposure:
    """How exposed a company is, and how that is made up."""

    value: Annotated[Share, Doc("From 0 to 1."), Example(0.42)]
    method: Annotated[str, Doc("The formula and its version.")]
    components: Annotated[Mapping[str, ExposurePart], Doc("Its parts by their names.")]


@frozen
class Fusion:
    """One company in one window."""

    entity: Entity
    window: FusionWindow
    coverage: FusionCoverage
    cyber: FusionCyber
    market: FusionMarket
    timeline: Annotated[tuple[TimelineEntry, ...], Doc("What happened, the earliest first.")]
    links: Annotated[tuple[FusionLink, ...], Doc("What joins these rows.")]
    exposure: Annotated[Exposure | None, Doc("Null without vulnerabilities or their catalogue.")]
    caveat: Annotated[str, Doc("What the answer does not say.")]
