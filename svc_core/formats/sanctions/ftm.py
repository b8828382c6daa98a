"""Parses FollowTheMoney collections, one JSON object a line, and deltas of such a collection.

Rule 1: addresses, listings and papers of an entity may stand on any line, so all lines are indexed
        before the first record is made.
Rule 2: a line that cannot be read is rejected; a broken last line means that the document is cut.
Rule 3: a deletion may have nothing but an id, which is then that of a party or of a relation.
"""

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from attrs import evolve

from svc_core.formats.model import (
    FAULTS,
    Contents,
    DocumentRefused,
    Metadata,
    Origin,
    Record,
    RecordRefused,
)
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import moment, record_list
from svc_core.formats.sanctions.ftm_model import CollectionIndex, things
from svc_core.formats.sanctions.ftm_rows import entity_records, withdrawals

_CHANGES = frozenset({"ADD", "MOD", "DEL"})


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise RecordRefused("is no JSON object")
    return value


def _first(body: Body) -> dict[str, Any]:
    """The object on the first line; an empty one where there is none."""
    if isinstance(body.json, dict):
        return body.json
    return _object(body.text.partition("\n")[0]) if body.head.startswith("{") else {}


def _lines(body: Body) -> list[str]:
    # A separator of lines within a text (U+2028) ends no line.
    lines = [line for line in body.text.split("\n") if line.strip()]
    try:
        _object(lines[-1])
    except RecordRefused as cut:
        raise DocumentRefused("truncated", "The document ends within a line.") from cut
    return lines


def _parse(body: Body, _: Origin) -> Contents:
    lines, index, is_delta = _lines(body), CollectionIndex(), "op" in _first(body)
    for line in lines:
        with suppress(*FAULTS):  # its record says what is wrong
            value = _object(line)
            for thing in things(value["entity"] if is_delta else value):
                index.note(thing)
    # A collection without its latest change is not older, so `last_change` only dates deltas.
    last_seen, last_change = index.latest.get("last_seen"), index.latest.get("last_change")
    yield Metadata(moment(last_seen or (last_change if is_delta else None)))
    make = _change_records if is_delta else entity_records
    yield from record_list(lines, lambda line: make(index, _object(line)))


def _change_records(index: CollectionIndex, value: dict[str, Any]) -> Iterator[Record]:
    change, entity = str(value["op"]), value["entity"]
    if change not in _CHANGES:
        raise RecordRefused("is a change of an unknown kind")
    if change == "DEL":
        yield from withdrawals(entity)
        return
    used_keys: set[str] = set()
    for record in entity_records(index, entity):
        # The id is the key, so that a deletion finds the record. Of the records of a relation with
        # several ends only the first can have it.
        key = f"ftm:{record.record_id}"
        other_keys = (alias for alias in (record.key, *record.other_keys) if alias != key)
        yield record if key in used_keys else evolve(record, key=key, other_keys=tuple(other_keys))
        used_keys.add(key)


FTM = make_format("ftm", lambda body: {"id", "schema", "properties"} <= _first(body).keys(), _parse)

FTM_DELTA = make_format(
    "ftm-delta", lambda body: "entity" in _first(body) and _first(body)["op"] in _CHANGES, _parse
)
