"""The cells of an SDMX-JSON data set, whatever its layout.

A key such as `0:1` holds places in the lists of values of the dimensions of its level; the levels
are those that are the same in the whole data set, in a series, and in one observation.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core.formats.reading.values import as_list

Choices = list[tuple[str, Sequence[Any]]]
"""The dimensions or attributes of one level: what each is called here, and its values."""

Components = Sequence[Mapping[str, Any]] | None
"""The dimensions or attributes of one level, as a document has them."""

Chosen = dict[str, Mapping[str, Any]]
"""The values that were chosen of them."""

Cell = tuple[Chosen, Chosen, Any]
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
_CALLED = {name: ours for ours, names in _NAMES.items() for name in names.split()}
"""What a dimension or an attribute is called here, by its role or by its name at an agency."""

_APART = frozenset({"time", "frequency", "area"})


class Structure:
    """What the numbers in keys and attributes of a data set stand for."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        dimensions, attributes = told["dimensions"], told.get("attributes") or {}
        whole = [one for level in _LEVELS for one in dimensions.get(level) or ()]
        called = _called(whole)
        self.dimensions = {level: _choices(dimensions.get(level), called) for level in _LEVELS}
        self.attributes = {level: _choices(attributes.get(level)) for level in _LEVELS}
        in_key = sorted(whole, key=lambda one: one.get("keyPosition", len(whole)))
        self.code = [name for one in in_key if (name := called[one["id"]]) not in _APART]
        self.measures = len((told.get("measures") or {}).get("observation") or "1")


def _called(components: Components) -> dict[str, str]:
    """What each is called here; of several that would be called the same only the first is."""
    called: dict[str, str] = {}
    for one in components or ():
        roles = one.get("roles") or [one.get("role")]
        names = (_CALLED.get(str(name).upper()) for name in (*roles, one["id"]))
        known = next(filter(None, names), one["id"])
        called[one["id"]] = one["id"] if known in called.values() else known
    return called


def _choices(components: Components, called: Mapping[str, str] | None = None) -> Choices:
    names = called or _called(components)
    return [(names[one["id"]], one.get("values") or ()) for one in components or ()]


def _chosen(choices: Choices, places: Sequence[Any]) -> Chosen:
    """The values at these places; one that is no place among them is the value itself."""
    found: Chosen = {}
    for (name, values), place in zip(choices, places, strict=False):
        if not values or not isinstance(place, int):
            found |= {} if place is None else {name: {"id": place}}
        elif 0 <= place < len(values):
            found[name] = values[place]
    return found


def cells(data_set: Mapping[str, Any], structure: Structure, *, is_gone: bool) -> Iterator[Cell]:
    """Each observation: the values of its dimensions, of its attributes, and its own."""
    dimensions, attributes = structure.dimensions, structure.attributes
    flat = dimensions["series"] + dimensions["observation"]
    fixed = _chosen(dimensions["dataSet"], [0] * len(dimensions["dataSet"]))
    shared = _chosen(attributes["dataSet"], data_set.get("attributes") or ())
    groups = dict(data_set.get("series") or {})
    if "observations" in data_set:
        groups[""] = {"observations": data_set["observations"]}
    for key, group in groups.items():
        by_series = fixed | _chosen(dimensions["series"], _places(key))
        told = shared | _chosen(attributes["series"], group.get("attributes") or ())
        level = dimensions["observation"] if key else flat
        # What deletes may name no cell; elsewhere a cell without anything tells nothing.
        for place, cell in (group.get("observations") or ({"": None} if is_gone else {})).items():
            values = as_list(cell)
            if values or is_gone:
                own = _chosen(attributes["observation"], values[structure.measures :])
                where = _chosen(level, _places(place))
                yield by_series | where, told | own, values[0] if values else None


def _places(key: str) -> list[Any]:
    return [int(part) if part.isdecimal() else None for part in key.split(":")]


def code(value: Mapping[str, Any] | None) -> str:
    """The code of a value, else its text; empty for none."""
    told = value or {}
    return str(told.get("id") or told.get("value") or told.get("name") or "")


def label(value: Mapping[str, Any] | None) -> str:
    """What people call a value; empty for none."""
    told = value or {}
    name = told.get("name") or told.get("names") or told.get("value") or told.get("id") or ""
    return str(next(iter(name.values()), "") if isinstance(name, dict) else name)
