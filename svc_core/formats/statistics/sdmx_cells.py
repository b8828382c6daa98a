"""Reads the observations of an SDMX-JSON data set, whatever its layout.

A key such as `0:1` holds places in the lists of values of the dimensions of its level; the levels
are those that are the same in the whole data set, in a series, and in one observation.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core.formats.reading.values import as_list

Choices = list[tuple[str, Sequence[Any]]]
"""The dimensions or attributes of one level: the local name of each, and its values."""

Components = Sequence[Mapping[str, Any]] | None
"""The dimensions or attributes of one level, as a document has them."""

Selection = dict[str, Mapping[str, Any]]
"""The chosen value of each dimension or attribute, by local name."""

Cell = tuple[Selection, Selection, Any]
"""One observation: the values of its dimensions, of its attributes, and its own."""

_LEVELS = ("dataSet", "series", "observation")

_NAMES = {
    "time": "TIME_PERIOD TIME",
    "frequency": "FREQ FREQUENCY",
    "area": "REF_AREA GEO LOCATION COUNTRY AREA BORROWERS_CTY",
    "status": "OBS_STATUS",
    "title": "TITLE",
    "unit": "UNIT UNIT_MEASURE",
    "multiplier": "UNIT_MULT POWERCODE",
    "adjustment": "ADJUSTMENT SEASONAL_ADJUST SEASONAL_ADJUSTMENT S_ADJUST",
}
_LOCAL_NAMES = {name: local for local, names in _NAMES.items() for name in names.split()}
"""Local names of dimensions and attributes, by their role or by their name at an agency."""

_NON_CODE = frozenset({"time", "frequency", "area"})


class Structure:
    """The structure of a data set: what the indexes in its keys and attributes stand for."""

    def __init__(self, description: Mapping[str, Any]) -> None:
        dimensions, attributes = description["dimensions"], description.get("attributes") or {}
        whole = [part for level in _LEVELS for part in dimensions.get(level) or ()]
        names = _local_names(whole)
        self.dimensions = {level: _choices(dimensions.get(level), names) for level in _LEVELS}
        self.attributes = {level: _choices(attributes.get(level)) for level in _LEVELS}
        in_key = sorted(whole, key=lambda part: part.get("keyPosition", len(whole)))
        self.code_names = [name for part in in_key if (name := names[part["id"]]) not in _NON_CODE]
        self.measures = len((description.get("measures") or {}).get("observation") or "1")


def _local_names(components: Components) -> dict[str, str]:
    """The local name of each component; of several with the same name only the first gets it."""
    local_names: dict[str, str] = {}
    for part in components or ():
        roles = part.get("roles") or [part.get("role")]
        names = (_LOCAL_NAMES.get(str(name).upper()) for name in (*roles, part["id"]))
        local = next(filter(None, names), part["id"])
        local_names[part["id"]] = part["id"] if local in local_names.values() else local
    return local_names


def _choices(components: Components, local_names: Mapping[str, str] | None = None) -> Choices:
    names = local_names or _local_names(components)
    return [(names[part["id"]], part.get("values") or ()) for part in components or ()]


def _select(choices: Choices, places: Sequence[Any]) -> Selection:
    """The values at these indexes; what is no index is the value itself."""
    selection: Selection = {}
    for (name, values), place in zip(choices, places, strict=False):
        if not values or not isinstance(place, int):
            selection |= {} if place is None else {name: {"id": place}}
        elif 0 <= place < len(values):
            selection[name] = values[place]
    return selection


def data_set_cells(
    data_set: Mapping[str, Any], structure: Structure, *, is_delete: bool
) -> Iterator[Cell]:
    """Each observation: the values of its dimensions, of its attributes, and its own."""
    dimensions, attributes = structure.dimensions, structure.attributes
    flat = dimensions["series"] + dimensions["observation"]
    constants = _select(dimensions["dataSet"], [0] * len(dimensions["dataSet"]))
    shared = _select(attributes["dataSet"], data_set.get("attributes") or ())
    groups = dict(data_set.get("series") or {})
    if "observations" in data_set:
        groups[""] = {"observations": data_set["observations"]}
    for key, group in groups.items():
        in_series = constants | _select(dimensions["series"], _indexes(key))
        series_attrs = shared | _select(attributes["series"], group.get("attributes") or ())
        level = dimensions["observation"] if key else flat
        # A deletion may name no cell; elsewhere an empty cell states nothing.
        for place, cell in (group.get("observations") or ({"": None} if is_delete else {})).items():
            values = as_list(cell)
            if values or is_delete:
                own = _select(attributes["observation"], values[structure.measures :])
                in_cell = _select(level, _indexes(place))
                yield in_series | in_cell, series_attrs | own, values[0] if values else None


def _indexes(key: str) -> list[Any]:
    return [int(part) if part.isdecimal() else None for part in key.split(":")]


def code(value: Mapping[str, Any] | None) -> str:
    """The code of a value, else its text; empty for a missing value."""
    item = value or {}
    return str(item.get("id") or item.get("value") or item.get("name") or "")


def label(value: Mapping[str, Any] | None) -> str:
    """The label of a value for people; empty for a missing value."""
    item = value or {}
    name = item.get("name") or item.get("names") or item.get("value") or item.get("id") or ""
    return str(next(iter(name.values()), "") if isinstance(name, dict) else name)
