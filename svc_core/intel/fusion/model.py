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

    start: Annotated[datetime | None, Example("2025-02-01T00:00:00Z")]
    """From here on."""
    end: Annotated[datetime | None, Example("2026-01-31T23:59:59Z")]
    """Up to here."""


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

    cve_count: Annotated[Count, Example(12)]
    """Published or listed in the window."""
    kev_count: Annotated[Count, Example(2)]
    """Listed by the catalogue in the window."""
    ransomware_count: Annotated[Count, Example(1)]
    """Of those used by ransomware."""
    max_epss: Annotated[Share | None, Example(0.94)]
    """Null where none has a score."""
    by_severity: Annotated[
        Mapping[str, int],
        Example({"info": 0, "low": 1, "medium": 4, "high": 5, "critical": 2, "unknown": 0}),
    ]
    """How many of each severity; `unknown` without a score."""
    truncated: Annotated[bool, Example(False)]
    """Whether there are more than were counted."""
    cves: tuple[Cve, ...]
    """Up to 25: listed ones, then the likeliest and gravest."""
    incidents: tuple[Incident, ...]
    """The latest of category `cyber` or about a CVE that it takes part in, up to 25."""
    actors: tuple[Entity, ...]
    """Who exploits these or targets it, up to 25."""


@frozen
class FusionMarket:
    """Figures, filings, markets and indicators."""

    financials: tuple[FinancialObservation, ...]
    """Of each metric the newest filed."""
    filings: tuple[Filing, ...]
    """8-K and 8-K/A: cyber incidents, then the newest."""
    markets: tuple[Market, ...]
    """Whose question names it, up to 25."""
    indicators: tuple[Indicator, ...]
    """The newest of its country, up to 10."""


@frozen
class TimelineEntry:
    """One thing that happened."""

    at: Annotated[datetime, Example("2026-01-19T00:00:00Z")]
    """When; a date is its midnight."""
    kind: Annotated[TimelineKind, Example("kevAdded")]
    """What happened."""
    ref_id: Annotated[str, Example("ent_65f1c0de8badf00d12345678")]
    """The row that tells it."""
    title: Annotated[str, Example("Quillard Gateway command injection")]
    """In one line."""
    measurement: Measurement | None
    """What was measured; null for nothing."""
    source_ids: tuple[SourceId, ...]
    """Who tells of it."""


@frozen
class FusionLink:
    """What joins two rows of the answer. A `temporal` link says when, never why."""

    from_id: Annotated[str, Example("ent_65f1c0de8badf00d12345678")]
    """A row."""
    to_id: Annotated[str, Example("obs_65f1c0de8badf00d12345678")]
    """Another one."""
    type: Annotated[LinkType, Example("temporal")]
    """What joins them."""
    basis: Annotated[str, Example("KEV dateAdded to 8-K filedDate")]
    """What it was read from."""
    confidence: Annotated[Share, Example(0.85)]
    """How sure it is that both are the company's."""
    lag_days: Annotated[int | None, Example(17)]
    """Days between; below 0 backwards. Null for links of other types."""
    max_lag_days: Annotated[int | None, Example(120)]
    """The most days that were linked, by `maxLag`. Null for links of other types."""


@frozen
class ExposurePart:
    """One part of an exposure."""

    observed: Annotated[float, Ge(0), Example(2)]
    """What was counted."""
    value: Annotated[Share, Example(0.5)]
    """As a part of 1."""
    weight: Annotated[Share, Example(0.3)]
    """Of the whole."""


@frozen
class Exposure:
    """How exposed a company is, and how that is made up."""

    value: Annotated[Share, Example(0.42)]
    """From 0 to 1."""
    method: str
    """The formula and its version."""
    components: Mapping[str, ExposurePart]
    """Its parts by their names."""


@frozen
class Fusion:
    """One company in one window."""

    entity: Entity
    window: FusionWindow
    coverage: FusionCoverage
    cyber: FusionCyber
    market: FusionMarket
    timeline: tuple[TimelineEntry, ...]
    """What happened, the earliest first."""
    links: tuple[FusionLink, ...]
    """What joins these rows."""
    exposure: Exposure | None
    """Null without vulnerabilities or their catalogue."""
    caveat: str
    """What the answer does not say."""
