"""Relations as rows: one whoever tells of it, with what each of its sources says."""

from datetime import UTC, datetime
from typing import Any

import pytest

from svc_core.formats.model import RecordRefused
from svc_core.formats.reading.relation_records import relation_record
from svc_core.intel.entities.relations import EVIDENCE_MAX, end_reference, relation_row
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.intake.kinds import KINDS
from svc_core.intel.linking.references import id_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
EVENT = "misp:30000000-0000-4000-8000-000000009001"


def claim(source: str, provider: str, format_: str = "stix", **members: Any) -> Contribution:
    """What a source says of what APT28 uses."""
    ends = members.pop("ends", ("attack:G0007", "attack:S0023"))
    record = relation_record(members.pop("type", "uses"), ends, members)
    return Contribution(
        id=f"{source}:relation:{record.key}",
        row=KINDS["relation"].id_of_key(record.key),
        source=source,
        resource="relation",
        format=format_,
        key=record.key,
        digest=1,
        said=record.members,
        ref={"id": source, "provider": provider, "url": f"https://{source}.example",
             "recordId": members.get("recordId")},
        read_at=NOW,
        names=(KINDS["relation"].id_of_key(record.key),),
    )  # fmt: skip


def relation_of(*contributions: Contribution) -> Any:
    """The members of the row that they make."""
    return KINDS["relation"].row_members(contributions[0].row, contributions)


def test_a_relation_that_several_tell_of_has_evidence_of_each() -> None:
    pages = [{"url": "https://a.example/1"}, {"url": "https://a.example/2"}]
    row = relation_of(claim("src_a", "mitre-attack", evidence=pages), claim("src_b", "misp-galaxy"))
    assert [(item["sourceId"], item["url"]) for item in row["evidence"]] == [
        ("src_a", "https://a.example/1"),
        ("src_a", "https://a.example/2"),
        ("src_b", "https://src_b.example"),
    ]
    assert row["source"] == id_of("attack:G0007")
    assert row["target"] == id_of("attack:S0023")
    assert (row["confidence"], row["confidenceBasis"]) == (0.667, "sources")


def test_two_sources_of_one_publisher_are_no_two_witnesses() -> None:
    row = relation_of(claim("src_a", "mitre-attack"), claim("src_b", "mitre-attack"))
    assert row["confidence"] == 0.5


def test_evidence_has_its_bound() -> None:
    pages = [{"url": f"https://a.example/{number}"} for number in range(100)]
    assert len(relation_of(claim("src_a", "x", evidence=pages))["evidence"]) == EVIDENCE_MAX


@pytest.mark.parametrize(
    ("members", "member", "value"),
    [
        ({"confidence": 0.3}, "confidence", 0.3),
        ({"confidence": 0.3}, "confidenceBasis", "provider"),
        ({"confidence": 0}, "confidence", 0),
        ({}, "confidenceBasis", "sources"),
        ({"validFrom": "2019"}, "validFrom", "2019"),
        ({"validFrom": "2019-03"}, "validFrom", "2019-03"),
        ({"validTo": "2025-06-30"}, "validTo", "2025-06-30"),
        ({"validFrom": "2022-03-18T00:00:00Z"}, "validFrom", "2022-03-18T00:00:00Z"),
        ({"validFrom": "spring 2019"}, "validFrom", None),
        ({"validFrom": "2019-13"}, "validFrom", None),
        ({"validFrom": "2019-02-30"}, "validFrom", None),
        ({"validFrom": 2019}, "validFrom", None),
        ({"attributes": {"revoked": True, "role": "x"}}, "revoked", True),
        ({"attributes": {"revoked": True, "role": "x"}}, "attributes", {"role": "x"}),
        ({"attributes": {"revoked": False}}, "revoked", False),
        ({"attributes": {"percentage": 0.0}}, "attributes", {"percentage": 0.0}),
        ({}, "surface", "cyber"),
        ({"ends": ("lei:1", "ftm:2")}, "surface", "economy"),
        ({"ends": ("stix:identity--1", "CVE-2024-3400")}, "surface", "cyber"),
        ({"ends": ("misp:ip-dst=192.0.2.1", EVENT)}, "target", end_reference(EVENT)),
    ],
)
def test_what_is_told_is_a_member(members: dict[str, Any], member: str, value: Any) -> None:
    assert relation_of(claim("src_a", "x", **members))[member] == value


@pytest.mark.parametrize("type_", ["", "   ", "uses: this", None, 7, "x" * 65, ["uses"], "-uses"])
def test_a_type_that_is_no_word_is_refused(type_: Any) -> None:
    with pytest.raises(RecordRefused, match="a type of relation"):
        relation_record(type_, ("a", "b"), {})


def test_a_type_of_two_words_is_one() -> None:
    assert relation_record(" interacts  with ", ("a", "b"), {}).members["type"] == "interacts-with"


def test_what_leads_to_itself_is_no_relation() -> None:
    assert relation_of(claim("src_a", "x", ends=("attack:G0007", "attack:G0007"))) is None


def test_that_a_release_revokes_it_counts_though_a_copy_of_it_does_not_say_so() -> None:
    revocation = claim("src_b", "mitre-attack", "attack", attributes={"revoked": True})
    row = relation_of(claim("src_a", "misp-galaxy", "misp-galaxy"), revocation)
    assert row["revoked"] is True


def test_an_incident_and_an_entity_are_named_by_ids_of_their_kinds() -> None:
    assert end_reference(EVENT).startswith("inc_")
    assert end_reference("misp:ip-dst=192.0.2.1").startswith("ent_")
    assert end_reference("CVE-2024-3400") == id_of("CVE-2024-3400")


def test_nothing_said_makes_no_row() -> None:
    assert relation_row({}, []) is None
