"""SDMX-JSON, 1.0 and 2.0, in every layout: flat, by series in time, across another dimension.

What is not time, frequency or area makes the code of the indicator, in the order of the whole key.
A data set whose action is Delete withdraws what it names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from svc_core.base import periods
from svc_core.formats.economy import indicators
from svc_core.formats.economy.sdmx_cells import Cell, Structure, cells, code, label
from svc_core.formats.model import About, Contents, DocumentRefused, Given, Record, Said, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import as_list, moment, records

_OPTIONS = {"provider": "the agency, such as ecb, where the document names none"}
_EUROSTAT = {"EL": "GR", "UK": "GB"}  # its own codes of two countries
_WHOLE = re.compile(r"-?\d{1,2}")
_FLOW = re.compile(
    r"Dataflow=([\w.-]+):([\w@.-]+)\("
    r"|/dataflow/(?:([\w.-]+)/(?!all\b))?([\w@.-]+)(?:/[\w.+*~]+)?/?(?:\?|$)"
)


def _recognise(body: Body) -> bool:
    data = body.json.get("data") or body.json
    return "dataSets" in data and not {"structure", "structures"}.isdisjoint(data)


def _parse(body: Body, given: Given) -> Contents:
    told = body.whole_json()
    head = told.get("meta") or told.get("header") or {}
    data = told.get("data") or told
    structures = data.get("structures") or [data["structure"]]
    yield About(stamp=moment(head.get("prepared")))
    for data_set in data["dataSets"]:
        structure = structures[data_set.get("structure") or 0]
        named, flow = _flow([*(structure.get("links") or ()), *(data_set.get("links") or ())])
        provider = _agency(named) or given.options.get("provider") or _sender(head)
        if not provider:
            raise DocumentRefused("option", "The document names no agency: --option provider=ecb")
        is_gone = str(data_set.get("action")).lower() == "delete"
        found, origin = Structure(structure), {"provider": provider, "datasetId": flow}
        make = partial(_record, found.code, origin, is_gone=is_gone)
        observed = cells(data_set, found, is_gone=is_gone)
        yield from records(observed, make, lambda cell: _code(cell[0].values()))


def _agency(name: object) -> str:
    """An agency in lower case, without its departments."""
    return str(name or "").partition(".")[0].lower()


def _sender(head: Mapping[str, Any]) -> str:
    return _agency(as_list(head.get("sender") or {})[0].get("id"))


def _flow(links: Iterable[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """The agency, where it is told, and the dataflow."""
    told = (_FLOW.search(f"{link.get('urn') or ''} {link.get('href') or ''}") for link in links)
    found = next(filter(None, told), None)
    return (None, None) if found is None else (found[1] or found[3], found[2] or found[4])


def _code(values: Iterable[Mapping[str, Any] | None]) -> str:
    return ".".join(map(code, values))


def _record(names: Sequence[str], origin: Said, cell: Cell, *, is_gone: bool) -> Record:
    dimensions, attributes, value = cell
    if not dimensions.keys() >= {"time", *names}:
        raise Unusable("names no single value" if is_gone else "lacks a dimension")
    both = attributes | dimensions
    parts, place = [dimensions[name] for name in names], dimensions.get("area")
    unit, multiplier = code(both.get("unit")), code(both.get("multiplier"))
    if not unit and "CURRENCY_DENOM" in dimensions:  # a rate of exchange
        unit = code(dimensions.get("CURRENCY"))
    said = {
        **origin,
        "indicatorCode": _code(parts),
        "name": label(both.get("title")) or ", ".join(map(label, parts)),
        "area": indicators.area(code(place), label(place), _EUROSTAT.get(code(place))),
        "unitMultiplier": int(multiplier) if _WHOLE.fullmatch(multiplier) else None,
        "seasonalAdjustment": code(both.get("adjustment")) or None,
        **indicators.measured(unit),
    }
    when = periods.parse(code(dimensions["time"]), code(both.get("frequency")) or None)
    return indicators.observation(said, when, value, status=code(both.get("status")), gone=is_gone)


SDMX = make_format("sdmx", _recognise, _parse, options=_OPTIONS)
