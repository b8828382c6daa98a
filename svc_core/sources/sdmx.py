"""SDMX-JSON, 1.0 and 2.0, in every layout: flat, by series in time, across another dimension.

A key such as `0:1` holds places in the lists of values of the dimensions of its level. What is not
time, frequency or area makes the code of the indicator, in the order of the whole key. A data set
whose action is Delete withdraws what it names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core import periods
from svc_core.sources import indicators
from svc_core.sources.body import Body
from svc_core.sources.codes import currency
from svc_core.sources.model import About, DocumentRefused, Format, Given, Record, Told, Unusable
from svc_core.sources.values import moment, number, records

Choices = list[tuple[str, Sequence[Any]]]
"""The dimensions or attributes of one level: what each is called here, and its values."""

Chosen = dict[str, Mapping[str, Any]]
"""The values that were chosen of them."""

# What a dimension or an attribute is called here, by its role or by its name at an agency.
_CALLED = {
    name: ours
    for ours, names in {
        "time": "TIME_PERIOD TIME",
        "frequency": "FREQ FREQUENCY",
        "area": "REF_AREA GEO LOCATION COUNTRY AREA BORROWERS_CTY",
        "status": "OBS_STATUS",
        "title": "TITLE",
        "unit": "UNIT UNIT_MEASURE",
        "multiplier": "UNIT_MULT POWERCODE",
        "adjustment": "ADJUSTMENT SEASONAL_ADJUST SEASONAL_ADJUSTMENT S_ADJUST",
    }.items()
    for name in names.split()
}
_APART = frozenset({"time", "frequency", "area"})
_EUROSTAT = {"EL": "GR", "UK": "GB"}  # its own codes of two countries
_FLOW = re.compile(r"Dataflow=([\w.-]+):([\w@.-]+)\(|/dataflow/([\w.-]+)/([\w@.-]+)/[\w.+*~]+/?$")


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
        read = _Reader(structure, provider, flow, is_gone=data_set.get("action") == "Delete")
        yield from records(read.items(data_set), read.record, read.name)


def _flow(links: Sequence[Mapping[str, Any]]) -> tuple[str | None, str | None]:
    """The agency in lower case, without its departments, and the dataflow."""
    for link in links:
        found = _FLOW.search(f"{link.get('urn') or ''} {link.get('href') or ''}")
        if found is not None:
            agency, flow = found[1] or found[3], found[2] or found[4]
            return agency.partition(".")[0].lower(), flow
    return None, None


def _sender(head: Mapping[str, Any]) -> str | None:
    sender = head.get("sender") or {}
    told = (sender[0] if isinstance(sender, list) else sender).get("id")
    return None if told is None else str(told).partition(".")[0].lower()


class _Reader:
    """The observations of a data set, read by its structure."""

    def __init__(
        self, structure: Mapping[str, Any], provider: str, flow: str | None, *, is_gone: bool
    ) -> None:
        dimensions, attributes = structure["dimensions"], structure.get("attributes") or {}
        levels = ("dataSet", "series", "observation")
        whole = [each for level in levels for each in dimensions.get(level) or ()]
        called = _called(whole)
        self.dimensions = [_level(dimensions, level, called) for level in levels]
        self.attributes = [_level(attributes, level, _called(attributes.get(level))) for level in levels]
        in_key = sorted(whole, key=lambda each: each.get("keyPosition", len(whole)))
        self.series = [called[each["id"]] for each in in_key if called[each["id"]] not in _APART]
        self.measures = len((structure.get("measures") or {}).get("observation") or "1")
        self.provider, self.flow, self.is_gone = provider, flow, is_gone


def _called(components: Sequence[Mapping[str, Any]] | None) -> dict[str, str]:
    """What each is called here; of several that would be called the same only the first is."""
    called: dict[str, str] = {}
    for each in components or ():
        roles = each.get("roles") or [each.get("role")]
        names = (_CALLED.get(str(name).upper()) for name in (*roles, each["id"]))
        known = next(filter(None, names), each["id"])
        called[each["id"]] = each["id"] if known in called.values() else known
    return called
