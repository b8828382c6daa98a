"""The rows of countries, each folded from the facts of several sources."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.economy.indicator import Indicator
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import FilterFields, UnboundedValues, sort_orders
from svc_core.operation.members import PageRequest
from svc_core.operation.ports import Collection
from svc_core.operation.source_members import Geometry, Measurement, SourceRef
from svc_core.text.words import fold_case, split_words
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen

_LETTERS = 12  # of a name, five bits each: enough to tell all countries apart but a few islands

Names = Mapping[str, Any]


@frozen
class CountryRisk:
    """What OSINT events of the last 30 days say of a country; null where none were ever read."""

    incidents30d: Annotated[int | None, Doc("Events in the country."), Example(4)]
    fatalities30d: Annotated[
        int | None, Doc("Deaths that they tell of, by the best estimate."), Example(12)
    ]
    by_severity: Annotated[
        Mapping[str, Any] | None,
        Doc("Events by severity; `unknown` are those without one."),
        Example({"high": 1, "low": 3}),
    ]


@frozen
class CountryData:
    """What is known of one country."""

    country_code: Annotated[str, Doc("ISO 3166-1 alpha-2 code."), Example("BE")]
    alpha3: Annotated[str | None, Doc("ISO 3166-1 alpha-3 code."), Example("BEL")] = None
    numeric: Annotated[str | None, Doc("ISO 3166-1 numeric code."), Example("056")] = None
    name: Annotated[str | None, Doc("Its common name."), Example("Belgium")] = None
    official_name: Annotated[str | None, Doc("Its formal name."), Example("Kingdom of Belgium")] = (
        None
    )
    native_names: Annotated[
        Names | None,
        Doc("Its common name by language (BCP 47)."),
        Example({"nl": "België", "fr": "Belgique"}),
    ] = None
    region: Annotated[str | None, Doc("The continent or region."), Example("Europe")] = None
    subregion: Annotated[str | None, Doc("The part of the region."), Example("Western Europe")] = (
        None
    )
    m49: Annotated[str | None, Doc("UN M49 code."), Example("056")] = None
    capital: Annotated[
        tuple[str, ...] | None, Doc("Its capitals; empty for none."), Example(["Brussels"])
    ] = None
    languages: Annotated[
        tuple[str, ...] | None, Doc("BCP 47 tags."), Example(["nl", "fr", "de"])
    ] = None
    currencies: Annotated[tuple[str, ...] | None, Doc("ISO 4217 codes."), Example(["EUR"])] = None
    population: Annotated[Measurement | None, Doc("How many people live there.")] = None
    area: Annotated[Measurement | None, Doc("Its area in square kilometres.")] = None
    borders: Annotated[
        tuple[str, ...] | None,
        Doc("Countries that it borders on; empty for an island."),
        Example(["FR", "DE", "LU", "NL"]),
    ] = None
    bbox: Annotated[
        tuple[float, ...] | None,
        Doc("West, south, east, north; a west beyond its east crosses the antimeridian."),
        Example([2.52, 49.5, 6.37, 51.5]),
    ] = None
    centroid: Geometry = None
    calling_codes: Annotated[
        tuple[str, ...] | None, Doc("Telephone codes (E.164)."), Example(["+32"])
    ] = None
    tld: Annotated[
        tuple[str, ...] | None, Doc("Country code top-level domains."), Example([".be"])
    ] = None
    un_member: Annotated[bool | None, Doc("Whether it is in the UN."), Example(True)] = None
    sources: Annotated[tuple[SourceRef, ...], Doc("What the row was made from.")] = ()
    indicators: Annotated[
        Maybe[tuple[Indicator, ...]], Doc("The newest value of each series about it.")
    ] = UNSET
    risk: Annotated[Maybe[CountryRisk], Doc("What events say of it.")] = UNSET


def by_name(name: str) -> int:
    """A sort key that orders names alphabetically in lists that run from the highest key down.

    It packs the first twelve letters into 60 bits and negates them, as orders are whole numbers.
    """
    letters = fold_case(name)[:_LETTERS].ljust(_LETTERS)
    places = [ord(letter) - 96 if "a" <= letter <= "z" else 0 for letter in letters]
    return -sum(place << 5 * index for index, place in enumerate(reversed(places)))


def _prefixes(row: CountryData) -> set[str]:
    """Every beginning of every word of a country's names and codes, as its search tokens."""
    names = (row.name, row.official_name, row.country_code, row.alpha3)
    whole = " ".join(map(str, filter(None, (*names, *(row.native_names or {}).values()))))
    return {word[:end] for word in split_words(whole) for end in range(1, len(word) + 1)}


def _whole(measure: Measurement | None) -> int | None:
    return None if measure is None or measure.value is None else round(measure.value)


_COUNTRY = FilterFields[CountryData]()
_Name = Annotated[str, MinLen(1), MaxLen(100)]


@frozen
class ListCountries(PageRequest):
    """Countries by name."""

    region: Annotated[
        UnboundedValues[_Name], Doc("Comma list of regions."), Example(["Europe"])
    ] = _COUNTRY.key(lambda row: row.region, form=str.casefold)
    subregion: Annotated[UnboundedValues[_Name], Doc("Comma list of parts of regions.")] = (
        _COUNTRY.key(lambda row: row.subregion, form=str.casefold)
    )
    q: Annotated[
        Maybe[_Name],
        QUERY,
        Doc("Beginnings of words of a name or code, all of them."),
        Example("bel"),
    ] = UNSET
    sort: Annotated[
        Literal["name", "population", "area"],
        QUERY,
        Doc("By name, or the largest first."),
        Example("name"),
    ] = sort_orders("name", population="population", area="area")


COUNTRIES: Collection[CountryData] = Collection(
    name="countries",
    model=CountryData,
    prefix="",
    order=lambda row: by_name(row.name or row.country_code),
    scope="global",
    **_COUNTRY.indexes(
        ListCountries,
        numbers={
            "population": lambda row: _whole(row.population),
            "area": lambda row: _whole(row.area),
        },
    ),
    search=lambda row: " ".join(sorted(_prefixes(row))),
    kind="country",
    path="/osint/countries",
)
"""Ordered by name."""
