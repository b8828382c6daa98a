"""Parses answers of GLEIF's API (JSON:API): legal entities, their parents, their securities.

A list of children names its parent only in the URL of its own links.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from typing import Any

from svc_core.formats.companies import leis
from svc_core.formats.designators.schemes import well_formed
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format
from svc_core.formats.reading.values import as_list, moment, record_list, require

Item = dict[str, Any]

_CHILDREN = re.compile(r"/lei-records/([0-9A-Z]{20})/(direct|ultimate)-children")


def _facts(item: Item, places: leis.FactPaths) -> Item:
    return {name: _path_value(item, path) for name, (path, _) in places.items()}


def _path_value(node: Any, path: str) -> Any:
    """The value at a path of member names; None where a part of the path is missing."""
    for name in path.split("/"):
        node = (node or {}).get(name)
    return node


def _recognise(body: Body) -> bool:
    first = next(iter(as_list(body.json["data"])), None)
    if first is None:
        return "goldenCopy" in body.json["meta"]
    return first["type"] in [*_READERS, "isins"]


def _parse(body: Body, _: Origin) -> Contents:
    document, securities = body.whole_json(), defaultdict[str, list[str]](list)
    yield Metadata(stamp=moment(_path_value(document, "meta/goldenCopy/publishDate")))
    parent = _CHILDREN.search(" ".join(map(str, (document.get("links") or {}).values())))
    data = [item for item in as_list(document["data"]) if item is not None]
    yield from record_list(data, partial(_read, parent, securities), lambda item: item["id"])
    for number, isins in securities.items():
        yield leis.lei_record(number, {}, [("isin", code) for code in isins])


def _read(
    parent: re.Match[str] | None, securities: dict[str, list[str]], item: Item
) -> Iterator[Record]:
    attributes = item["attributes"]
    if item["type"] == "isins":
        code = require(well_formed("isin", attributes["isin"]), "an ISIN with a right check digit")
        securities[leis.require_lei(attributes["lei"])].append(code)
        return
    yield require(_READERS.get(item["type"]), "a type that is known")(attributes)
    if parent is not None:
        kind = f"IS_{parent[2].upper()}LY_CONSOLIDATED_BY"
        yield leis.lei_relation({"child": attributes["lei"], "parent": parent[1], "kind": kind})


def _entity(attributes: Item) -> Record:
    entity = attributes["entity"]
    aliases = [*(entity.get("otherNames") or ()), *(entity.get("transliteratedOtherNames") or ())]
    successors = [*(entity.get("successorEntities") or ()), entity.get("successorEntity") or {}]
    return leis.legal_entity(
        _facts(attributes, leis.ENTITY),
        [name.get("name") for name in aliases],
        attributes.get("bic") or (),
        is_succeeded=any(successor.get("lei") or successor.get("name") for successor in successors),
    )


def _relation(attributes: Item) -> Record:
    periods = {item.get("type"): item for item in attributes["relationship"].get("periods") or ()}
    return leis.lei_relation(
        _facts(attributes | {"period": periods.get("RELATIONSHIP_PERIOD")}, leis.RELATION)
    )


_READERS = {"lei-records": _entity, "relationship-records": _relation}


GLEIF = make_format("gleif", _recognise, _parse)
