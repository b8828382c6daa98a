"""Answers of GLEIF's API (JSON:API): legal entities, who consolidates them, their securities.

A list of children tells of its parent only in the address of its own links.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

from svc_core.formats.companies import leis
from svc_core.formats.model import About, Contents, Given, Record
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.identifiers import isin
from svc_core.formats.reading.values import as_list, moment, records, require

Item = dict[str, Any]

_CHILDREN = re.compile(r"/lei-records/([0-9A-Z]{20})/(direct|ultimate)-children")


def _facts(told: Item, places: leis.Places) -> Item:
    return {name: _at(told, path) for name, (path, _) in places.items()}


def _at(told: Any, path: str) -> Any:
    """What stands at the end of a path of names; null where something on the way is."""
    for name in path.split("/"):
        told = (told or {}).get(name)
    return told


def _recognise(body: Body) -> bool:
    first = next(iter(as_list(body.json["data"])), None)
    if first is None:
        return "goldenCopy" in body.json["meta"]
    return first["type"] in [*_READERS, "isins"]


def _parse(body: Body, _: Given) -> Contents:
    told, securities = body.whole_json(), defaultdict[str, list[str]](list)
    yield About(stamp=moment(_at(told, "meta/goldenCopy/publishDate")))
    parent = _CHILDREN.search(" ".join(map(str, (told.get("links") or {}).values())))
    data = [one for one in as_list(told["data"]) if one is not None]
    yield from records(data, partial(_read, parent, securities), lambda item: item["id"])
    for number, isins in securities.items():
        yield leis.record(number, {}, [("isin", one) for one in isins])


def _read(
    parent: re.Match[str] | None, securities: dict[str, list[str]], item: Item
) -> Iterator[Record]:
    told = item["attributes"]
    if item["type"] == "isins":
        one = require(isin(told["isin"]), "an ISIN with a right check digit")
        securities[leis.code(told["lei"])].append(one)
        return
    yield require(_READERS.get(item["type"]), "a type that is known")(told)
    if parent is not None:
        kind = f"IS_{parent[2].upper()}LY_CONSOLIDATED_BY"
        yield leis.relation({"child": told["lei"], "parent": parent[1], "kind": kind})


def _entity(told: Item) -> Record:
    entity = told["entity"]
    named = [*(entity.get("otherNames") or ()), *(entity.get("transliteratedOtherNames") or ())]
    succeeded = [*(entity.get("successorEntities") or ()), entity.get("successorEntity") or {}]
    return leis.entity(
        _facts(told, leis.ENTITY),
        [name.get("name") for name in named],
        told.get("bic") or (),
        is_succeeded=any(one.get("lei") or one.get("name") for one in succeeded),
    )


def _relation(told: Item) -> Record:
    periods = {one.get("type"): one for one in told["relationship"].get("periods") or ()}
    return leis.relation(
        _facts(told | {"period": periods.get("RELATIONSHIP_PERIOD")}, leis.RELATION)
    )


_READERS = {"lei-records": _entity, "relationship-records": _relation}


GLEIF = make_format("gleif", _recognise, _parse)
