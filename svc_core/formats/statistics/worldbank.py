"""Parses the World Bank's API, version 2: pages of an indicator, or of a source with dimensions.

The unit stands only in the name of the indicator. Aggregates have codes of two letters as well,
which are not those of countries.
"""

from functools import partial
from typing import Any

from svc_core.base import periods
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import (
    as_list,
    midnight,
    number,
    record_list,
    require,
    text_member,
)
from svc_core.formats.statistics import indicator_record as indicators

PAGE = "https://data.worldbank.org/indicator/"
PROVIDER = "worldbank"

_OPTIONS = {"provider": "who publishes it, where it is not the World Bank"}
_HEAD = frozenset({"page", "pages", "total"})


def _recognise(body: Body) -> bool:
    document = body.json
    if isinstance(document, list):
        return _HEAD.issubset(document[0]) and isinstance(document[1], list | None)
    return {*_HEAD, "source"}.issubset(document)


def _parse(body: Body, origin: Origin) -> Contents:
    document = body.whole_json()
    meta, rows = document if isinstance(document, list) else (document, None)
    source = as_list(meta.get("source") or {})[0]
    title, stamp = text_member(source.get("name")), midnight(meta.get("lastupdated"))
    total = meta.get("total") if number(meta.get("pages")) == 1 else None
    yield Metadata(stamp, title, records=None if total is None else int(total))
    provider = origin.options.get("provider", PROVIDER)
    dataset = text_member(source.get("id") or meta.get("sourceid"))
    make = partial(_record, {"provider": provider, "datasetId": dataset})
    rows = rows or source.get("data") or ()
    yield from record_list(rows, make, lambda row: f"{row['country']['id']} {row['date']}")


def _record(origin: dict[str, Any], row: dict[str, Any]) -> Record:
    code, name, place, label, time = _series_cells(row) if "variable" in row else _plain_cells(row)
    members = origin | {
        "indicatorCode": code,
        "name": name,
        "area": indicators.area(require(place, "a country"), label),
        "unit": "%" if "%" in name else None,
        "currency": "USD" if "US$" in name else None,
    }
    status, page = row.get("obs_status"), None if "variable" in row else PAGE + code
    period = periods.read_period(str(time))
    return indicators.observation(members, period, row.get("value"), status=status, url=page)


def _plain_cells(row: dict[str, Any]) -> tuple[str, str, str, object, str]:
    """Indicator, its name, area, its name and period of a row of one indicator."""
    indicator, place = row["indicator"], row["country"]
    code, iso = require(indicator["id"], "an indicator"), row.get("countryiso3code")
    return code, indicator.get("value") or code, iso or place["id"], place.get("value"), row["date"]


def _series_cells(row: dict[str, Any]) -> tuple[str, str, str, object, str]:
    """Indicator, its name, area, its name and period of a row with more dimensions.

    Dimensions beyond the usual ones become part of the indicator.
    """
    variables = {variable["concept"].lower(): variable for variable in row["variable"]}
    place, time = variables.pop("country", None) or variables.pop("economy"), variables.pop("time")
    parts = [variables.pop("series"), *variables.values()]
    code, name = (sep.join(p[key] for p in parts) for sep, key in ((".", "id"), (": ", "value")))
    return code, name, place["id"], place.get("value"), str(time["id"]).removeprefix("YR")


WORLD_BANK = make_format("worldbank", _recognise, _parse, options=_OPTIONS)
