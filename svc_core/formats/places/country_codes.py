"""Parses the CSV of datasets/country-codes: UN names, M49, currencies, calling codes."""

from svc_core.formats.model import Contents, Origin, Record
from svc_core.formats.places.country_facts import country_record, numeric
from svc_core.formats.reading.codes import calling_codes, currencies
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import comma_parts, record_list, strings, text_member

ALPHA2 = "ISO3166-1-Alpha-2"

_TEXTS = {"alpha3": "ISO3166-1-Alpha-3", "region": "Region Name", "subregion": "Sub-region Name"}
_DIGITS = {"numeric": "ISO3166-1-numeric", "m49": "M49"}
_LISTS = {"languages": "Languages", "tld": "TLD"}


def _parse(body: Body, _: Origin) -> Contents:
    yield from record_list(body.table(), _record, lambda row: row.get("official_name_en") or row)


def _record(row: dict[str, str]) -> Record:
    members = {
        **{name: text_member(row.get(column)) for name, column in _TEXTS.items()},
        **{name: numeric(row.get(column)) for name, column in _DIGITS.items()},
        **{name: comma_parts(row.get(column)) for name, column in _LISTS.items()},
        "name": text_member(row.get("official_name_en"))
        or text_member(row.get("CLDR display name")),
        "officialName": (text_member(row.get("UNTERM English Formal")) or "").removeprefix("the "),
        "capital": strings(row.get("Capital")),
        "currencies": currencies(comma_parts(row.get("ISO4217-currency_alphabetic_code"))),
        "callingCodes": calling_codes(row.get("Dial") or ""),
    }
    # An empty cell does not say that there is none.
    return country_record(row[ALPHA2].strip(), {key: cell or None for key, cell in members.items()})


COUNTRY_CODES = make_format(
    "country-codes", lambda body: {ALPHA2, "M49"} <= set(body.columns()), _parse
)
