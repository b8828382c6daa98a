"""Bundles of STIX 2.0 and 2.1: the releases of MITRE ATT&CK, and what others publish.

Objects are read one by one, never a bundle as a unit: it may break rules of STIX that its objects
keep, as one of ATT&CK did.
"""

from functools import partial

from svc_core.formats.cyber.stix_keys import Object, key_of, references
from svc_core.formats.cyber.stix_objects import rows, successors
from svc_core.formats.model import About, Given, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import MEBI, declared
from svc_core.formats.reading.values import moment, objects, records, text

_OWN_BY = "identity--c78cb6e5-0c4b-4611-8297-d1b8b55e40b5"  # The MITRE Corporation, of ATT&CK


def _parse(body: Body, _: Given) -> Told:
    told = body.whole_json().get("objects") or ()
    plain = objects(told)
    whole = next((one for one in plain if one.get("type") == "x-mitre-collection"), {})
    yield About(moment(whole.get("modified")), text(whole.get("name"), 300))
    keys = {one["id"]: key_of(one) for one in plain if isinstance(one.get("id"), str)}
    yield from records(told, partial(rows, keys, successors(plain, keys)), lambda one: one["id"])


def _is_bundle(body: Body) -> bool:
    # A TAXII envelope holds objects under the same name, and has no type.
    return body.json.get("type") == "bundle" or "--" in body.json["objects"][0]["id"]


def _is_attack(body: Body) -> bool:
    """Most objects are ATT&CK's own: reports of others quote some of them."""
    held = objects(body.json.get("objects"))
    return sum(map(_is_own, held)) * 2 > len(held)


def _is_own(one: Object) -> bool:
    return (
        one.get("created_by_ref") == _OWN_BY
        or any(name.startswith("x_mitre_") for name in one)
        or any(str(each.get("source_name")).startswith("mitre") for each in references(one))
    )


ATTACK = declared(
    "attack",
    lambda body: _is_bundle(body) and _is_attack(body),
    _parse,
    bytes_max=128 * MEBI,  # Enterprise has 50 MB
)

STIX = declared(
    "stix",
    lambda body: _is_bundle(body) and not _is_attack(body),
    _parse,
    options={"provider": "who publishes it, by the name that rows are to tell"},
)
