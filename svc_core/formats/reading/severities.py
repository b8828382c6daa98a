"""Rates harm: the level of what a source says of it, by the bounds of `severities.tsv`.

Rule: what the table does not name rates nothing: no status, no tone, no default.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from svc_core import data
from svc_core.formats.model import Members

_UNRATED = "-"


def severity_level(scale: str, value: Any) -> str | None:
    """The level of a word or number on a scale of the table; None where that rates nothing."""
    bounds = _scales().get(scale, {})
    if isinstance(value, str) or value is None:
        return bounds.get(str(value).casefold())
    floors = [floor for floor in bounds if isinstance(floor, float) and floor <= value]
    level = bounds[max(floors)] if floors else _UNRATED
    return None if level == _UNRATED else level


def severity_members(provider: str, scale: str, value: Any) -> Members:
    """The members `severity` and `severityBasis` of what a source says; empty for no level."""
    level = severity_level(scale, value)
    basis = {"provider": provider, "scale": scale, "value": value}
    return {} if level is None else {"severity": level, "severityBasis": basis}


@cache
def _scales() -> Mapping[str, Mapping[str | float, str]]:
    """The level of each bound, by scale; a bound is a word of the source, or a least number."""
    scales: dict[str, dict[str | float, str]] = {}
    for scale, unit, bound, level, _ in data.table_rows("severities.tsv"):
        scales.setdefault(scale, {})[float(bound) if unit == "1" else bound] = level
    return scales
