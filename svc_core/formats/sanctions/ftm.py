"""Collections of FollowTheMoney, one JSON object a line, and the changes of such a collection.

Rule 1: what is told with another entity (addresses, listings, papers) may stand on any line: all
        are gone through once before any is told.
Rule 2: a line that cannot be read is left out; the last one shows that a document is whole.
Rule 3: a deletion may name no more than the id, which then is that of a party or of a relation.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from attrs import evolve

from svc_core.formats.model import FAULTS, About, Contents, DocumentRefused, Given, Record, Unusable
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import moment, records
from svc_core.formats.sanctions.ftm_model import Around, things
from svc_core.formats.sanctions.ftm_rows import gone, told

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
    return _object(body.text.partition("\n")[0]) if body.head.startswith("{") else {}


def _lines(body: Body) -> list[str]:
    # A separator of lines within a text (U+2028) ends no line.
    lines = [line for line in body.text.split("\n") if line.strip()]
    try:
        _object(lines[-1])
    except Unusable as cut:
        raise DocumentRefused("truncated", "The document ends within a line.") from cut
    return lines


def _parse(body: Body, _: Given) -> Contents:
    lines, around, is_delta = _lines(body), Around(), "op" in _first(body)
    for line in lines:
        with suppress(*FAULTS):  # its record says what is wrong
            value = _object(line)
            for thing in things(value["entity"] if is_delta else value):
                around.note(thing)
    # A collection that lost what changed last is no older one; changes are, by what they change.
    seen, changed = around.latest.get("last_seen"), around.latest.get("last_change")
    yield About(moment(seen or (changed if is_delta else None)))
    make = _changed if is_delta else told
    yield from records(lines, lambda line: make(around, _object(line)))


def _changed(around: Around, value: dict[str, Any]) -> Iterator[Record]:
    change, entity = str(value["op"]), value["entity"]
    if change not in _CHANGES:
        raise Unusable("is a change of an unknown kind")
    if change == "DEL":
        yield from gone(entity)
        return
    kept: set[str] = set()
    for record in told(around, entity):
        # Kept by its id, so that a deletion finds it; of one with several ends the others are not.
        key = f"ftm:{record.record_id}"
        also = (one for one in (record.key, *record.also) if one != key)
        yield record if key in kept else evolve(record, key=key, also=tuple(also))
        kept.add(key)


FTM = make_format("ftm", lambda body: {"id", "schema", "properties"} <= _first(body).keys(), _parse)

FTM_DELTA = make_format(
    "ftm-delta", lambda body: "entity" in _first(body) and _first(body)["op"] in _CHANGES, _parse
)
