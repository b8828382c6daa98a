"""Parses SDMX-JSON 1.0 and 2.0 in every layout: flat, by series in time, or across a dimension.

The indicator code is made of all dimensions but time, frequency and area, in the order of the key.
A data set whose action is Delete withdraws what it names.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from svc_core.base import periods
from svc_core.formats.model import (
    Contents,
    DocumentRefused,
    Members,
    Metadata,
    Origin,
    Record,
    RecordRefused,
)
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import as_list, moment, record_list
from svc_core.formats.statistics import indicator_record as indicators
from svc_core.formats.statistics.sdmx_cells import Cell, Structure, code, data_set_cells, label

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


def _parse(body: Body, origin: Origin) -> Contents:
    document = body.whole_json()
    head = document.get("meta") or document.get("header") or {}
    data = document.get("data") or document
    structures = data.get("structures") or [data["structure"]]
    yield Metadata(stamp=moment(head.get("prepared")))
    for data_set in data["dataSets"]:
        structure = structures[data_set.get("structure") or 0]
        agency, flow = _flow([*(structure.get("links") or ()), *(data_set.get("links") or ())])
        provider = _agency(agency) or origin.options.get("provider") or _sender(head)
        if not provider:
            raise DocumentRefused("option", "The document names no agency: --option provider=ecb")
        is_delete = str(data_set.get("action")).lower() == "delete"
        layout, series_members = Structure(structure), {"provider": provider, "datasetId": flow}
        make = partial(_record, layout.code_names, series_members, is_delete=is_delete)
        observations = data_set_cells(data_set, layout, is_delete=is_delete)
        yield from record_list(observations, make, lambda cell: _code(cell[0].values()))


def _agency(name: object) -> str:
    """The name of an agency in lower case, without its departments."""
    return str(name or "").partition(".")[0].lower()


def _sender(head: Mapping[str, Any]) -> str:
    return _agency(as_list(head.get("sender") or {})[0].get("id"))


def _flow(links: Iterable[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """The agency and the dataflow that links name; None for what they do not name."""
    matches = (_FLOW.search(f"{link.get('urn') or ''} {link.get('href') or ''}") for link in links)
    match = next(filter(None, matches), None)
    return (None, None) if match is None else (match[1] or match[3], match[2] or match[4])


def _code(values: Iterable[Mapping[str, Any] | None]) -> str:
    return ".".join(map(code, values))


def _record(names: Sequence[str], origin: Members, cell: Cell, *, is_delete: bool) -> Record:
    dimensions, attributes, value = cell
    if not dimensions.keys() >= {"time", *names}:
        raise RecordRefused("names no single value" if is_delete else "lacks a dimension")
    components = attributes | dimensions
    parts, place = [dimensions[name] for name in names], dimensions.get("area")
    unit, multiplier = code(components.get("unit")), code(components.get("multiplier"))
    if not unit and "CURRENCY_DENOM" in dimensions:  # a rate of exchange
        unit = code(dimensions.get("CURRENCY"))
    members = {
        **origin,
        "indicatorCode": _code(parts),
        "name": label(components.get("title")) or ", ".join(map(label, parts)),
        "area": indicators.area(code(place), label(place), _EUROSTAT.get(code(place))),
        "unitMultiplier": int(multiplier) if _WHOLE.fullmatch(multiplier) else None,
        "seasonalAdjustment": code(components.get("adjustment")) or None,
        **indicators.unit_members(unit),
    }
    period = periods.read_period(
        code(dimensions["time"]), code(components.get("frequency")) or None
    )
    status = code(components.get("status"))
    return indicators.observation(members, period, value, status=status, is_withdrawn=is_delete)


SDMX = make_format("sdmx", _recognise, _parse, options=_OPTIONS)
