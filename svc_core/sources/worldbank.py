"""The World Bank's API, version 2: pages of one indicator, and of a source with more dimensions.

The unit hides in the name of the indicator. Aggregates have codes of two letters, too, which are no
countries.
"""

from functools import partial
from typing import Any

from svc_core.sources import indicators
from svc_core.sources.body import Body
from svc_core.sources.model import About, Format, Given, Record, Told
from svc_core.sources.values import midnight, number, records, required, text

PAGE = "https://data.worldbank.org/indicator/"
PROVIDER = "worldbank"


def _parse(body: Body, given: Given) -> Told:
    told = body.whole_json()
    meta, rows = told if isinstance(told, list) else (told, None)
    source = meta.get("source") or {}
    source = source[0] if isinstance(source, list) else source
    total = number(meta.get("total")) if number(meta.get("pages")) == 1 else None
    yield About(
        stamp=midnight(meta.get("lastupdated")),
        title=text(source.get("name")),
        records=None if total is None else int(total),
    )
    provider = given.options.get("provider", PROVIDER)
    dataset = text(source.get("id") or meta.get("sourceid"))
    yield from records(rows or source.get("data") or (), partial(_record, provider, dataset), _name)


def _record(provider: str, dataset: str | None, row: dict[str, Any]) -> Record:
    code, name, place, label, when = _named(row) if "variable" in row else _plain(row)
    said = indicators.series(
        provider,
        code,
        name,
        dataset=dataset,
        area=indicators.area(required(place, "a country"), label),
        unit="%" if "%" in name else None,
        currency="USD" if "US$" in name else None,
    )
    page = PAGE + code if "variable" not in row else None
    return indicators.observation(
        said, indicators.period(when), row.get("value"), status=row.get("obs_status"), url=page
    )


def _plain(row: dict[str, Any]) -> tuple[str, str, str, object, str]:
    """Indicator and its name, area and its name, period of a row of one indicator."""
    indicator, place = row["indicator"], row["country"]
    code = required(indicator["id"], "an indicator")
    return code, indicator.get("value") or code, _iso(row), place.get("value"), row["date"]


def _iso(row: dict[str, Any]) -> str:
    return str(row.get("countryiso3code") or row["country"]["id"])


def _named(row: dict[str, Any]) -> tuple[str, str, str, object, str]:
    """The same of a row with more dimensions: those beyond the usual ones belong to the series."""
    told = {each["concept"].lower(): each for each in row["variable"]}
    place, when = told.pop("country", None) or told.pop("economy"), told.pop("time")
    parts = [told.pop("series"), *told.values()]
    code, name = (sep.join(p[key] for p in parts) for sep, key in ((".", "id"), (": ", "value")))
    return code, name, place["id"], place.get("value"), str(when["id"]).removeprefix("YR")


def _name(row: dict[str, Any]) -> object:
    return f"{_iso(row)} {row['date']}" if "date" in row else row["variable"]


def _is_worldbank(body: Body) -> bool:
    told = body.json
    if isinstance(told, list):
        meta = told[0] if len(told) == 2 and isinstance(told[1], list | None) else None
    else:
        meta = told if body.has("source") else None
    return isinstance(meta, dict) and {"page", "pages", "total"} <= meta.keys()


WORLD_BANK = Format(
    id="worldbank",
    title="World Bank API v2",
    kind="window",
    provider=PROVIDER,
    brings=("indicator",),
    recognise=_is_worldbank,
    parse=_parse,
    options={"provider": "who publishes it, where it is not the World Bank"},
    cadence_seconds=86_400,
    license="CC-BY-4.0",
    attribution="World Bank",
)
