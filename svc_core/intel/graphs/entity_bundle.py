"""Renders an entity and what it is connected to as one STIX 2.1 bundle.

Rule 1: the bytes depend on the rows alone. An object that came from a STIX document keeps its id;
        the id of every other object is derived from its row.
Rule 2: every reference leads to an object of the bundle. A node without a STIX counterpart is left
        out with its edges, except the entity itself, which becomes an identity.
Rule 3: objects are marked TLP:AMBER, as they combine several sources whose terms may differ.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from svc_core.intel.graphs.neighbours import Node
from svc_core.intel.graphs.rules import Edge
from svc_core.ledger.transfer.marking import AMBER
from svc_core.ledger.transfer.observables import observable
from svc_core.ledger.transfer.stix_ids import kebab, milliseconds, object_id
from svc_core.ledger.transfer.stix_writer import (
    Object,
    bundle_bytes,
    producer_object,
    stix_object,
)

_TYPES: Final[Mapping[str, tuple[str, ...]]] = {
    "threatActor": ("intrusion-set", "threat-actor"), "malware": ("malware",), "tool": ("tool",),
    "attackPattern": ("attack-pattern",), "courseOfAction": ("course-of-action",),
    "campaign": ("campaign",), "vulnerability": ("vulnerability",), "indicator": ("indicator",),
    "country": ("location",), "place": ("location",), "incident": ("incident",),
}  # fmt: skip
"""STIX object types by node type, the usual one first; all other nodes become identities."""

_CLASSES: Final = {
    **dict.fromkeys(("company", "organization", "government"), "organization"),
    "person": "individual", "sector": "class",
}  # fmt: skip
_ALIAS_TYPES: Final = frozenset({"intrusion-set", "threat-actor", "malware", "tool", "campaign"})
"""STIX object types that have aliases."""

_ID: Final = re.compile("[a-z-]+--[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
EXAMPLE: Final = {"type": "bundle", "id": "bundle--438e322a-3d78-550d-ae4a-d14028864e6e"}
_PRODUCER: Final = object_id("identity", "svc", "entities")
_KINDS: Final = (
    ("ipv4", re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")),
    ("ipv6", re.compile(r"[0-9A-Fa-f]*:(?=[0-9A-Fa-f:]*:)[0-9A-Fa-f:.]*")),
    ("sha256", re.compile("[0-9A-Fa-f]{64}")),
    ("url", re.compile(r"[a-z]+://\S+")),
    ("email", re.compile(r"[^@\s]+@(?=[^@\s]+?\.[^@\s])[^@\s]+")),
    ("domain", re.compile(r"[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}")),
)
"""The schemes of observables by the form of an indicator's value; the first that fits counts."""


def graph_bundle(root: Node, nodes: Iterable[Node], edges: Sequence[Edge]) -> bytes:
    """The canonical JSON bytes of the bundle of an entity, with these nodes and edges around it."""
    drafts = {node.id: _object(node) for node in nodes}
    by_node = {id_: item for id_, item in drafts.items() if item is not None}
    by_node.setdefault(root.id, _identity(root))
    ends = [(edge, by_node.get(edge["sourceId"]), by_node.get(edge["targetId"])) for edge in edges]
    links = [_relation(edge, source, target) for edge, source, target in ends if source and target]
    by_id = {item["id"]: item for item in (*by_node.values(), *links)}
    objects = [by_id[id_] for id_ in sorted(by_id)]
    id_ = object_id("bundle", *(f"{item['id']} {item['modified']}" for item in objects))
    producer = producer_object(_PRODUCER, "Entities compiled of several sources", by=_PRODUCER)
    return bundle_bytes(id_, [producer], AMBER, objects)


# -- nodes -------------------------------------------------------------------------------------


def _object(node: Node) -> Object | None:
    types = _TYPES.get(node.type)
    if types is None:
        return _identity(node)
    own = [type_ for type_ in types if _stix_id(node, type_)]
    type_ = (*own, *types)[0]
    members = _members(node, type_)
    return None if members is None else _build(node, type_, **members)


def _identity(node: Node) -> Object:
    return _build(node, "identity", identity_class=_CLASSES.get(node.type, "unknown"))


def _members(node: Node, type_: str) -> Mapping[str, Any] | None:
    """The members that STIX requires of this type; None where the node lacks one."""
    if type_ in _ALIAS_TYPES:
        family = {"is_family": True} if type_ == "malware" else {}
        return {"aliases": list(node.row["aliases"]), **family}
    if type_ == "indicator":
        pattern = _pattern(node.label)
        since = milliseconds(node.row["createdAt"])
        members = {"pattern": pattern, "pattern_type": "stix", "valid_from": since}
        return None if pattern is None else members
    if type_ == "location":
        codes = [item["value"] for item in node.row["designators"] if item["scheme"] == _COUNTRY]
        code = next(iter(codes), node.country_code)
        return None if code is None else {"country": code}
    return {}


_COUNTRY: Final = "iso3166-1"


def _pattern(value: str) -> str | None:
    """The STIX pattern of an indicator's value: an address, a domain, a hash; None for others."""
    scheme = next((scheme for scheme, form in _KINDS if form.fullmatch(value)), None)
    match = observable(scheme, value)
    return None if match is None else f"[{match.pattern}]"


def _build(node: Node, type_: str, **members: Any) -> Object:
    names = [(item["scheme"], item["value"]) for item in node.row["designators"]]
    return _row_object(
        type_,
        _stix_id(node, type_) or object_id(type_, node.id),
        node.row,
        name=node.label,
        description=_words(node, type_),
        revoked=node.is_revoked or None,
        external_references=[
            {"source_name": _SOURCES.get(scheme, scheme), "external_id": value}
            for scheme, value in names
            if scheme != "stix"
        ],
        **members,
    )


def _words(node: Node, type_: str) -> str | None:
    """The description of a node; an indicator should have one (STIX 2.1, 4.7), else its label."""
    words: str | None = node.row.get("description") or node.row.get("summary")
    return words or (node.label if type_ == "indicator" else None)


_SOURCES: Final = {"attack": "mitre-attack"}


def _stix_id(node: Node, type_: str) -> str | None:
    """The id that a STIX document gave the node, if it is of this type; else None."""
    ids = (item["value"] for item in node.row["designators"] if item["scheme"] == "stix")
    return next((id_ for id_ in ids if _is_id(id_, type_)), None)


def _is_id(value: object, type_: str) -> bool:
    return isinstance(value, str) and value.startswith(f"{type_}--") and bool(_ID.fullmatch(value))


def _row_object(type_: str, id_: str, row: Mapping[str, Any], **members: Any) -> Object:
    """A STIX object with the times of its row."""
    times = {"created": row["createdAt"], "modified": row["updatedAt"]}
    return stix_object(type_, id_, _PRODUCER, AMBER, **times, **members)


# -- edges -------------------------------------------------------------------------------------


def _relation(edge: Edge, source: Object, target: Object) -> Object:
    start, stop = (_at(edge[name]) for name in ("validFrom", "validTo"))
    return _row_object(
        "relationship",
        edge["stixId"] or object_id("relationship", edge["id"]),
        edge,
        relationship_type=kebab(edge["type"]),
        source_ref=source["id"],
        target_ref=target["id"],
        description=edge["attributes"].get("description"),
        confidence=round(edge["confidence"] * 100),
        start_time=start,
        # STIX 2.1, 5.1: stop_time must be later than start_time.
        stop_time=stop if start is None or stop is None or stop > start else None,
    )


def _at(text: str | None) -> str | None:
    """The first instant of a time that may be a year, a day or an instant."""
    if text is None:
        return None
    day, _, time = text.partition("T")
    return milliseconds(f"{day + '0000-01-01'[len(day) :]}T{time or '00:00:00'}")
