"""Answers of GLEIF's API (JSON:API): legal entities, who consolidates them, their securities.

A list of children tells of its parent only in the address of its own links.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

from svc_core.sources import leis
from svc_core.sources.body import Body
from svc_core.sources.identifiers import isin
from svc_core.sources.model import About, Given, Record, Told
from svc_core.sources.values import designator, moment, records, required

Item = dict[str, Any]

_CHILDREN = re.compile(r"/lei-records/([0-9A-Z]{20})/(direct|ultimate)-children")
_KINDS = {"direct": "IS_DIRECTLY_CONSOLIDATED_BY", "ultimate": "IS_ULTIMATELY_CONSOLIDATED_BY"}


def _data(body: Body) -> list[Any]:
    data = body.json.get("data") if body.has("data") else None
    return data if isinstance(data, list) else [data]


def _recognise(body: Body) -> bool:
    first = next(iter(_data(body)), None)
    if isinstance(first, dict):
        return first.get("type") in [*_READERS, "isins"]
    meta = body.json.get("meta") if body.has("data") else None
    return isinstance(meta, dict) and "goldenCopy" in meta


def _parse(body: Body, _: Given) -> Told:
    told, securities = body.whole_json(), defaultdict[str, list[str]](list)
    yield About(stamp=moment((told.get("meta") or {}).get("goldenCopy", {}).get("publishDate")))
    parent = _CHILDREN.search(" ".join(map(str, (told.get("links") or {}).values())))
    data = [one for one in _data(body) if one is not None]
    yield from records(data, partial(_read, parent, securities), lambda item: item["id"])
    for number, isins in securities.items():
        known = [designator("isin", one, "gleif") for one in dict.fromkeys(isins)]
        said = {"designators": [designator("lei", number, "gleif"), *known]}
        yield Record("entity", f"lei:{number}", said, record_id=number, url=leis.page(number))


def _read(
    parent: re.Match[str] | None, securities: dict[str, list[str]], item: Item
) -> Iterator[Record]:
    told = item["attributes"]
    if item["type"] == "isins":
        one = required(isin(told["isin"]), "an ISIN with a right check digit")
        securities[leis.code(told["lei"])].append(one)
        return
    yield required(_READERS.get(item["type"]), "a type that is known")(told)
    if parent is not None:
        yield leis.relation(told["lei"], parent[1], _KINDS[parent[2]])


def _entity(told: Item) -> Record:
    entity, registration = told["entity"], told.get("registration") or {}
    named = [*(entity.get("otherNames") or ()), *(entity.get("transliteratedOtherNames") or ())]
    succeeded = [*(entity.get("successorEntities") or ()), entity.get("successorEntity") or {}]
    facts = {
        "category": entity.get("category"),
        "status": entity.get("status"),
        "jurisdiction": entity.get("jurisdiction"),
        "legalCountry": (entity.get("legalAddress") or {}).get("country"),
        "country": (entity.get("headquartersAddress") or {}).get("country"),
        "created": entity.get("creationDate"),
        "expired": (entity.get("expiration") or {}).get("date"),
    }
    return leis.entity(
        leis.code(told["lei"]),
        [name.get("name") for name in (entity["legalName"] or {}, *named)],
        facts,
        bics=told.get("bic") or (),
        merged=any(one.get("lei") or one.get("name") for one in succeeded),
        stamp=moment(registration.get("lastUpdateDate")),
    )


def _relation(attributes: Item) -> Record:
    told, registration = attributes["relationship"], attributes.get("registration") or {}
    kinds = {one.get("type"): one for one in told.get("periods") or ()}
    period = kinds.get("RELATIONSHIP_PERIOD") or {}
    return leis.relation(
        told["startNode"]["id"],
        told["endNode"]["id"],
        told["type"],
        status=told.get("status"),
        since=period.get("startDate"),
        until=period.get("endDate"),
        stamp=moment(registration.get("lastUpdateDate")),
    )


_READERS = {"lei-records": _entity, "relationship-records": _relation}


GLEIF = leis.gleif_format(
    id="gleif",
    title="GLEIF API",
    recognise=_recognise,
    parse=_parse,
)
