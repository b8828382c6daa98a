"""What others say of our bundles: the OASIS library and the OASIS validator, without a network."""

import copy
import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import stix2

from tests.late import Late

stix2validator = Late("stix2validator")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("A validator opened a socket.")

    assert stix2validator.ValidationOptions  # loaded while there are sockets
    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)


def faults(bundle: Any) -> list[str]:
    """What the strict validator has against a bundle.

    Check 103 asks for random UUIDs, which deterministic ones are not; check 202 for the
    relationships that STIX suggests between two types, where predicates are open.
    """
    options = stix2validator.ValidationOptions(strict=True, version="2.1", disabled=["103", "202"])
    result = stix2validator.validate_string(json.dumps(bundle), options)
    return [] if result.is_valid else [str(item) for item in result.errors]


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            if name.endswith("_ref"):
                yield item
            elif name.endswith("_refs"):
                yield from item
            else:
                yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


@pytest.mark.parametrize("tlp", ["amber", "clear", "green", "amber+strict", "red"])
def test_a_bundle_is_valid_and_closed(tale: Any, tlp: str) -> None:
    subject = tale.full_subject()
    raw = tale.raw(subject, tlp=tlp)
    bundle = json.loads(raw)
    assert faults(bundle) == []
    tree = stix2.parse(raw.decode(), allow_custom=False)
    assert len(tree.objects) == len(bundle["objects"])
    present = [item["id"] for item in bundle["objects"]]
    assert len(set(present)) == len(present)
    assert set(references(bundle)) <= set(present)


@pytest.mark.parametrize("type_", ["organization", "malware", "event", "location", "vulnerability"])
def test_every_kind_of_subject_is_valid(tale: Any, type_: str) -> None:
    subject = tale.subject(type_)
    tale.claim(subject, "country", "CH")
    tale.designator(subject, "cve", "CVE-2024-3094")
    assert faults(json.loads(tale.raw(subject))) == []
    stix2.parse(tale.raw(subject).decode(), allow_custom=False)


def test_observables_have_the_identifiers_that_the_library_gives_them(
    tale: Any, designators: Any
) -> None:
    subject = tale.full_subject()
    count = 0
    for item in tale.objects(subject):
        if "created" in item:
            continue
        bare = {name: value for name, value in item.items() if name != "id"}
        assert stix2.parse(bare, version="2.1")["id"] == item["id"]
        count += 1
    assert count == len(designators) - 2 + 1  # all but a CVE and a wallet, and the page


DAMAGES: dict[str, tuple[str, dict[str, Any]]] = {
    "a note without content": ("note", {"content": None}),
    "an opinion that is none": ("opinion", {"opinion": "maybe"}),
    "a pattern that does not end": ("indicator", {"pattern": "[domain-name:value = 'a]"}),
    "a location without a place": ("location", {"country": None}),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_validators_refuse_what_is_wrong(tale: Any, damage: str) -> None:
    """Negative controls: a validator that takes anything would prove nothing."""
    bundle = json.loads(tale.raw(tale.full_subject()))
    type_, change = DAMAGES[damage]
    copy_ = copy.deepcopy(bundle)
    victim = next(item for item in copy_["objects"] if item["type"] == type_)
    victim |= {name: value for name, value in change.items() if value is not None}
    for name in [name for name, value in change.items() if value is None]:
        del victim[name]
    assert faults(copy_) or not _parses(copy_), damage


def _parses(bundle: Any) -> bool:
    try:
        stix2.parse(bundle, allow_custom=False)
    except (stix2.exceptions.STIXError, ValueError):
        return False
    return True
