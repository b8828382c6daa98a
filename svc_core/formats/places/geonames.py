"""Parses GeoNames: the table of countries, with comments in `#`, and the table of places."""

from collections.abc import Iterator

from svc_core.formats.model import Contents, Origin, Record
from svc_core.formats.places.country_facts import country_record, numeric
from svc_core.formats.reading.codes import calling_codes, currencies
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    amount,
    comma_parts,
    country,
    country_members,
    midnight,
    place,
    point,
    record_list,
    require,
    strings,
    text_member,
)

PROVIDER = "geonames"
COLUMNS = 19  # of both tables; of countries the last one is mostly empty

_HEADERS = frozenset({"id", "geonameid", "geonameId", "ISO"})  # but ID is Indonesia

# GeoNames has ISO 3166-2 for the first divisions of these, and codes of its own for the others.
_ISO_ADMIN1 = frozenset({"US", "CH", "BE", "ME", "GB"})
_PRECISION = {"P": "locality", "ADM1": "admin1", "PCL": "country"}


def _recognise(body: Body) -> bool:
    if body.head.startswith(("{", "[", "<")) or "\t" not in body.head:
        return False
    row = next(_rows(body), [])
    is_country = len(row) >= COLUMNS - 1 and row[2][:3].isdecimal()
    if is_country and [len(code) for code in row[:2]] == [2, 3]:
        return True
    return len(row) == COLUMNS and row[0].isdecimal()


def _rows(body: Body) -> Iterator[list[str]]:
    """The rows without comments and header."""
    rows = (row for row in body.rows("\t") if not row[0].startswith("#"))
    return (row for row in rows if row[0] not in _HEADERS)


def _parse(body: Body, _: Origin) -> Contents:
    yield from record_list(_rows(body), _record, lambda row: " ".join(row[:2]))


def _record(row: list[str]) -> Record:
    return _place(row) if row[0].isdecimal() else _country(row)


def _country(row: list[str]) -> Record:
    alpha2, alpha3, number, _, name, capital, area, population, _, tld, money, _, phone = row[:13]
    languages, geonames_id, neighbours = [*row, "", ""][15:18]
    members = {
        "alpha3": text_member(alpha3),
        "numeric": numeric(number),
        "name": text_member(name),
        "capital": strings(capital) or None,
        "languages": comma_parts(languages) or None,
        "currencies": currencies([money]) or None,
        "population": amount("population", population, unit="1", provider=PROVIDER),
        "area": amount("area", area, unit="km2", provider=PROVIDER),
        "borders": country_members(neighbours.split(",")),
        "callingCodes": calling_codes(phone) or None,
        "tld": comma_parts(tld) or None,
    }
    return country_record(alpha2, members, geonames_id)


def _place(row: list[str]) -> Record:
    id_, name, _, _, north, west, class_, code, in_country, _, admin1 = row[:11]
    alpha2 = country(in_country, "alpha2")
    members = place(
        geonames=str(int(id_)),
        name=require(name, "a name"),
        country_code=alpha2,
        admin1=f"{alpha2}-{admin1}" if admin1 and alpha2 in _ISO_ADMIN1 else None,
        geometry=point(require(west, "a longitude"), require(north, "a latitude")),
        precision=next((_PRECISION[k] for k in (class_, code, code[:3]) if k in _PRECISION), None),
    )
    key, url = f"{PROVIDER}:{int(id_)}", f"https://www.geonames.org/{id_}"
    return Record("place", key, members or {}, midnight(row[18]), record_id=id_, url=url)


GEONAMES = make_format("geonames", _recognise, _parse)
