"""Collections of FollowTheMoney, and the changes of them."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import FORMATS, Document, read_document, recognise_format

REAL = Path(os.environ.get("SVC_REAL_DATA", ""))  # noqa: TID251 - what the tests are given


def entity(id_: str, schema: str, **properties: Any) -> dict[str, Any]:
    texts = {k: v if isinstance(v, list) else [v] for k, v in properties.items()}
    return {"id": id_, "schema": schema, "properties": texts}


def parse(*lines: Any, id_: str = "ftm") -> Document:
    content = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    body = Body("\n".join(content).encode())
    assert recognise_format(body).id == id_
    return read_document(body, FORMATS[id_], Origin())


def members(document: Document, key: str) -> Any:
    (record,) = (record for record in document.records if record.key == key)
    return record.members


PERSON = entity("p", "Person", name="Ann")
COMPANY = entity("c", "Company", name="Pier AG")


# -- real documents ----------------------------------------------------------------------------


@pytest.mark.needs("SVC_REAL_DATA")
def test_a_real_collection_is_counted_to_the_last_line() -> None:
    body = Body((REAL / "ftm" / "entities.ftm.json").read_bytes())
    document = read_document(body, recognise_format(body), Origin())
    # One of the 290 payments went to two parties.
    assert Counter(record.members["type"] for record in document.records) == {
        "company": 56,
        "person": 22,
        "organization": 18,
        "paid": 291,
    }
    assert document.rejections == ()
    daimler = members(document, "ftm:66ce9f62af8c7d329506da41cb7c36ba058b3d28")
    assert daimler["name"] == "Daimler AG"
    assert daimler["countryCodes"] == ["DE"]
    assert daimler["addresses"] == [", 70546 Stuttgart", "Mercedesstraße 137, 70327 Stuttgart"]
    assert daimler["sanctions"] is None
    gift = next(record for record in document.records if record.record_id[:8] == "2216b422")
    assert gift.members["attributes"] == {"amount": 100_000, "currency": "EUR"}
    assert gift.members["validFrom"] == "2011-12-29"
    assert gift.members["target"] == "ftm:6d03aec76fdeec8f9697d8b19954ab6fc2568bc8"


# -- parties -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"name": ["Ann", "Anna", "Ann"], "alias": "A.", "weakAlias": ["Nan"]},
         {"name": "Ann", "aliases": ["Anna", "A."], "weakAliases": ["Nan"]}),
        ({"name": "A", "country": ["de", "suhh"], "nationality": "fr", "jurisdiction": "de"},
         {"countryCodes": ["DE", "FR"], "jurisdiction": "DE"}),
        ({"name": "A", "dissolutionDate": "2020", "incorporationDate": "1990-01-02"},
         {"status": "inactive", "validity": {"from": "1990-01-02", "to": "2020"}}),
        ({"name": "A"}, {"status": None, "validity": None, "sanctions": None, "listings": None,
                         "topics": [], "birthDates": None, "addresses": [], "identifiers": []}),
        ({"name": "A", "birthDate": ["1971", "1971-08-03"], "gender": "male", "topics": "role.pep"},
         {"birthDates": ["1971", "1971-08-03"], "gender": "male", "topics": ["role.pep"]}),
        ({"name": "A", "ticker": "AAPL"},
         {"listings": [{"ticker": "AAPL", "exchangeName": None, "mic": None}]}),
        ({"name": "A", "passportNumber": "X1", "imoNumber": "IMO9"},
         {"identifiers": [{"kind": "passport", "value": "X1", "countryCode": None},
                          {"kind": "imo", "value": "IMO9", "countryCode": None}]}),
        ({"name": " A ", "summary": None, "notes": ["N"], "country": [None, 3]},
         {"name": "A", "description": "N", "countryCodes": []}),
    ],
)  # fmt: skip
def test_a_party_is_told_by_its_properties(properties: Any, expected: Any) -> None:
    actual = members(parse(entity("p", "LegalEntity", **properties)), "ftm:p")
    assert {name: actual[name] for name in expected} == expected
    assert actual["type"] == "organization"


@pytest.mark.parametrize(
    ("properties", "extra", "key", "also"),
    [
        ({}, {}, "ftm:p", ()),
        ({"leiCode": "HWUPKR0MPOU8FGXBT394", "cikCode": "320193", "wikidataId": "q312"}, {},
         "lei:HWUPKR0MPOU8FGXBT394", ("cik:0000320193", "wikidata:Q312", "ftm:p")),
        ({"leiCode": "HWUPKR0MPOU8FGXBT395", "website": "http://[x"}, {}, "ftm:p", ()),
        ({}, {"referents": ["ofac-36", "old", 3]}, "ofac-uid:36",
         ("ftm:p", "ftm:ofac-36", "ftm:old")),
        ({}, {"referents": None}, "ftm:p", ()),
    ],
)  # fmt: skip
def test_the_strongest_designator_is_the_key(properties, extra, key, also) -> None:
    document = parse(entity("p", "Company", name="A", **properties) | extra)
    (record,) = document.records
    assert (record.key, record.other_keys) == (key, also)


def test_what_is_told_beside_an_entity_may_come_before_or_after_it() -> None:
    lines = [
        entity("s", "Sanction", entity="p", authority="UN", program="1718", programId="UN-KP",
               listingDate="2019-09-13", reason="Why.", unscId="KPi.1"),
        PERSON | {"properties": {"name": ["Ann"], "addressEntity": ["a", "gone"]}},
        entity("a", "Address", street="Quay 1", city="Suva"),
        entity("x", "Passport", holder="p", number="51N", country="cy"),
        entity("y", "Identification", holder="p", number="52"),
        COMPANY,
    ]  # fmt: skip
    for order in (lines, lines[::-1]):
        document = parse(*order)
        ann = members(document, "un-ref:KPi.1")
        assert ann["sanctions"] == [
            {
                "programId": "UN-KP",
                "authority": "UN",
                "listName": "1718",
                "listedDate": "2019-09-13",
                "reason": "Why.",
                "status": "active",
            }
        ]
        assert ann["addresses"] == ["Quay 1, Suva"]
        assert sorted((item["kind"], item["countryCode"]) for item in ann["identifiers"]) == [
            ("nationalId", None),
            ("passport", "CY"),
        ]
        assert members(document, "ftm:c")["sanctions"] == []
        assert (len(document.records), document.rejection_count) == (2, 0)


@pytest.mark.parametrize(
    ("ended", "seen", "status"),
    [
        ("2023-02-01", "2024-01-01T00:00:00", "delisted"),
        ("2025-02-01", "2024-01-01T00:00:00", "active"),
        ("2023-02-01", None, "delisted"),
        (None, "2024-01-01T00:00:00", "active"),
    ],
)
def test_a_listing_that_ended_before_it_was_last_seen_is_over(ended, seen, status) -> None:
    listing = entity("s", "Sanction", entity="p", **({"endDate": ended} if ended else {}))
    actual = members(parse(PERSON, listing | {"last_seen": seen}), "ftm:p")
    assert [item["status"] for item in actual["sanctions"]] == [status]


# -- relations ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "properties", "key", "attributes"),
    [
        ("Ownership", {"owner": "p", "asset": "c", "percentage": "51.5 %"}, "owns|ftm:p|ftm:c",
         {"percentage": 51.5}),
        ("Ownership", {"owner": "p", "asset": "c", "percentage": "most"}, "owns|ftm:p|ftm:c", {}),
        ("Directorship", {"director": "p", "organization": "c", "role": "Chair"},
         "directs|ftm:p|ftm:c", {"role": "Chair"}),
        ("Family", {"person": "p", "relative": "a", "relationship": "son"}, "family|ftm:a|ftm:p",
         {"role": "son"}),
        ("UnknownLink", {"subject": "p", "object": "a"}, "associate|ftm:a|ftm:p", {}),
        ("Payment", {"payer": "p", "beneficiary": "c", "amount": "3", "currency": "CHF"},
         "paid|ftm:p|ftm:c|e", {"amount": 3, "currency": "CHF"}),
        ("Payment", {"payer": "p", "beneficiary": "c", "amountUsd": "0.5"}, "paid|ftm:p|ftm:c|e",
         {"amount": 0.5, "currency": "USD"}),
    ],
)  # fmt: skip
def test_a_schema_of_two_ends_is_a_relation(schema, properties, key, attributes) -> None:
    document = parse(entity("e", schema, **properties, startDate="2009", endDate="2010-05-06"))
    (record,) = document.records
    assert (record.resource, record.key) == ("relation", key)
    assert record.members["attributes"] == attributes
    assert (record.members["validFrom"], record.members["validTo"]) == ("2009", "2010-05-06")
    assert record.members["directed"] is (schema not in {"Family", "UnknownLink"})


def test_ends_are_named_by_their_strongest_keys() -> None:
    apple = entity("c", "Company", name="Apple", leiCode="HWUPKR0MPOU8FGXBT394")
    document = parse(entity("e", "Ownership", owner=["p", "q"], asset="c"), apple)
    assert [record.key for record in document.records][:2] == [
        "owns|ftm:p|lei:HWUPKR0MPOU8FGXBT394",
        "owns|ftm:q|lei:HWUPKR0MPOU8FGXBT394",
    ]


# -- traps -------------------------------------------------------------------------------------


def test_what_is_written_out_in_place_is_told_as_well() -> None:
    owner = entity("p", "Person", name="Ann", position=entity("z", "Position", name="Mayor"))
    document = parse(entity("e", "Ownership", owner=owner, asset="c"), COMPANY)
    assert [record.key for record in document.records] == ["ftm:p", "owns|ftm:p|ftm:c", "ftm:c"]
    assert document.rejection_count == 0


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{broken", "is no JSON object"),
        ("[1]", "is no JSON object"),
        ("[" * 100_000, "is no JSON object"),
        ('{"properties": {"a": ' * 400 + "1" + "}}" * 400, "lacks id"),
        (entity("n", "Person"), "lacks a name"),
        (entity("", "Person", name="A"), "lacks id"),
        (entity("d", "Document", title="D"), "is of a schema that no row shows"),
        (entity("e", "Ownership", owner="p"), "lacks asset"),
        (entity("e", "Payment", payer="p", beneficiary="c", amount="much"),
         "has a number that is none"),
        ({"id": 3, "schema": "Person", "properties": []}, "lacks id"),
        ({"id": "3", "schema": "Person", "properties": [1]}, "lacks a name"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used_fails_no_other(line: Any, reason: str) -> None:
    document = parse(PERSON, line, "", COMPANY)
    assert [record.key for record in document.records] == ["ftm:p", "ftm:c"]
    assert [(rejection.reason, rejection.count) for rejection in document.rejections] == [
        (reason, 1)
    ]


def test_a_separator_within_a_text_ends_no_line() -> None:
    line = json.dumps(entity("p", "Person", name="A\u2028B"), ensure_ascii=False)
    assert members(parse(line, COMPANY), "ftm:p")["name"] == "A B"


def test_one_line_alone_is_a_collection() -> None:
    assert [record.key for record in parse(PERSON).records] == ["ftm:p"]


@pytest.mark.parametrize("id_", ["ftm", "ftm-delta"])
def test_a_document_that_ends_within_a_line_is_refused(id_: str) -> None:
    line = PERSON if id_ == "ftm" else {"op": "ADD", "entity": PERSON}
    with pytest.raises(DocumentRefused) as refusal:
        parse(line, json.dumps(line)[:-5], id_=id_)
    assert refusal.value.code == "truncated"


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b'{"op": "ADD"}\n{}', b'{"id": 1}\n{}', b"{x}\n{}", b'{"op": [], "entity": {}}'],
)
def test_other_lines_are_no_collection(body: bytes) -> None:
    assert not any(FORMATS[id_].recognise(Body(body)) for id_ in ("ftm", "ftm-delta"))


# -- changes -----------------------------------------------------------------------------------


def test_changes_add_replace_and_take_away() -> None:
    edge = entity("e", "Ownership", owner="p", asset="c")
    document = parse(
        {"op": "ADD", "entity": PERSON},
        {"op": "MOD", "entity": edge},
        {"op": "DEL", "entity": {"id": "gone"}},
        {"op": "DEL", "entity": entity("o", "Ownership")},
        {"op": "DEL", "entity": entity("s", "Sanction")},
        id_="ftm-delta",
    )
    assert [(record.resource, record.key, record.is_withdrawn) for record in document.records] == [
        ("entity", "ftm:p", False),
        ("relation", "ftm:e", False),
        ("entity", "ftm:gone", True),
        ("relation", "ftm:gone", True),
        ("relation", "ftm:o", True),
    ]
    assert [record.other_keys for record in document.records][:2] == [(), ("owns|ftm:p|ftm:c",)]


def test_a_change_of_what_has_several_owners_tells_of_each() -> None:
    edge = entity("e", "Ownership", owner=["p", "q"], asset="c")
    document = parse({"op": "ADD", "entity": edge}, id_="ftm-delta")
    assert [record.key for record in document.records] == ["ftm:e", "owns|ftm:q|ftm:c"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ({"op": "SET", "entity": PERSON}, "is a change of an unknown kind"),
        ({"op": [], "entity": PERSON}, "is a change of an unknown kind"),
        ({"op": "DEL", "entity": {}}, "lacks id"),
        ({"op": "ADD", "entity": None}, "is not of the form of its kind (AttributeError)"),
        ({"op": "ADD"}, "lacks 'entity'"),
        ("nothing", "is no JSON object"),
    ],
)
def test_a_change_that_cannot_be_read_fails_no_other(line: Any, reason: str) -> None:
    change = {"op": "ADD", "entity": PERSON}
    document = parse(change, line, change, id_="ftm-delta")
    assert [record.key for record in document.records] == ["ftm:p"]
    assert [rejection.reason for rejection in document.rejections] == [reason]
