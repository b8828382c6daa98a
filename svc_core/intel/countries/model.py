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
from svc_core.search.field_index import FieldIndex
from svc_core.search.row_names import RowNames
from svc_core.text.words import fold_case, split_words
from svc_core.wire.constraints import Doc, Example, MaxLen, MinLen

_LETTERS = 12  # of a name, five bits each: enough to tell all countries apart but a few islands

Names = Mapping[str, Any]


@frozen
class CountryRisk:
    """What OSINT events of the last 30 days say of a country; null where none were ever read."""

    incidents30d: Annotated[int | None, Example(4)]
    """Events in the country."""
    fatalities30d: Annotated[int | None, Example(12)]
    """Deaths that they tell of, by the best estimate."""
    by_severity: Annotated[Mapping[str, Any] | None, Example({"high": 1, "low": 3})]
    """Events by severity; `unknown` are those without one."""


@frozen
class CountryData:
    """What is known of one country."""

    country_code: Annotated[str, Example("BE")]
    """ISO 3166-1 alpha-2 code."""
    alpha3: Annotated[str | None, Example("BEL")] = None
    """ISO 3166-1 alpha-3 code."""
    numeric: Annotated[str | None, Example("056")] = None
    """ISO 3166-1 numeric code."""
    name: Annotated[str | None, Example("Belgium")] = None
    """Its common name."""
    official_name: Annotated[str | None, Example("Kingdom of Belgium")] = None
    """Its formal name."""
    native_names: Annotated[Names | None, Example({"nl": "België", "fr": "Belgique"})] = None
    """Its common name by language (BCP 47)."""
    region: Annotated[str | None, Example("Europe")] = None
    """The continent or region."""
    subregion: Annotated[str | None, Example("Western Europe")] = None
    """The part of the region."""
    m49: Annotated[str | None, Example("056")] = None
    """UN M49 code."""
    capital: Annotated[tuple[str, ...] | None, Example(["Brussels"])] = None
    """Its capitals; empty for none."""
    languages: Annotated[tuple[str, ...] | None, Example(["nl", "fr", "de"])] = None
    """BCP 47 tags."""
    currencies: Annotated[tuple[str, ...] | None, Example(["EUR"])] = None
    """ISO 4217 codes."""
    population: Measurement | None = None
    """How many people live there."""
    area: Measurement | None = None
    """Its area in square kilometres."""
    borders: Annotated[tuple[str, ...] | None, Example(["FR", "DE", "LU", "NL"])] = None
    """Countries that it borders on; empty for an island."""
    bbox: Annotated[tuple[float, ...] | None, Example([2.52, 49.5, 6.37, 51.5])] = None
    """West, south, east, north; a west beyond its east crosses the antimeridian."""
    centroid: Geometry = None
    calling_codes: Annotated[tuple[str, ...] | None, Example(["+32"])] = None
    """Telephone codes (E.164)."""
    tld: Annotated[tuple[str, ...] | None, Example([".be"])] = None
    """Country code top-level domains."""
    un_member: Annotated[bool | None, Example(True)] = None
    """Whether it is in the UN."""
    sources: tuple[SourceRef, ...] = ()
    """What the row was made from."""
    indicators: Maybe[tuple[Indicator, ...]] = UNSET
    """The newest value of each series about it."""
    risk: Maybe[CountryRisk] = UNSET
    """What events say of it."""


def by_name(name: str) -> int:
    """A sort key that orders names alphabetically in lists that run from the highest key down.

    It packs the first twelve letters into 60 bits and negates them, as orders are whole numbers.
    """
    letters = fold_case(name)[:_LETTERS].ljust(_LETTERS)
    places = [ord(letter) - 96 if "a" <= letter <= "z" else 0 for letter in letters]
    return -sum(place << 5 * index for index, place in enumerate(reversed(places)))


def _prefixes(row: CountryData) -> set[str]:
    """Every beginning of every word of a country's names and codes, as its search tokens."""
    whole = " ".join((*_names(row), row.country_code, row.alpha3 or ""))
    return {word[:end] for word in split_words(whole) for end in range(1, len(word) + 1)}


def _names(row: CountryData) -> tuple[str, ...]:
    return tuple(filter(None, (row.name, row.official_name, *(row.native_names or {}).values())))


WORDS: FieldIndex[CountryData] = FieldIndex(
    lambda row: {"name": _names(row), "capital": row.capital or ()},
    names=lambda row: RowNames(
        row.name or "", _names(row), filter(None, (row.country_code, row.alpha3))
    ),
    levels=(1,),
)


def _whole(measure: Measurement | None) -> int | None:
    return None if measure is None or measure.value is None else round(measure.value)


_COUNTRY = FilterFields[CountryData]()
_Name = Annotated[str, MinLen(1), MaxLen(100)]
IncludeParts = Annotated[
    UnboundedValues[Literal["indicators", "risk"]],
    Doc("`indicators` adds the newest value of each series about it, `risk` what events say."),
]


@frozen
class ListCountries(PageRequest):
    """Countries by name."""

    region: Annotated[UnboundedValues[_Name], Example(["Europe"])] = _COUNTRY.key(
        lambda row: row.region, form=str.casefold
    )
    """Comma list of regions."""
    subregion: UnboundedValues[_Name] = _COUNTRY.key(lambda row: row.subregion, form=str.casefold)
    """Comma list of parts of regions."""
    q: Annotated[Maybe[_Name], QUERY, Example("bel")] = UNSET
    """Beginnings of words of a name or code, all of them."""
    sort: Annotated[Literal["name", "population", "area"], QUERY, Example("name")] = sort_orders(
        "name", population="population", area="area"
    )
    """By name, or the largest first."""
    include: IncludeParts = UNSET


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
    search=lambda row: " ".join(sorted({*_prefixes(row), *WORDS.tokens(row)})),
    form=2,
    kind="country",
    path="/osint/countries",
)
"""Ordered by name."""
