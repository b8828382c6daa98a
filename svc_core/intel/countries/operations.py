"""Lists and reads countries, with their indicators and a summary of recent events on request."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET, Unset, or_default
from svc_core.contract.result import Page, Single
from svc_core.formats.reading.values import country
from svc_core.intel.countries.model import (
    COUNTRIES,
    WORDS,
    CountryData,
    CountryRisk,
    IncludeParts,
    ListCountries,
)
from svc_core.intel.economy.indicator import FININT, Indicator
from svc_core.intel.economy.indicators import newest
from svc_core.intel.events.model import OSINT_EVENTS, OsintEvent
from svc_core.intel.folding.read_declarations import osint
from svc_core.operation.context import Context
from svc_core.operation.declaration import PATH, Operation
from svc_core.operation.filters import list_selection
from svc_core.operation.members import micros
from svc_core.operation.ports.documents import RowBounds
from svc_core.operation.source_members import SEVERITIES
from svc_core.search.lists import Listing, single_of
from svc_core.search.ranked_rows import SearchKind
from svc_core.text.words import split_words
from svc_core.wire.constraints import Example, Pattern

SERIES_MAX = 100  # of one country in one answer; the list of indicators has them all
EVENTS_READ = 2_000  # for their deaths: some 60 ms
EVENTS_COUNTED = 100_000
RISK_DAYS = timedelta(days=30)

LISTING = Listing(COUNTRIES)
_SHOWN = "getCountry", "name", "officialName region capital"
COUNTRY_SEARCH: Final = SearchKind("country", Listing(COUNTRIES, WORDS), *_SHOWN)


@frozen
class GetCountry:
    """One country."""

    code: Annotated[str, PATH, Pattern("[A-Za-z]{2,3}", "an ISO 3166-1 code"), Example("BE")]
    """ISO 3166-1 alpha-2 or alpha-3 code, in either case."""
    include: IncludeParts = UNSET


async def list_countries(ctx: Context, request: ListCountries) -> Page[CountryData]:
    """Countries by name, or by population or area, the largest first."""
    choice = list_selection(request)
    if not isinstance(request.q, Unset):
        choice.bounds["words"] = tuple(split_words(request.q))
    page = await LISTING.page(ctx, request, choice)
    rows = [await _with_parts(ctx, raw, or_default(request.include, ())) for raw in page.rows]
    return attrs.evolve(page, rows=tuple(rows))


async def get_country(ctx: Context, request: GetCountry) -> Single[CountryData]:
    """What is known of one country. `include=indicators` adds the newest value of each series about
    it, `include=risk` the events of the last 30 days.

    Raises:
        Problem: NOT_FOUND.
    """
    document = await ctx.load(COUNTRIES, country(request.code) or request.code.upper())
    parts = or_default(request.include, ())
    if not parts:
        return Single(document.raw, document.tag)
    return single_of(document, await _with_parts(ctx, document.raw, parts))


async def _with_parts(ctx: Context, raw: bytes, parts: Sequence[str]) -> bytes:
    if not parts:
        return raw
    row = COUNTRIES.decode(raw)
    if "indicators" in parts:
        row = attrs.evolve(row, indicators=await _indicators(ctx, row.country_code))
    if "risk" in parts:
        row = attrs.evolve(row, risk=await _risk(ctx, row.country_code))
    return wire.to_bytes(row)


async def _indicators(ctx: Context, code: str) -> tuple[Indicator, ...]:
    raws, _ = await newest(ctx, {"country": (code,)}, {}, limit=SERIES_MAX)
    return tuple(sorted(map(FININT.decode, raws), key=lambda row: row.series))


async def _risk(ctx: Context, code: str) -> CountryRisk:
    if not (await ctx.tx.documents.scan(OSINT_EVENTS, limit=1)).rows:
        return CountryRisk(None, None, None)
    span: RowBounds = {"start": micros(ctx.now - RISK_DAYS), "end": micros(ctx.now)}
    scope: dict[str, tuple[str, ...]] = {"country": (code,)}
    total = await ctx.tx.documents.count(OSINT_EVENTS, where=scope, limit=EVENTS_COUNTED, **span)
    by_severity: dict[str, int] = {
        severity: await ctx.tx.documents.count(
            OSINT_EVENTS, where={**scope, "severity": (severity,)}, limit=EVENTS_COUNTED, **span
        )
        for severity in SEVERITIES
    }
    by_severity["unknown"] = total - sum(by_severity.values())
    page = await ctx.tx.documents.scan(OSINT_EVENTS, where=scope, limit=EVENTS_READ, **span)
    deaths = (
        None if page.has_more else sum(_deaths(OSINT_EVENTS.decode(row.raw)) for row in page.rows)
    )
    return CountryRisk(total, deaths, by_severity)


def _deaths(event: OsintEvent) -> int:
    counts = (item.value for item in event.measurements or () if item.metric == "deathsBest")
    return round(next((value for value in counts if value is not None), 0))


OPERATIONS: tuple[Operation[Any, Any], ...] = (
    osint(
        "countries list",
        "/osint/countries",
        list_countries,
        columns=("countryCode", "name", "region", "subregion", "capital"),
        summary="List countries",
        timeless=True,
    ),
    osint(
        "countries show",
        "/osint/countries/{code}",
        get_country,
        summary="Read a country",
    ),
)
