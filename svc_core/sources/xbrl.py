"""Concepts and units of financial reports (XBRL), in the words of rows."""

from functools import cache

from svc_core import data

_UNITS = {"shares": "{share}", "pure": "1", "Year": "a", "Month": "mo", "Day": "d"}
"""UCUM units of what reports measure in; all others are annotations."""


@cache
def metrics() -> dict[str, str]:
    """The canonical metric of each `taxonomy:Concept` that states one, its best concepts first."""
    rows = [line.split("\t") for line in data.lines("metrics.tsv")]
    return {concept: metric for metric, concepts in rows for concept in concepts.split()}


@cache
def currencies() -> frozenset[str]:
    """The codes of ISO 4217."""
    return frozenset(" ".join(data.lines("currencies.txt")).split())


def measured_in(unit: str) -> dict[str, str | None]:
    """The currency and the UCUM unit of a unit such as `USD/shares`."""
    over, _, under = unit.partition("/")
    per = f"{_ucum(under)}-1" if under else None
    if over in currencies():
        return {"currency": over, "unit": per}
    return {"currency": None, "unit": f"{_ucum(over)}.{per}" if per else _ucum(over)}


def _ucum(unit: str) -> str:
    return _UNITS.get(unit) or f"{{{unit}}}"
