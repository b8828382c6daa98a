"""The demo's ledger: one subject with records of three days, some of which contradict.

An analyst opens it when withdrawals stop, learns of a court's decision a day later, and a reviewer
judges what contradicts. The record times are those days, so that it can be folded at each of them.
`data/story.json` has the records; a name in angle brackets stands for the id of an earlier one, or
for the digest of a document of the demo.
"""

import json
import re
from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import Any

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access.keys import ApiKey
from svc_core.base import instants
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import Entry
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_http.run.demo.demo_feeds import DemoDocument, demo_file
from svc_http.service.service_units import Service


@frozen
class DemoSubject:
    """The subject, and how many records tell of it."""

    subject_id: str
    records: int


async def append_demo_subject(
    service: Service, key: ApiKey, documents: Sequence[DemoDocument]
) -> DemoSubject:
    """Append what was recorded on each of the days, at its time and in its author's name."""
    actors = {
        "analyst": Actor(key.tenant, key_id=key.id),
        "reviewer": Actor(key.tenant, user_id=key.user_id),
    }
    names = {document.file_name: sha256(document.body).hexdigest() for document in documents}
    ids: dict[str, str] = {}
    for part in json.loads(demo_file("data/story.json", service.now())):
        entries = [_entry(row, {**names, **ids}) for row in part["entries"].values()]
        at_part = attrs.evolve(service, now=partial(instants.parse, part["at"]))
        new_ids = await at_part.write(key.tenant, _appending(actors[part["author"]], entries))
        ids |= zip(part["entries"], new_ids, strict=True)
    return DemoSubject(ids["kestrel"], len(ids))


def _entry(row: Any, names: dict[str, str]) -> Entry:
    text = re.sub("<([^<>]+)>", lambda name: names[name[1]], json.dumps(row))
    union: Any = Entry
    entry: Entry = wire.structure(union, json.loads(text))
    return entry


def _appending(author: Actor, entries: Sequence[Entry]) -> Any:
    async def unit(ctx: Context) -> tuple[str, ...]:
        records = await append_drafts(attrs.evolve(ctx, actor=author), entries)
        return tuple(record.id for record in records.records)

    return unit
