"""Rows of entities of FollowTheMoney: parties, and what joins two of them."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from attrs import evolve

from svc_core.formats.model import Record, Unusable
from svc_core.formats.reading.parties import entity
from svc_core.formats.reading.relations import evidence_links, relation
from svc_core.formats.reading.values import (
    countries,
    country,
    moment,
    number,
    require,
    text,
    web_url,
)
from svc_core.formats.sanctions.ftm_model import EDGES, SHARED, TYPES, Around, Entity, Thing, things

_PERCENTAGE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%?")
_COUNTRIES = ("jurisdiction", "mainCountry", "nationality", "citizenship", "country", "flag")
_AMOUNTS = {"amountEur": "EUR", "amountUsd": "USD"}


def told(around: Around, whole: Entity) -> Iterator[Record]:
    """What an entity says of rows, with what is written out inside of it.

    Raises:
        Unusable: no row shows it, or it lacks what its row needs.
    """
    for thing in things(whole):
        if thing.schema in TYPES:
            yield _party(around, thing)
        elif thing.schema in EDGES:
            yield from _relations(around, thing)
        elif thing.whole is whole and thing.schema not in SHARED:
            raise Unusable("is of a schema that no row shows")


def gone(entity: Entity) -> Iterator[Record]:
    """What is no more: of an entity that names no schema a party or a relation.

    Raises:
        Unusable: it has no id.
    """
    (*_, thing) = things(entity)
    key, kind = f"ftm:{thing.id}", entity.get("schema")
    for resource, schemas in (("entity", TYPES), ("relation", EDGES)):
        if kind is None or kind in schemas:
            yield Record(resource, key, {}, record_id=thing.id, gone=True)


def _party(around: Around, thing: Thing) -> Record:
    named = thing.all("name", "alias", "previousName")
    caption = thing.whole.get("caption") or next(iter(named), None)
    name = require(text(caption, 1_000), "a name")
    founded, ended = thing.first("incorporationDate"), thing.first("dissolutionDate")
    tickers = [{"ticker": one, "exchangeName": None, "mic": None} for one in thing.all("ticker")]
    said = {
        "type": TYPES[thing.schema],
        "name": name,
        "aliases": [one for one in named if one != name],
        "weakAliases": thing.all("weakAlias"),
        "description": text(thing.first("summary", "notes", "description")),
        "jurisdiction": country(thing.first("jurisdiction"), "alpha2"),
        "countryCodes": countries(thing.all(*_COUNTRIES), "alpha2"),
        "status": "inactive" if ended else None,
        "listings": tickers or None,
        "sanctions": around.listings(thing.id),
        "topics": thing.all("topics"),
        "validity": {"from": founded, "to": ended} if founded or ended else None,
        "birthDates": thing.all("birthDate") or None,
        "birthPlaces": thing.all("birthPlace") or None,
        "gender": thing.first("gender"),
        "addresses": list(around.addresses(thing)),
        "identifiers": list(around.identifiers(thing)),
    }
    merged = [f"ftm:{one}" for one in thing.referents]
    return entity(around.keys(thing.id), said, merged, **_from(thing))


def _relations(around: Around, thing: Thing) -> Iterator[Record]:
    kind, source, target, is_directed = EDGES[thing.schema]
    sources, targets = (require(thing.all(end) or None, end) for end in (source, target))
    currencies = {"amount": thing.first("currency"), **_AMOUNTS}
    amounts = ((number(thing.first(name)), currency) for name, currency in currencies.items())
    amount, currency = next((one for one in amounts if one[0] is not None), (None, None))
    percentage = _PERCENTAGE.fullmatch(thing.first("percentage") or "")
    said = {
        "validFrom": thing.first("startDate", "date"),
        "validTo": thing.first("endDate"),
        "attributes": {
            "role": thing.first("role", "relationship", "status"),
            "percentage": percentage and number(percentage[1]),
            "amount": amount,
            "currency": currency,
        },
        "evidence": evidence_links(thing.all("sourceUrl")),
    }
    for ends in product(sources, targets):
        keys = [around.keys(end)[0] for end in ends]
        made = relation(kind, keys, said, is_directed=is_directed, **_from(thing))
        # Of payments between the same two each is one of its own.
        yield evolve(made, key=f"{made.key}|{thing.id}") if kind == "paid" else made


def _from(thing: Thing) -> dict[str, Any]:
    pages = (web_url(one) for one in thing.all("sourceUrl"))
    stamp = moment(thing.whole.get("last_change"))
    return {"record_id": thing.id, "stamp": stamp, "url": next(filter(None, pages), None)}
