"""Writes STIX 2.1 objects and bundles, for the exports of ledger and graphs.

Rule 1: members without content are left out, as STIX 2.1, 2.1 demands of lists.
Rule 2: a bundle is canonical JSON, with the markings that its objects refer to in front of them.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from svc_core.base import canonical
from svc_core.ledger.transfer.marking import IDS, Tlp, definition
from svc_core.ledger.transfer.stix_ids import FIXED_TIME, milliseconds

Object: TypeAlias = dict[str, Any]
"""A STIX object as JSON."""


def stix_object(
    type_: str,
    id_: str,
    producer: str,
    tlp: Tlp,
    *,
    created: str = FIXED_TIME,
    modified: str = FIXED_TIME,
    **members: Any,
) -> Object:
    """Build an object of a producer; its times are cut to milliseconds."""
    return {
        "type": type_,
        "spec_version": "2.1",
        "id": id_,
        "created_by_ref": producer,
        "created": milliseconds(created),
        "modified": milliseconds(max(created, modified)),
        "object_marking_refs": [IDS[tlp]],
        **{name: value for name, value in members.items() if value not in (None, [], {}, "")},
    }


def producer_object(id_: str, name: str, *, by: str) -> Object:
    """Build the identity of a program that makes objects; it is the same in every export."""
    return stix_object("identity", id_, by, "clear", name=name, identity_class="system")


def bundle_bytes(
    id_: str, preamble: Iterable[Object], tlp: Tlp, objects: Iterable[Object]
) -> bytes:
    """Return the bytes of a bundle of these objects, which are marked `tlp`."""
    markings = [definition(name) for name in IDS if name in {"clear", tlp}]
    parts = [*preamble, *markings, *objects]
    return canonical.dumps({"type": "bundle", "id": id_, "objects": parts})
