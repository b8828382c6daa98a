"""The table of country codes of datasets/country-codes: names of the UN, M49, money, telephones."""

from typing import Any

from svc_core.sources.body import Body
from svc_core.sources.codes import calling, currencies
from svc_core.sources.countries import numeric, record
from svc_core.sources.model import Format, Given, Record, Told
from svc_core.sources.values import records, text

ALPHA2 = "ISO3166-1-Alpha-2"

_TEXTS = {
    "alpha3": "ISO3166-1-Alpha-3",
    "region": "Region Name",
    "subregion": "Sub-region Name",
}
_DIGITS = {"numeric": "ISO3166-1-numeric", "m49": "M49"}
_LISTS = {"languages": "Languages", "tld": "TLD"}


def _parse(body: Body, _: Given) -> Told:
    yield from records(body.table(), _record, lambda row: row.get("official_name_en") or row)


def _record(row: dict[str, str]) -> Record:
    said: dict[str, Any] = {name: text(row.get(column)) for name, column in _TEXTS.items()}
    for name, column in _DIGITS.items():
        said[name] = numeric(row.get(column))
    for name, column in _LISTS.items():
        said[name] = split(row.get(column))
    said["name"] = text(row.get("official_name_en")) or text(row.get("CLDR display name"))
    formal, capital = text(row.get("UNTERM English Formal")), text(row.get("Capital"))
    said["officialName"] = formal and formal.removeprefix("the ")
    said["capital"] = capital and [capital]
    said["currencies"] = (
        currencies(split(row.get("ISO4217-currency_alphabetic_code")) or ()) or None
    )
    said["callingCodes"] = calling(row.get("Dial") or "") or None
    return record(row[ALPHA2].strip(), said)


def split(told: str | None) -> list[str] | None:
    """The parts of a comma list; None of an empty one, which does not say that there are none."""
    return [part.strip() for part in (told or "").split(",") if part.strip()] or None


COUNTRY_CODES = Format(
    id="country-codes",
    title="datasets/country-codes",
    kind="snapshot",
    provider="datasets",
    brings=("country",),
    recognise=lambda body: {ALPHA2, "M49"} <= set(body.columns()),
    parse=_parse,
    cadence_seconds=604_800,
    license="PDDL-1.0",
    attribution="datasets/country-codes",
)
