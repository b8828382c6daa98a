"""SDMX-JSON, 1.0 and 2.0, in every layout: flat, by series in time, across another dimension.

What is not time, frequency or area makes the code of the indicator, in the order of the whole key.
A data set whose action is Delete withdraws what it names.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from svc_core.sources import indicators
from svc_core.sources.body import Body
from svc_core.sources.model import About, DocumentRefused, Format, Given, Record, Told, Unusable
from svc_core.sources.sdmx_cells import Cell, Structure, cells, code, deletes, label
from svc_core.sources.values import moment, records

_EUROSTAT = {"EL": "GR", "UK": "GB"}  # its own codes of two countries
_FLOW = re.compile(
    r"Dataflow=([\w.-]+):([\w@.-]+)\("
    r"|/dataflow/(?:([\w.-]+)/(?!all\b))?([\w@.-]+)(?:/[\w.+*~]+)?/?(?:\?|$)"
)


def _parse(body: Body, given: Given) -> Told:
    told = body.whole_json()
    head = told.get("meta") or told.get("header") or {}
    data = told.get("data") or told
    structures = data.get("structures") or [data["structure"]]
    yield About(stamp=moment(head.get("prepared")))
    for data_set in data["dataSets"]:
        structure = structures[data_set.get("structure") or 0]
        agency, flow = _flow([*(structure.get("links") or ()), *(data_set.get("links") or ())])
        provider = agency or given.options.get("provider") or _sender(head)
        if not provider:
            raise DocumentRefused("option", "The document names no agency: --option provider=ecb")
        read = Structure(structure)
        make = _record(read, provider, flow, is_gone=deletes(data_set))
        yield from records(cells(data_set, read), make, _name)


def _flow(links: Sequence[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """The agency in lower case, without its departments, and the dataflow."""
    for link in links:
        found = _FLOW.search(f"{link.get('urn') or ''} {link.get('href') or ''}")
        if found is not None:
            agency = found[1] or found[3] or ""
            return agency.partition(".")[0].lower() or None, found[2] or found[4]
    return None, None


def _sender(head: Mapping[str, Any]) -> str | None:
    sender = head.get("sender") or {}
    told = (sender[0] if isinstance(sender, list) else sender).get("id")
    return None if told is None else str(told).partition(".")[0].lower()


def _name(cell: Cell) -> str:
    return ".".join(map(code, cell[0].values()))


def _record(
    structure: Structure, provider: str, flow: str | None, *, is_gone: bool
) -> Callable[[Cell], Record]:
    def record(cell: Cell) -> Record:
        dimensions, attributes, value = cell
        if "time" not in dimensions or not all(name in dimensions for name in structure.code):
            raise Unusable("names no single value" if is_gone else "lacks a dimension")
        both = attributes | dimensions
        parts = [dimensions[name] for name in structure.code]
        place, money = dimensions.get("area") or {}, code(dimensions.get("CURRENCY"))
        is_rate = "CURRENCY_DENOM" in dimensions
        said = indicators.series(
            provider,
            ".".join(map(code, parts)),
            label(both.get("title")) or ", ".join(map(label, parts)),
            dataset=flow,
            area=indicators.area(code(place), label(place), _EUROSTAT.get(code(place))),
            multiplier=_whole(both.get("multiplier")),
            adjustment=code(both.get("adjustment")) or None,
            **indicators.measured(code(both.get("unit")) or (money if is_rate else None)),
        )
        when = indicators.period(code(dimensions["time"]), code(both.get("frequency")) or None)
        status = code(both.get("status"))
        return indicators.observation(said, when, value, status=status, gone=is_gone)

    return record


def _whole(value: Mapping[str, Any] | None) -> int | None:
    told = code(value)
    return int(told) if re.fullmatch(r"-?\d{1,2}", told) else None


def _is_sdmx(body: Body) -> bool:
    told = body.json
    data = (told.get("data") or told) if isinstance(told, dict) else None
    return (
        isinstance(data, dict)
        and "dataSets" in data
        and not {"structure", "structures"}.isdisjoint(data)
    )


SDMX = Format(
    id="sdmx",
    title="SDMX-JSON 1.0 and 2.0",
    kind="delta",
    provider=None,
    brings=("indicator",),
    recognise=_is_sdmx,
    parse=_parse,
    options={"provider": "the agency, such as ecb, where the document names none"},
    cadence_seconds=86_400,
)
