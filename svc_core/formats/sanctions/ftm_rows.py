"""Makes records of FollowTheMoney entities: parties, and relations between them."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from attrs import evolve

from svc_core.formats.model import Record, RecordRefused
from svc_core.formats.reading.entity_keys import entity
from svc_core.formats.reading.relation_records import evidence_links, relation_record
from svc_core.formats.reading.values import (
    country,
    country_members,
    moment,
    number,
    require,
    text_member,
    web_url,
)
from svc_core.formats.sanctions import ftm_model as ftm
from svc_core.formats.sanctions.ftm_model import CollectionIndex, Entity, Thing, things

_PERCENTAGE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%?")
_COUNTRIES = ("jurisdiction", "mainCountry", "nationality", "citizenship", "country", "flag")
_PART = "ftm-part"  # which names no entity, but joins what is said of one
_AMOUNTS = {"amountEur": "EUR", "amountUsd": "USD"}


def entity_records(index: CollectionIndex, source: Entity) -> Iterator[Record]:
    """Yields the records of an entity and of the entities nested in it.

    Raises:
        RecordRefused: its schema becomes no row, or it lacks a member that its row needs.
    """
    for thing in things(source):
        if thing.schema in ftm.TYPES:
            yield _party(index, thing)
        elif thing.schema in ftm.EDGES:
            yield from _relations(index, thing)
        elif thing.source is source and thing.schema not in ftm.SHARED:
            raise RecordRefused("is of a schema that no row shows")


def withdrawals(entity: Entity) -> Iterator[Record]:
    """Yields the withdrawals of a deleted entity: of a party and a relation where it has no schema.

    Raises:
        RecordRefused: the entity has no id.
    """
    (*_, thing) = things(entity)
    kind = entity.get("schema")
    for resource, scheme, schemas in (
        ("entity", "ftm", ftm.TYPES),
        ("relation", "ftm", ftm.EDGES),
        ("entity", _PART, ftm.PARTS),
    ):
        if kind is None or kind in schemas:
            key = f"{scheme}:{thing.id}"
            yield Record(resource, key, {}, record_id=thing.id, is_withdrawn=True)


def part_record(thing: Thing) -> Record:
    """What a listing or a paper says of its party, under its own id.

    Raises:
        RecordRefused: it names no party.
    """
    party = require(thing.first(ftm.SHARED[thing.schema]), "a party")
    index = CollectionIndex()
    index.note(thing)
    papers = list(index.identifiers(Thing(party, "", {}, {})))
    members = {"sanctions": index.listings(party), "identifiers": papers or None}
    key = f"{_PART}:{thing.id}"
    return Record("entity", key, members, other_keys=(f"ftm:{party}",), **_provenance(thing))


def _party(index: CollectionIndex, thing: Thing) -> Record:
    names = thing.values("name", "alias", "previousName")
    caption = thing.source.get("caption") or next(iter(names), None)
    name = require(text_member(caption, 1_000), "a name")
    start, end = thing.first("incorporationDate"), thing.first("dissolutionDate")
    no_market = {"exchangeName": None, "mic": None}
    tickers = [{"ticker": ticker, **no_market} for ticker in thing.values("ticker")]
    members = {
        "type": ftm.TYPES[thing.schema],
        "name": name,
        "aliases": [alias for alias in names if alias != name],
        "weakAliases": thing.values("weakAlias"),
        "description": text_member(thing.first("summary", "notes", "description")),
        "jurisdiction": country(thing.first("jurisdiction"), "alpha2"),
        "countryCodes": country_members(thing.values(*_COUNTRIES), "alpha2"),
        "status": "inactive" if end else None,
        "listings": tickers or None,
        "sanctions": index.listings(thing.id),
        "topics": thing.values("topics"),
        "validity": {"from": start, "to": end} if start or end else None,
        "birthDates": thing.values("birthDate") or None,
        "birthPlaces": thing.values("birthPlace") or None,
        "gender": thing.first("gender"),
        "addresses": list(index.addresses(thing)),
        "identifiers": list(index.identifiers(thing)),
    }
    merged_keys = [f"ftm:{id_}" for id_ in thing.referents]
    return entity(index.keys(thing.id), members, merged_keys, **_provenance(thing))


def _relations(around: CollectionIndex, thing: Thing) -> Iterator[Record]:
    kind, source, target, is_directed = ftm.EDGES[thing.schema]
    sources, targets = (require(thing.values(end) or None, end) for end in (source, target))
    currencies = {"amount": thing.first("currency"), **_AMOUNTS}
    amounts = ((number(thing.first(name)), currency) for name, currency in currencies.items())
    amount, currency = next((pair for pair in amounts if pair[0] is not None), (None, None))
    percentage = _PERCENTAGE.fullmatch(thing.first("percentage") or "")
    members = {
        "validFrom": thing.first("startDate", "date"),
        "validTo": thing.first("endDate"),
        "attributes": {
            "role": thing.first("role", "relationship", "status"),
            "percentage": percentage and number(percentage[1]),
            "amount": amount,
            "currency": currency,
        },
        "evidence": evidence_links(thing.values("sourceUrl")),
    }
    names: tuple[str, ...] = (f"ftm:{thing.id}",)
    for ends in product(sources, targets):
        keys = [around.keys(end)[0] for end in ends]
        record = relation_record(kind, keys, members, is_directed=is_directed, **_provenance(thing))
        # Several payments between the same two parties are several rows.
        key = f"{record.key}|{thing.id}" if kind == "paid" else record.key
        yield evolve(record, key=key, other_keys=names)
        names = ()  # of the rows of one relation only the first has its id


def _provenance(thing: Thing) -> dict[str, Any]:
    pages = (web_url(url) for url in thing.values("sourceUrl"))
    stamp = moment(thing.source.get("last_change"))
    return {"record_id": thing.id, "stamp": stamp, "url": next(filter(None, pages), None)}
