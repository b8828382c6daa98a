"""Converts values as upstream documents write them into values that rows hold.

A missing value is None. A value that is present and cannot be meant raises `RecordRefused`, which
makes one rejection of its record.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from functools import cache, lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit

from svc_core import data
from svc_core.base import instants
from svc_core.formats.model import FAULTS, Record, RecordRefused, Rejection
from svc_core.formats.reading import gazetteer
from svc_core.formats.reading.dates import in_utc, parse_date
from svc_core.formats.reading.markup_text import (
    clip,
    fold_space,
    markdown_text,
    plain_text,
    repair_encoding,
)
from svc_core.text import words

T = TypeVar("T")
TextReader = Callable[[object], str | None]
"""Reads a text in the language of its format as plain text on one line."""

TEXT_CHARS = 20_000
MARKUP_CHARS = 10 * TEXT_CHARS  # of one text that is read as HTML or Markdown
SAMPLE_CHARS = 200
_WEB = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?#][!-~]*)?")  # nearly all addresses
SAFE_INTEGER = 2**53 - 1  # RFC 8259, 6: beyond it readers disagree


def record_list(
    items: Iterable[T],
    make: Callable[[T], Record | Iterable[Record]],
    name: Callable[[T], Any] = str,
) -> Iterator[Record | Rejection]:
    """Makes the records of each item; an item that fails becomes a rejection with a sample.

    `make` turns an item into records, `name` gives a text by which a reader finds it again.
    """
    for item in items:
        try:
            outcome = make(item)
            batch = (outcome,) if isinstance(outcome, Record) else tuple(outcome)
        except RecordRefused as fault:
            yield Rejection(str(fault), 1, _sample(item, name))
        except KeyError as fault:
            yield Rejection(f"lacks {fault.args[0]!r}", 1, _sample(item, name))
        except FAULTS as fault:
            reason = f"is not of the form of its kind ({type(fault).__name__})"
            yield Rejection(reason, 1, _sample(item, name))
        else:
            yield from batch


def _sample(item: T, name: Callable[[T], Any]) -> str:
    try:
        return fold_space(str(name(item)))[:SAMPLE_CHARS]
    except FAULTS:
        return fold_space(str(item)[: SAMPLE_CHARS * 4])[:SAMPLE_CHARS]


# -- text and numbers --------------------------------------------------------------------------
# Each text is read by the reader of the language that its format's specification says it is in.


def text_member(value: object, chars_max: int = TEXT_CHARS) -> str | None:
    """Plain text on one line, with its `<`, `&` and `*` as written; None for no text."""
    if value is None:
        return None
    raw = str(value)
    return clip(fold_space(raw if raw.isascii() else repair_encoding(raw)), chars_max) or None


def html_member(value: object, chars_max: int = TEXT_CHARS) -> str | None:
    """The text of HTML on one line, without tags, its references decoded; None for no text."""
    return text_member(value and plain_text(str(value)[:MARKUP_CHARS]), chars_max)


def markdown_member(value: object, chars_max: int = TEXT_CHARS) -> str | None:
    """The text of Markdown on one line, links as their words; None for no text."""
    return text_member(value and markdown_text(str(value)[:MARKUP_CHARS]), chars_max)


def objects(value: object) -> list[dict[str, Any]]:
    """The JSON objects in a list; an empty list for any other value."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def as_list(value: object) -> list[Any]:
    """A list as it is; any other value as a list of one."""
    return value if isinstance(value, list) else [value]


def comma_parts(value: object) -> list[str]:
    """The parts of a text that commas separate, without blank ones."""
    return [part.strip() for part in str(value or "").split(",") if part.strip()]


def strings(value: object, chars_max: int = 300) -> list[str]:
    """The texts of a list, or of a single value written without one; empty texts are left out."""
    return [
        string for string in (text_member(item, chars_max) for item in as_list(value)) if string
    ]


def require(value: T | None, name: str) -> T:
    """Returns a value that must be present; `name` is what the rejection calls it.

    Raises:
        RecordRefused: the value is None or an empty text.
    """
    if value is None or value == "":
        raise RecordRefused(f"lacks {name}")
    return value


def number(value: object) -> int | float | None:
    """A finite number, also from text; None for an empty text. Whole numbers stay exact.

    Raises:
        RecordRefused: it is no number, or a whole number beyond ±(2^53 - 1).
    """
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        value = value.strip()
        if not value:
            return None
        try:
            value = int(value) if value.lstrip("+-").isdecimal() else float(value)
        except ValueError as fault:
            raise RecordRefused("has a number that is none") from fault
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise RecordRefused("has a number that is none")
    if isinstance(value, int) and abs(value) > SAFE_INTEGER:
        raise RecordRefused("has a whole number beyond 2^53")
    return value


# -- time --------------------------------------------------------------------------------------


def moment(value: object) -> datetime | None:
    """An instant in UTC from ISO 8601 or RFC 822 text; None for text that names no instant."""
    # Nearly all instants end with Z, and `fromisoformat` is much faster than `parse_date`.
    if isinstance(value, str) and value.endswith("Z"):
        with suppress(ValueError):
            return in_utc(datetime.fromisoformat(value))
    return in_utc(parse_date(str(value))) if value else None


def epoch_moment(value: object) -> datetime | None:
    """An instant in UTC from milliseconds since 1970."""
    milliseconds = number(value)
    return None if milliseconds is None else instants.from_millis(int(milliseconds))


def rfc3339(value: datetime | None) -> str | None:
    """An instant as rows write it: RFC 3339 in UTC with `Z`."""
    return None if value is None else instants.render(value)


def day(value: object) -> str | None:
    """A calendar date as rows write it, from `2026-01-31`, `20260131` or a longer ISO 8601 text.

    Raises:
        RecordRefused: the text names no day.
    """
    digits = str(value or "").strip()
    if not digits:
        return None
    try:
        return date.fromisoformat(digits if digits[:8].isdecimal() else digits[:10]).isoformat()
    except ValueError as fault:
        raise RecordRefused("has a date that is none") from fault


def midnight(value: object) -> datetime | None:
    """The first instant of a calendar date, in UTC."""
    iso_date = day(value)
    return None if iso_date is None else datetime.fromisoformat(iso_date).replace(tzinfo=UTC)


# -- the world ---------------------------------------------------------------------------------


@cache
def _countries() -> Mapping[str, Mapping[str, str]]:
    codes: dict[str, dict[str, str]] = {"alpha2": {}, "alpha3": {}, "numeric": {}, "fips": {}}
    for alpha2, alpha3, numeric, fips, *_ in data.table_rows("countries.tsv"):
        codes["alpha2"][alpha2] = alpha2
        codes["alpha3"][alpha3] = codes["numeric"][numeric] = alpha2
        codes["fips"] |= dict.fromkeys(fips.split(","), alpha2)
    return codes


def country(code: object, scheme: str | None = None) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country by its code in another scheme; None if unknown.

    `scheme` is `alpha2`, `alpha3`, `numeric` or `fips` (FIPS 10-4, which has other meanings for
    the same two letters); None tells the first three apart by their form.
    """
    key = str(code or "").strip().upper()
    if not key:
        return None
    if scheme is None:
        scheme = "numeric" if key.isdecimal() else "alpha2" if len(key) == 2 else "alpha3"
    return _countries()[scheme].get(key.zfill(3) if scheme == "numeric" else key) or None


def country_members(codes: Iterable[object], scheme: str | None = None) -> list[str]:
    """The alpha-2 codes of the countries with these codes, each once, unknown ones left out."""
    alpha2_codes = (country(code, scheme) for code in codes)
    return list(dict.fromkeys(code for code in alpha2_codes if code))


@cache
def _names() -> Mapping[str, str]:
    """Alpha-2 codes by the names that exactly one country has."""
    places = (line.partition("\t") for line in data.table_lines("places.tsv"))
    own_names = [rest for kind, _, rest in places if kind == "country"]
    owners: dict[str, set[str]] = {}
    for line in (*data.table_lines("country_names.tsv"), *own_names):
        code, _, names = line.partition("\t")
        for name in names.casefold().split("|"):
            owners.setdefault(name, set()).update([code] if country(code, "alpha2") else ())
    alone = {name: min(codes) for name, codes in owners.items() if len(codes) == 1}
    rows = (line.split("\t") for line in data.table_lines("countries.tsv"))
    return alone | {name: code for code, _, _, _, *names in rows for name in names}


def country_named(name: object) -> str | None:
    """The ISO 3166-1 alpha-2 code of a country by its name; None for an unknown or shared name.

    Inverted names are understood (`Korea, Republic of`), and the last part of a longer one
    (`Ontario, Canada`). A former name in brackets behind the name is ignored.
    """
    return _country_of(str(name or ""))


@lru_cache(maxsize=4_096)  # a document names few countries, on every line
def _country_of(name: str) -> str | None:
    label = " ".join(name.partition(" (")[0].split()).casefold().removeprefix("the ")
    first, _, last = label.rpartition(", ")
    matches = (_names().get(spelling) for spelling in (label, f"{last} {first}", last))
    return next((code for code in matches if code), None)


def countries_named(names: Iterable[object]) -> list[str]:
    """The alpha-2 codes of the countries with these names, each once, unknown ones left out."""
    codes = map(country_named, names)
    return list(dict.fromkeys(code for code in codes if code))


def point(longitude: object, latitude: object) -> dict[str, Any] | None:
    """A GeoJSON point (RFC 7946: longitude first); None where a coordinate is missing.

    Raises:
        RecordRefused: a coordinate is out of range. Swapped coordinates are not guessed at.
    """
    west, north = number(longitude), number(latitude)
    if west is None or north is None:
        return None
    if abs(west) > 180 or abs(north) > 90:
        raise RecordRefused("has coordinates out of range")
    return {"type": "Point", "coordinates": [west, north]}


_AMBIGUOUS_NAMES = {(None, "georgia")}  # also a State of the United States


def place_id(
    name: str | None, country_code: str | None, admin1: str | None, geometry: Any = None
) -> str | None:
    """The id of a place, the same in every source; None where only its geometry is known.

    The last part of `Paris, France` is taken for the country, and a country's own name for no more
    than its code.
    """
    local_name, _, last = f", {' '.join((name or '').casefold().split())}".rpartition(", ")
    name_country = None if (country_code, last) in _AMBIGUOUS_NAMES else _names().get(last)
    if name_country is None or country_code not in {None, name_country}:
        local_name, name_country = f"{local_name}, {last}", country_code
    point = (geometry or {}).get("coordinates") if (geometry or {}).get("type") == "Point" else None
    at = point and (point[0], point[1])
    return gazetteer.place_id_by_name(
        name_country, admin1, words.fold_case(local_name.strip(", ")), at
    )


def place(
    *,
    name: object = None,
    country_code: str | None = None,
    admin1: str | None = None,
    geometry: Mapping[str, Any] | None = None,
    precision: str | None = None,
    geonames: str | None = None,
) -> dict[str, Any] | None:
    """A place as rows hold it; None where neither name, country nor geometry is known.

    `geonames` is the number of the place at GeoNames, where a source gives it.
    """
    label = text_member(name, 300)
    if label is None and country_code is None and geometry is None:
        return None
    own_id = gazetteer.place_id_by_designator("geonames", geonames) if geonames else None
    return {
        "id": own_id or place_id(label, country_code, admin1, geometry),
        "name": label,
        "countryCode": country_code,
        "admin1Code": admin1,
        "geometry": geometry,
        "precision": precision or ("exact" if geometry else "country" if not label else "unknown"),
    }


# -- members that several kinds of row have ----------------------------------------------------


def measurement(
    metric: str,
    value: int | float | None,
    *,
    unit: str | None = None,
    currency: str | None = None,
    provider: str | None = None,
    **qualifiers: Any,
) -> dict[str, Any]:
    """A measured value with its unit, its currency, or the provider of its scale.

    `qualifiers` are further members: `asOf`, `low`, `high`, `basis`.
    """
    context = {"unit": unit, "currency": currency, "provider": provider, **qualifiers}
    if unit is None and currency is None and provider is None:
        raise AssertionError("a measurement has a unit, a currency or a provider")
    return {"metric": metric, "value": value} | {k: v for k, v in context.items() if v is not None}


def amount(metric: str, value: object, **measure: str) -> dict[str, Any] | None:
    """A measurement of an amount; None where it is unknown, which some sources write as -1."""
    quantity = number(value)
    return None if quantity is None or quantity < 0 else measurement(metric, quantity, **measure)


def designator(scheme: str, value: object, provider: str | None = None) -> dict[str, Any]:
    """An identifier of the same thing in another scheme, with who states it."""
    return {"scheme": scheme, "value": str(value), "provider": provider}


def web_url(value: object) -> str | None:
    """An absolute http(s) URL; None for any other value."""
    url = str(value or "").strip()
    if _WEB.fullmatch(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and parts.hostname else None
