"""Parses STIX 2.0 and 2.1 bundles: releases of MITRE ATT&CK, and bundles of others.

Objects are read one by one, never a bundle as a unit: it may break rules of STIX that its objects
keep, as one of ATT&CK did.
"""

from functools import partial

from svc_core.formats.cyber.stix_keys import Object, external_references, key_of
from svc_core.formats.cyber.stix_objects import object_records, successors
from svc_core.formats.model import Contents, Metadata, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import MEBI, make_format
from svc_core.formats.reading.values import (
    TextReader,
    markdown_member,
    moment,
    objects,
    record_list,
    text_member,
)

_OWN_BY = "identity--c78cb6e5-0c4b-4611-8297-d1b8b55e40b5"  # The MITRE Corporation, of ATT&CK


def _parse(read_text: TextReader, body: Body, _: Origin) -> Contents:
    items = body.whole_json().get("objects") or ()
    bundle_objects = objects(items)
    whole = next((item for item in bundle_objects if item.get("type") == "x-mitre-collection"), {})
    yield Metadata(moment(whole.get("modified")), text_member(whole.get("name"), 300))
    keys = {item["id"]: key_of(item) for item in bundle_objects if isinstance(item.get("id"), str)}
    make = partial(object_records, keys, successors(bundle_objects, keys), read_text)
    yield from record_list(items, make, lambda item: item["id"])


def _is_bundle(body: Body) -> bool:
    # A TAXII envelope holds objects under the same name, and has no type.
    return body.json.get("type") == "bundle" or "--" in body.json["objects"][0]["id"]


def _is_attack(body: Body) -> bool:
    """Whether most objects are ATT&CK's own; bundles of others quote some of them."""
    bundle_objects = objects(body.json.get("objects"))
    return sum(map(_is_own, bundle_objects)) * 2 > len(bundle_objects)


def _is_own(item: Object) -> bool:
    return (
        item.get("created_by_ref") == _OWN_BY
        or any(name.startswith("x_mitre_") for name in item)
        or any(str(ref.get("source_name")).startswith("mitre") for ref in external_references(item))
    )


ATTACK = make_format(
    "attack",
    lambda body: _is_bundle(body) and _is_attack(body),
    partial(_parse, markdown_member),
    bytes_max=128 * MEBI,  # Enterprise has 50 MB
)

STIX = make_format(
    "stix",
    lambda body: _is_bundle(body) and not _is_attack(body),
    partial(_parse, text_member),
    options={"provider": "who publishes it, by the name that rows are to tell"},
)
