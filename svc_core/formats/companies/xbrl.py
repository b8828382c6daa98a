"""Maps concepts and units of financial reports (XBRL) to metrics, currencies and UCUM units."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from attrs import frozen

from svc_core import data
from svc_core.formats.reading.codes import currency
from svc_core.formats.reading.values import number, require, text_member

_UNITS = {"shares": "{share}", "pure": "1", "Year": "a", "Month": "mo", "Day": "d"}
"""UCUM units by the units of reports; any other unit becomes a UCUM annotation."""


@frozen
class Series:
    """The facts of one concept in one unit, with the members that they share and their metric.

    A substitute is a concept that is wider or narrower than its metric.
    """

    key: str
    metric: str | None
    is_substitute: bool
    members: dict[str, Any]
    facts: list[dict[str, Any]]


def metric_series(taxonomies: dict[str, Any]) -> Iterator[Series]:
    """Yields the series of all concepts, better concepts of a metric before worse ones.

    A part that has not the form of a taxonomy, a concept or a unit is passed on as a fact, so that
    it is rejected as one.
    """
    concepts = {
        f"{taxonomy}:{name}": ({"taxonomy": taxonomy, "name": name}, about)
        for taxonomy, group in taxonomies.items()
        for name, about in (group if isinstance(group, dict) else {"": group}).items()
    }
    ranked_names = [name for name in metrics() if name in concepts]
    for full_name in dict.fromkeys([*ranked_names, *concepts]):
        concept, about = concepts[full_name]
        description = about if isinstance(about, dict) else {"units": about}
        units = description.get("units")
        members = {"concept": concept | {"label": text_member(description.get("label"))}}
        for unit, facts in (units if isinstance(units, dict) else {"": [units]}).items():
            key = f"{concept['taxonomy']}|{concept['name']}|{unit}"
            fact_list: list[Any] = facts if isinstance(facts, list) else [facts]
            metric, is_substitute = metrics().get(full_name), full_name in substitutes()
            yield Series(key, metric, is_substitute, members | split_unit(unit), fact_list)


@cache
def metrics() -> dict[str, str]:
    """Canonical metrics by `taxonomy:Concept`, the best concepts of each metric first."""
    return {name: metric for metric, *cells in _table() for cell in cells for name in cell.split()}


@cache
def substitutes() -> frozenset[str]:
    """The concepts that are wider or narrower than their metric."""
    return frozenset(name for _, _, column in _table() for name in column.split())


def _table() -> list[tuple[str, str, str]]:
    rows = [line.split("\t") for line in data.table_lines("metrics.tsv")]
    return [(metric, *concepts.partition("|")[::2]) for metric, concepts in rows]


def split_unit(unit: str) -> dict[str, str | None]:
    """The members `currency` and `unit` (UCUM) of a unit such as `USD/shares`."""
    over, _, under = unit.partition("/")
    per = f"{_ucum(under)}-1" if under else None
    if currency(over) == over:
        return {"currency": over, "unit": per}
    return {"currency": None, "unit": f"{_ucum(over)}.{per}" if per else _ucum(over)}


def _ucum(unit: str) -> str:
    return _UNITS.get(unit) or f"{{{unit}}}"


def exact(raw: object) -> int | float:
    """A reported number; 5.0 becomes the whole number 5.

    Raises:
        RecordRefused: it is no number, or a whole number beyond ±(2^53 - 1).
    """
    value = require(number(raw), "a value")
    return require(number(int(value)), "") if value == int(value) else value
