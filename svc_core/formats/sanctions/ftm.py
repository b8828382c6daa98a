"""Parses FollowTheMoney collections, one JSON object a line, and deltas of such a collection.

Rule 1: addresses, listings and papers of an entity may stand on any line, so all lines are indexed
        before the first record is made.
Rule 2: a line that cannot be read is rejected; a broken last line means that the document is cut.
Rule 3: a deletion may have nothing but an id, which is then that of a party, of a relation, or of
        what another line says of a party.
Rule 4: a change is as old as its delta, whenever its entity changed: the version in the address of
        the delta says so, else when its entities were last seen, else the order of reading.
Rule 5: a delta has a party without the lines about it that did not change, so a listing or a paper
        on a line of its own is a statement of its own, until it is deleted.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import partial
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
from svc_core.formats.sanctions.ftm_model import PARTS, CollectionIndex, things
from svc_core.formats.sanctions.ftm_rows import entity_records, part_record, withdrawals

_CHANGES = frozenset({"ADD", "MOD", "DEL"})
# As OpenSanctions names the versions of a collection: their instant and a tag.
_VERSION = re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)-[a-z]{3}(?![a-z])")
_OPTIONS = {"provider": "who publishes the collection: a delta changes what its provider said"}


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


def _parse(body: Body, origin: Origin) -> Contents:
    lines, index, is_delta = _lines(body), CollectionIndex(), "op" in _first(body)
    for line in lines:
        with suppress(*FAULTS):  # its record says what is wrong
            value = _object(line)
            for thing in things(value["entity"] if is_delta else value):
                index.note(thing)
    version = _VERSION.search(f"{origin.base_url} {origin.name}") if is_delta else None
    stamp = moment("{}-{}-{}T{}:{}:{}".format(*version.groups()) if version else index.latest_seen)
    yield Metadata(stamp)
    if is_delta:
        changes = partial(_change_records, index, stamp)
        yield from record_list(lines, lambda line: changes(_object(line)))
    else:
        yield from record_list(lines, lambda line: entity_records(index, _object(line)))


def _change_records(
    index: CollectionIndex, stamp: datetime | None, value: dict[str, Any]
) -> Iterator[Record]:
    change, entity = str(value["op"]), value["entity"]
    if change not in _CHANGES:
        raise RecordRefused("is a change of an unknown kind")
    records = withdrawals(entity) if change == "DEL" else _new_records(index, entity)
    yield from (evolve(record, stamp=stamp) for record in records)


def _new_records(index: CollectionIndex, entity: dict[str, Any]) -> Iterator[Record]:
    *nested, own = things(entity)
    if own.schema in PARTS:
        yield part_record(own)
    inner = CollectionIndex()
    for thing in nested:
        inner.note(thing)
    used_keys: set[str] = set()
    for record in entity_records(index, entity):
        # The id is the key, so that a deletion finds the record. Of the records of a relation with
        # several ends only the first can have it.
        key, members = f"ftm:{record.record_id}", record.members
        if record.resource == "entity":
            members = {**members, "sanctions": inner.listings(str(record.record_id))}
        names = [name for name in (record.key, *record.other_keys) if name != key]
        new_key, *other_keys = (record.key,) if key in used_keys else (key, *names)
        yield evolve(record, key=new_key, other_keys=tuple(other_keys), members=members)
        used_keys.add(key)


FTM = make_format(
    "ftm",
    lambda body: {"id", "schema", "properties"} <= _first(body).keys(),
    _parse,
    options=_OPTIONS,
)

FTM_DELTA = make_format(
    "ftm-delta",
    lambda body: "entity" in _first(body) and _first(body)["op"] in _CHANGES,
    _parse,
    options=_OPTIONS,
)
