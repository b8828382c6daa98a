"""GeoNames: the table of countries, whose notes begin with `#`, and the main table of places."""

from collections.abc import Iterator

from svc_core.sources.body import Body
from svc_core.sources.codes import calling, currencies
from svc_core.sources.countries import amount, numeric, record
from svc_core.sources.country_codes import split
from svc_core.sources.model import Format, Given, Record, Told
from svc_core.sources.values import (
    countries,
    country,
    midnight,
    place,
    point,
    records,
    required,
    text,
)

PROVIDER = "geonames"
COLUMNS = 19  # of both tables; of countries the last one is mostly empty

_HEADERS = frozenset({"id", "geonameid", "geonameId", "ISO"})  # but ID is Indonesia

# GeoNames has ISO 3166-2 for the first divisions of these, and codes of its own for the others.
_ISO_ADMIN1 = frozenset({"US", "CH", "BE", "ME", "GB"})
_PRECISION = {"P": "locality", "ADM1": "admin1", "PCL": "country"}


def _parse(body: Body, _: Given) -> Told:
    rows = _rows(body)
    yield from records(
        rows, _place if _is_places(body) else _country, lambda row: " ".join(row[:2])
    )


def _rows(body: Body) -> Iterator[list[str]]:
    """The rows below notes and header."""
    rows = (row for row in body.rows("\t") if not row[0].startswith("#"))
    return (row for row in rows if row[0] not in _HEADERS)


def _country(row: list[str]) -> Record:
    alpha2, alpha3, number, _, name, capital, area, population, _, tld, money, _, phone = row[:13]
    languages, geonames_id, neighbours = [*row, "", ""][15:18]
    return record(
        alpha2,
        {
            "alpha3": text(alpha3),
            "numeric": numeric(number),
            "name": text(name),
            "capital": [capital] if capital else None,
            "languages": split(languages),
            "currencies": currencies([money]) or None,
            "population": amount("population", population, "1", PROVIDER),
            "area": amount("area", area, "km2", PROVIDER),
            "borders": countries(neighbours.split(",")),
            "callingCodes": calling(phone) or None,
            "tld": split(tld),
        },
        geonames_id,
    )


def _place(row: list[str]) -> Record:
    id_, name, _, _, north, west, class_, code, in_country, _, admin1 = row[:11]
    alpha2 = country(in_country, "alpha2")
    said = place(
        name=required(name, "a name"),
        country_code=alpha2,
        admin1=f"{alpha2}-{admin1}" if admin1 and alpha2 in _ISO_ADMIN1 else None,
        geometry=point(required(west, "a longitude"), required(north, "a latitude")),
        precision=next((_PRECISION[k] for k in (class_, code, code[:3]) if k in _PRECISION), None),
    )
    return Record(
        "place",
        f"{PROVIDER}:{int(id_)}",
        said or {},
        stamp=midnight(row[18]),
        record_id=id_,
        url=f"https://www.geonames.org/{id_}",
    )


def _is_places(body: Body) -> bool:
    row = next(_rows(body), [])
    return len(row) == COLUMNS and row[0].isdecimal()


def _is_geonames(body: Body) -> bool:
    if body.head.startswith(("{", "[", "<")) or "\t" not in body.head:
        return False
    return _is_places(body) or _is_country(next(_rows(body), []))


def _is_country(row: list[str]) -> bool:
    codes = [len(code) for code in row[:3]]
    return len(row) >= COLUMNS - 1 and codes[:2] == [2, 3] and row[2][:3].isdecimal()


GEONAMES = Format(
    id="geonames",
    title="GeoNames countries and places",
    kind="snapshot",
    provider=PROVIDER,
    brings=("country", "place"),
    recognise=_is_geonames,
    parse=_parse,
    cadence_seconds=604_800,
    license="CC-BY-4.0",
    attribution="GeoNames, geonames.org",
)
