"""Collections of FollowTheMoney, one JSON object a line, and the changes of such a collection.

Rule 1: what is told with another entity (addresses, listings, papers) may stand on any line: all
        are gone through once before any is told.
Rule 2: a line that cannot be read is left out; the last one shows that a document is whole.
Rule 3: a deletion may name no more than the id, which then is that of a party or of a relation.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from attrs import evolve

from svc_core.sources.body import Body
from svc_core.sources.ftm_model import Around, things
from svc_core.sources.ftm_rows import gone, told
from svc_core.sources.model import About, DocumentRefused, Format, Given, Record, Told, Unusable
from svc_core.sources.values import moment, records

_CHANGES = frozenset({"ADD", "MOD", "DEL"})


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Unusable("is no JSON object")
    return value


def _first(body: Body) -> dict[str, Any]:
    """The first object of lines; of anything else an empty one."""
    if isinstance(body.json, dict):
        return body.json
    try:
        return _object(body.text.partition("\n")[0]) if body.head.startswith("{") else {}
    except Unusable:
        return {}


def _is_entity(value: object) -> bool:
    return isinstance(value, dict) and {"id", "schema", "properties"} <= value.keys()


def _is_change(value: dict[str, Any]) -> bool:
    return str(value.get("op")) in _CHANGES and isinstance(value.get("entity"), dict)


def _lines(body: Body) -> list[str]:
    # A separator of lines within a text (U+2028) ends no line.
    lines = [line for line in body.text.split("\n") if line.strip()]
    try:
        _object(lines[-1])
    except Unusable as cut:
        raise DocumentRefused("truncated", "The document ends within a line.") from cut
    return lines


def _parse(
    make: Callable[[Around, dict[str, Any]], Iterator[Record]],
    member: str | None,
    body: Body,
    _: Given,
) -> Told:
    lines, around = _lines(body), Around()
    for line in lines:
        _note(around, line, member)
    # A collection that lost what changed last is no older one; changes are, by what they change.
    seen, changed = around.latest.get("last_seen"), around.latest.get("last_change")
    yield About(stamp=moment(seen or (changed if member else None)))
    yield from records(lines, lambda line: make(around, _object(line)))


def _note(around: Around, line: str, member: str | None) -> None:
    try:
        value = _object(line)
        for thing in things(value if member is None else value[member]):
            around.note(thing)
    except (Unusable, KeyError, AttributeError):
        return  # the record of this line says what is wrong with it


def _changed(around: Around, value: dict[str, Any]) -> Iterator[Record]:
    change, entity = str(value["op"]), value["entity"]
    if change not in _CHANGES:
        raise Unusable("is a change of an unknown kind")
    if change == "DEL":
        yield from gone(entity)
        return
    for record in told(around, entity):
        # Kept by its id, so that a deletion finds it.
        key = f"ftm:{record.record_id}"
        also = (one for one in (record.key, *record.also) if one != key)
        yield evolve(record, key=key, also=tuple(also))


_COMMON: dict[str, Any] = {
    "provider": "opensanctions",
    "brings": ("entity", "relation"),
    "cadence_seconds": 21_600,
}

FTM = Format(
    id="ftm",
    title="FollowTheMoney entities",
    kind="snapshot",
    recognise=lambda body: _is_entity(_first(body)),
    parse=partial(_parse, told, None),
    **_COMMON,
)

FTM_DELTA = Format(
    id="ftm-delta",
    title="Changes of FollowTheMoney entities",
    kind="delta",
    recognise=lambda body: _is_change(_first(body)),
    parse=partial(_parse, _changed, "entity"),
    **_COMMON,
)
