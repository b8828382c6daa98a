"""What each thing of the ledger becomes in STIX 2.1."""

import json
from typing import Any

import pytest

from svc_core.ledger.records import SealedRecord
from svc_core.ledger.stix.bundle import stix_bundle
from svc_core.ledger.stix.issuer import EXTENSION_ID
from svc_core.ledger.transfer import marking
from svc_core.ledger.transfer import stix_ids as ids
from svc_core.ledger.transfer.observables import Observable, observable, quote
from svc_core.ledger.transfer.stix_ids import kebab

START, END = "2026-01-01T00:00:00.000000Z", "2027-01-01T00:00:00.000000Z"
SUBJECTS = {
    "organization": ("identity", {"identity_class": "organization"}),
    "person": ("identity", {"identity_class": "individual"}),
    "group": ("identity", {"identity_class": "group"}),
    "vessel": ("identity", {"identity_class": "unknown"}),
    "wallet": ("identity", {"identity_class": "unknown"}),
    "topic": ("identity", {"identity_class": "unknown"}),
    "other": ("identity", {"identity_class": "unknown"}),
    "threat-actor": ("threat-actor", {}),
    "intrusion-set": ("intrusion-set", {}),
    "campaign": ("campaign", {}),
    "malware": ("malware", {"is_family": True}),
    "tool": ("tool", {}),
    "infrastructure": ("infrastructure", {}),
    "vulnerability": ("vulnerability", {}),
    "event": ("incident", {}),
    # A location without a country, a region or coordinates is not valid STIX.
    "location": ("identity", {"identity_class": "unknown"}),
}


@pytest.mark.parametrize(("type_", "expected"), SUBJECTS.items())
def test_a_subject_is_the_object_of_its_type(tale: Any, type_: str, expected: Any) -> None:
    subject = tale.subject(type_, "Pier", description="A pier.")
    objects = tale.of(expected[0], subject)
    assert [(item["name"], item["description"]) for item in objects] == [("Pier", "A pier.")]
    assert objects[0].items() >= expected[1].items()


@pytest.mark.parametrize(
    ("type_", "report_type"),
    [("organization", "identity"), ("malware", "malware"), ("infrastructure", "threat-report")],
)
def test_a_report_is_of_the_type_of_its_subject(tale: Any, type_: str, report_type: str) -> None:
    [report] = tale.of("report", tale.subject(type_, "Pier"))
    assert report["report_types"] == [report_type]


def test_a_source_without_a_page_is_no_reference(tale: Any) -> None:
    subject = tale.subject()
    tale.claim(subject, "status", "active", source={"publisher": "Pier Gazette"})
    [note] = tale.of("note", subject)
    assert "external_references" not in note


@pytest.mark.parametrize(
    ("predicate", "value", "country"),
    [
        ("country", "CH", "CH"),
        ("jurisdiction", "US-DE", "US"),
        ("locatedIn", {"city": "Zug", "country": "CH"}, "CH"),
        ("country", "Switzerland", None),
        ("country", {"country": 41}, None),
        ("status", "CH", None),
    ],
)
def test_a_location_is_one_once_its_country_is_known(
    tale: Any, predicate: str, value: Any, country: str | None
) -> None:
    subject = tale.subject("location", "Zug")
    tale.claim(subject, predicate, value)
    locations = tale.of("location", subject)
    assert [item["country"] for item in locations] == ([country] if country else [])


def test_a_subject_is_named_by_its_newest_standing_record(tale: Any) -> None:
    subject = tale.subject(label="Old")
    tale.act("amend", subject, type="organization", label="New", start=START)
    wrong = tale.act("amend", subject, type="person", label="Wrong")
    tale.act("retract", wrong, reason="clerical")
    early = "2020-01-01T00:00:00.000000Z"
    for valid_time in (tale.V, early):
        [identity] = tale.of("identity", subject, valid_time=valid_time)
        assert (identity["name"], identity["identity_class"]) == ("New", "organization")


def test_a_subject_whose_content_was_erased_is_named_by_its_identifier(tale: Any) -> None:
    subject = tale.subject(label="Secret")
    tale.act("erase", subject, reason="GDPR")
    [identity] = tale.of("identity", subject)
    assert (identity["name"], identity["identity_class"]) == (subject, "unknown")
    assert b"Secret" not in tale.raw(subject)


# -- designators -----------------------------------------------------------------------------------

OBSERVABLES = [
    ("domain", "a.example", "domain-name", {"value": "a.example"}),
    ("ipv4", "192.0.2.1", "ipv4-addr", {"value": "192.0.2.1"}),
    ("ipv6", "2001:db8::1", "ipv6-addr", {"value": "2001:db8::1"}),
    ("url", "https://a.example/", "url", {"value": "https://a.example/"}),
    ("email", "a@a.example", "email-addr", {"value": "a@a.example"}),
    ("asn", "64500", "autonomous-system", {"number": 64500}),
    ("asn", "4294967295", "autonomous-system", {"number": 4294967295}),
    ("sha256", "0f" * 32, "file", {"hashes": {"SHA-256": "0f" * 32}}),
    ("x509", "a1" * 32, "x509-certificate", {"hashes": {"SHA-256": "a1" * 32}}),
    (
        "handle",
        "twitter:ann",
        "user-account",
        {"account_type": "twitter", "account_login": "ann"},
    ),
    ("handle", "github:ann", "user-account", {"user_id": "github:ann", "account_login": "ann"}),
    ("handle", "matrix:a:b", "user-account", {"user_id": "matrix:a:b", "account_login": "a:b"}),
]


@pytest.mark.parametrize(("scheme", "value", "type_", "properties"), OBSERVABLES)
def test_a_designator_is_an_observable_and_a_relationship(
    tale: Any, scheme: str, value: str, type_: str, properties: Any
) -> None:
    subject = tale.subject()
    record = tale.designator(subject, scheme, value, start=START, end=END, confidence=0)
    [observable], [link] = tale.of(type_, subject), tale.of("relationship", subject)
    assert observable == {
        "type": type_,
        "spec_version": "2.1",
        "id": observable["id"],
        "object_marking_refs": [marking.IDS["amber"]],
        **properties,
    }
    [own] = tale.of("identity", subject)
    assert (link["relationship_type"], link["source_ref"]) == ("related-to", own["id"])
    assert (link["target_ref"], link["confidence"]) == (observable["id"], 0)
    assert (link["start_time"], link["stop_time"]) == (START, END)
    assert link["extensions"][EXTENSION_ID]["record"] == record
    assert "external_references" not in own


def test_other_designators_are_external_references_of_the_subject(tale: Any) -> None:
    subject = tale.subject()
    tale.designator(subject, "lei", "5493001KJTIIGC8Y1R12", end="2020-01-01T00:00:00.000000Z")
    tale.designator(subject, "cve", "CVE-2024-3094")
    tale.designator(subject, "cve", "CVE-2024-3094")
    isin = tale.designator(subject, "isin", "US0378331005")
    tale.verdict(isin, "refuted")
    tale.act("retract", tale.designator(subject, "imo", "9074729"), reason="clerical")
    tale.claim(subject, "status", "active", scheme="imo", statement="Not a name.")
    [identity] = tale.of("identity", subject)
    assert identity["external_references"] == [
        {"source_name": "cve", "external_id": "CVE-2024-3094"},
        {"source_name": "lei", "external_id": "5493001KJTIIGC8Y1R12"},
    ]


def test_a_verdict_on_a_name_is_no_verdict_on_the_subject(tale: Any) -> None:
    subject = tale.subject()
    record = tale.designator(subject, "lei", "5493001KJTIIGC8Y1R12")
    tale.verdict(record, "verified", method="registry")
    [note], [opinion] = tale.of("note", subject), tale.of("opinion", subject)
    assert (note["abstract"], note["content"]) == ("lei", "lei:5493001KJTIIGC8Y1R12")
    assert opinion["object_refs"] == [note["id"]]
    assert opinion["explanation"] == "registry"


@pytest.mark.parametrize("value", ["", None, 3, "AS1", "9" * 11])
def test_what_no_scheme_would_read_is_no_observable(value: Any) -> None:
    assert observable("asn", value) is None
    assert observable(["asn"], "1") is None


# -- observations and claims -----------------------------------------------------------------------


def test_an_observation_is_its_page_observed_data_and_a_note(tale: Any) -> None:
    subject = tale.subject()
    tale.observation(subject, lang="de")
    [page], [data] = tale.of("url", subject), tale.of("observed-data", subject)
    [note] = tale.of("note", subject)
    assert page["value"] == "https://news.example/a/1?x=1&y=2"
    assert data["first_observed"] == data["last_observed"] == "2026-01-04T18:30:00.000001Z"
    assert (data["number_observed"], data["object_refs"]) == (1, [page["id"]])
    assert (note["content"], note["lang"], note["authors"]) == (
        "Zug is the seat.",
        "de",
        ["key_ann"],
    )
    assert note["object_refs"][1:] == [data["id"]]
    assert note["external_references"] == [
        {
            "source_name": "Pier Gazette",
            "description": "Firm moves",
            "url": "https://news.example/a/1?x=1&y=2",
            "hashes": {"SHA-256": "36" * 32},
        },
        {"source_name": "archive", "external_id": "https://archive.example/a/1"},
    ]


def test_a_claim_about_another_subject_is_a_relationship_to_it(tale: Any) -> None:
    rival, subject = tale.subject("threat-actor", "Rival"), tale.subject()
    tale.designator(rival, "cve", "CVE-2024-3094")
    tale.claim(
        subject, "attributedTo", {"subject": rival}, start=START, confidence=7, statement="It is."
    )
    [link], [actor] = tale.of("relationship", subject), tale.of("threat-actor", subject)
    assert (link["relationship_type"], link["target_ref"]) == ("attributed-to", actor["id"])
    assert (link["start_time"], link["confidence"]) == (START, 7)
    assert link["description"] == "It is."
    assert "stop_time" not in link
    assert actor == tale.of("threat-actor", rival)[0], "it is the same object in its own export"


def test_a_subject_of_which_nothing_is_known_is_in_the_bundle_all_the_same(tale: Any) -> None:
    subject = tale.subject()
    tale.claim(subject, "owner", {"subject": f"sbj_{'0' * 24}"})
    _, stranger = sorted(tale.of("identity", subject), key=lambda item: item["created"])
    assert {item["name"] for item in tale.of("identity", subject)} == {
        "Pier 7 AG",
        f"sbj_{'0' * 24}",
    }
    assert stranger["id"] != tale.of("relationship", subject)[0]["id"]


@pytest.mark.parametrize(
    ("predicate", "type_"),
    [
        ("sameAs", "same-as"),
        ("owner", "owner"),
        ("attributedTo", "attributed-to"),
        ("usesHTTPServer2x", "uses-http-server2x"),
        ("", "related-to"),
        ("Ω_ω", "related-to"),
        ("has part", "has-part"),
    ],
)
def test_relationship_types_are_predicates_in_kebab_case(predicate: str, type_: str) -> None:
    assert kebab(predicate) == type_


def test_any_other_claim_is_a_note(tale: Any) -> None:
    subject = tale.subject()
    sighting = tale.observation(subject)
    tale.claim(
        subject,
        "headquarters",
        {"country": "CH", "city": "Zürich"},
        confidence=85,
        evidence=[sighting],
        statement="Its seat is Zürich.",
        source={"url": "https://a.example/"},
    )
    note = tale.of("note", subject)[1]
    assert note["abstract"] == "headquarters"
    assert note["content"] == 'headquarters = {"city":"Zürich","country":"CH"}'
    assert (note["confidence"], note["authors"]) == (85, ["key_ann"])
    assert note["external_references"] == [
        {"source_name": "source", "external_id": "https://a.example/"}
    ]
    proof = note["extensions"][EXTENSION_ID]
    assert (proof["evidence"], proof["statement"]) == ([sighting], "Its seat is Zürich.")


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        ("domain:evil.example", "[domain-name:value = 'evil.example']"),
        ({"scheme": "asn", "value": "64500"}, "[autonomous-system:number = 64500]"),
        ("sha256:0f", "[file:hashes.'SHA-256' = '0f']"),
        (
            "handle:twitter:o'neil",
            "[user-account:account_type = 'twitter' AND user-account:account_login = 'o\\'neil']",
        ),
        ("url:https://a/\\' OR 1", "[url:value = 'https://a/\\\\\\' OR 1']"),
        (True, "[domain-name:value = 'a.example'] OR [ipv4-addr:value = '192.0.2.1']"),
        (False, None),
        ("no scheme", None),
        ({"city": "Zug"}, None),
    ],
)
def test_a_claim_of_malice_is_an_indicator_where_there_is_something_to_look_for(
    tale: Any, value: Any, pattern: str | None
) -> None:
    subject = tale.subject("infrastructure")
    tale.designator(subject, "domain", "a.example", end=END)
    tale.designator(subject, "domain", "a.example", start=START)
    tale.designator(subject, "ipv4", "192.0.2.1")
    tale.designator(subject, "ipv4", "192.0.2.2", end=START)
    tale.designator(subject, "lei", "5493001KJTIIGC8Y1R12")
    tale.claim(subject, "malicious", value, start=START, end=END, confidence=3)
    indicators = tale.of("indicator", subject)
    assert [item["pattern"] for item in indicators] == ([pattern] if pattern else [])
    for item in indicators:
        assert (item["valid_from"], item["valid_until"], item["confidence"]) == (START, END, 3)
    assert len(tale.of("note", subject)) == (not indicators)


@pytest.mark.parametrize(
    ("end", "start"),
    [
        (None, "2026-01-02T09:00:00.123456Z"),
        (END, "2026-01-02T09:00:00.123456Z"),
        ("2020-01-01T00:00:00.000000Z", "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_an_indicator_begins_before_it_ends(tale: Any, end: str | None, start: str) -> None:
    subject = tale.subject()
    tale.claim(subject, "malicious", "domain:a.example", end=end)
    valid_time = "2019-01-01T00:00:00.000000Z"
    [indicator] = tale.of("indicator", subject, valid_time=valid_time)
    assert (indicator["valid_from"], indicator.get("valid_until")) == (start, end)


@pytest.mark.parametrize(
    ("payload", "description"),
    [({"statement": "Seen in a lure."}, "Seen in a lure."), ({}, "Claimed to be malicious.")],
)
def test_an_indicator_says_what_the_claim_says(tale: Any, payload: Any, description: str) -> None:
    subject = tale.subject()
    tale.claim(subject, "malicious", "domain:a.example", **payload)
    [indicator] = tale.of("indicator", subject)
    assert indicator["description"] == description


def test_a_quotation_ends_where_the_pattern_ends_it() -> None:
    assert quote("a\\'b") == "'a\\\\\\'b'"
    assert (
        Observable("file", {"hashes": {"SHA-256": "0f"}}).pattern == "file:hashes.'SHA-256' = '0f'"
    )


# -- verdicts and the fold -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "opinion"),
    [
        ("verified", "strongly-agree"),
        ("corroborated", "agree"),
        ("under_review", "neutral"),
        ("disputed", "disagree"),
        ("refuted", "strongly-disagree"),
        (7, "neutral"),
        ("pending", "neutral"),
    ],
)
def test_a_verdict_is_an_opinion_on_the_object_of_its_claim(
    tale: Any, state: str, opinion: str
) -> None:
    subject = tale.subject()
    claim = tale.claim(subject, "status", "active")
    verdict = tale.verdict(claim, state, method="reading", note="Twice.")
    tale.act("retract", tale.verdict(claim, "disputed", author="key_cyd"), reason="clerical")
    [note], [verdict_object] = tale.of("note", subject), tale.of("opinion", subject)
    assert (verdict_object["opinion"], verdict_object["object_refs"]) == (opinion, [note["id"]])
    assert (verdict_object["explanation"], verdict_object["authors"]) == (
        "reading: Twice.",
        ["key_bob"],
    )
    assert verdict_object["extensions"][EXTENSION_ID]["record"] == verdict


def test_the_fold_is_a_report_of_all_objects(tale: Any) -> None:
    subject = tale.full_subject()
    bounds = {"record_time": "2026-05-01T00:00:00.123456Z", "size": 40}
    objects = tale.objects(subject, **bounds)
    report = objects[-1]
    assert report["published"] == report["created"] == "2026-05-01T00:00:00.123Z"
    ids = [item["id"] for item in objects[:-1] if item.get("identity_class") != "system"]
    kinds = ("extension-definition", "marking-definition")
    assert report["object_refs"] == [item for item in ids if not item.startswith(kinds)]
    assert 'headquarters = "Bern", {"city":"Zug"} (contested: 2 values)' in report["description"]
    assert report["extensions"][EXTENSION_ID]["size"] == 40
    kinds_left = [
        tale.objects(subject, **{**bounds, name: value})[-1]["id"]
        for name, value in (
            ("record_time", "2026-05-02T00:00:00.000000Z"),
            ("size", 39),
            ("valid_time", END),
        )
    ]
    assert len({report["id"], *kinds_left}) == 4


def test_a_report_names_values_that_were_all_refuted(tale: Any) -> None:
    subject = tale.subject()
    tale.verdict(tale.claim(subject, "status", "active"), "refuted")
    assert tale.of("report", subject)[0]["description"] == "status = every value refuted"


def test_before_its_first_record_a_subject_is_an_unknown_identity(tale: Any) -> None:
    subject = tale.subject(label="Later")
    for bounds in ({"record_time": "2025-01-01T00:00:00.000000Z"}, {"size": 0}):
        [identity] = tale.of("identity", subject, **bounds)
        assert (identity["name"], identity["identity_class"]) == (subject, "unknown")
        assert tale.of("report", subject, **bounds)[0]["object_refs"] == [identity["id"]]


# -- what cannot be read ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["designator", "observation", "claim"])
def test_what_was_erased_is_a_note_that_says_so(tale: Any, kind: str) -> None:
    subject = tale.subject()
    make: Any = {
        "designator": lambda: tale.designator(subject, "domain", "secret.example"),
        "observation": lambda: tale.observation(subject, text="secret"),
        "claim": lambda: tale.claim(subject, "status", "secret"),
    }[kind]
    record = make()
    tale.act("erase", record, reason="GDPR")
    [note] = tale.of("note", subject)
    assert note["content"] == f"The content of {kind} {record} was erased."
    assert b"secret" not in tale.raw(subject)


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("designator", {"scheme": "domain"}),
        ("observation", {"text": "No source.", "source": 3}),
        ("observation", {"text": "No time.", "source": {"url": "https://a.example/"}}),
        ("observation", {"observedAt": START, "source": {"url": "https://a.example/"}}),
        ("claim", {"predicate": "status", "value": None}),
        ("claim", {"predicate": "status", "value": "\ud800"}),
        ("claim", {"predicate": 3, "value": {"subject": f"sbj_{'0' * 24}"}}),
    ],
)
def test_what_no_ledger_appends_is_a_note_that_says_so(tale: Any, kind: str, payload: Any) -> None:
    subject = tale.subject()
    tale.claim(subject, "status", "active")
    odd: SealedRecord = tale.records[-1]._replace(kind=kind, payload=payload)
    raw = stix_bundle([tale.records[0], odd], subject, ledger=tale.LEDGER, valid_time=tale.V)
    notes = [item for item in json.loads(raw)["objects"] if item["type"] == "note"]
    assert [item["content"] for item in notes] == [
        f"The content of {kind} {odd.id} cannot be read."
    ]


def test_an_unreadable_record_of_the_subject_itself_is_passed_over(tale: Any) -> None:
    subject = tale.subject()
    odd = tale.records[0]._replace(payload={"label": "\ud800"})
    raw = stix_bundle([odd], subject, ledger=tale.LEDGER, valid_time=tale.V)
    assert [item["type"] for item in json.loads(raw)["objects"][-2:]] == ["identity", "report"]


# -- markings and identifiers ----------------------------------------------------------------------


@pytest.mark.parametrize("tlp", marking.IDS)
def test_every_object_has_a_maker_and_the_marking_that_was_asked_for(tale: Any, tlp: Any) -> None:
    subject = tale.full_subject()
    objects = [
        item for item in tale.objects(subject, tlp=tlp) if item["type"] != "marking-definition"
    ]
    for item in objects:
        # STIX 2.1, 3.2: observables have neither maker nor time of making.
        assert ("created_by_ref" in item) is ("created" in item)
        assert len(item["object_marking_refs"]) == 1
    shared_objects = [item for item in objects if item.get("created_by_ref") == objects[0]["id"]]
    assert {item["object_marking_refs"][0] for item in shared_objects} == {marking.IDS["clear"]}
    own = [item for item in objects if item not in shared_objects]
    assert {item["object_marking_refs"][0] for item in own} == {marking.IDS[tlp]}
    assert len(shared_objects) == 3
    assert len(own) > 30


def test_what_is_marked_otherwise_is_another_object(tale: Any) -> None:
    subject = tale.full_subject()
    amber, green = (
        {item["id"]: item for item in tale.objects(subject, tlp=tlp)} for tlp in ("amber", "green")
    )
    shared = [item for id_, item in amber.items() if id_ in green and "created" in item]
    assert all(green[item["id"]] == item for item in shared)


def test_each_object_of_a_record_proves_its_origin(tale: Any) -> None:
    subject = tale.full_subject()
    by_id = {record.id: record for record in tale.records}
    proofs = [
        item["extensions"][EXTENSION_ID]
        for item in tale.objects(subject)
        if EXTENSION_ID in item.get("extensions", {}) and item["type"] != "report"
    ]
    assert len(proofs) > 20
    for proof in proofs:
        record = by_id[proof["record"]]
        assert proof["ledger"] == tale.LEDGER
        assert (proof["seq"], proof["seal"]) == (record.seq, record.seal)
        assert (proof["recorded_at"], proof.get("valid_from")) == (
            record.recorded_at,
            record.valid_from,
        )
        assert proof["verification_state"]


def test_a_uuid_is_that_of_its_specification() -> None:
    # RFC 9562, A.4: the name www.example.com in the namespace of DNS.
    dns = bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8")
    assert ids.uuid5(dns, "www.example.com") == "2ed6657d-e927-568b-95e1-2665a8aea6a2"


def test_milliseconds_are_cut_and_never_rounded() -> None:
    assert ids.milliseconds("2026-01-01T00:00:00.999999Z") == "2026-01-01T00:00:00.999Z"


IDENTIFIERS = (
    "identity--81e6fc3c-909d-5692-805f-160f0a29f149",
    "identity--85d1d17b-0d94-56cf-93f3-42c0b8b3c02f",
    "extension-definition--934f328a-e6c2-57fa-b2e3-5b1d04d08f9e",
    "infrastructure--b6316dba-e8fa-56cf-bfb4-6f871b4e52ee",
    "domain-name--69228563-c8d2-54ae-aeca-5f4134cb59aa",
    "relationship--68188544-6cb1-58cc-aee8-beae0ab97fc7",
    "threat-actor--dd94f11c-0394-579d-88a7-1d4c91e8afa9",
    "location--9f0b2468-1769-54be-80e9-1a5d56efa754",
    "observed-data--aca2bd16-7bcf-5896-827b-b2c8c82a373a",
    "note--fe8b284f-eaad-5ba2-abca-0fb9126f22a3",
    "opinion--b52d20e7-a9b1-5555-a795-930ef226fecd",
    "indicator--ae592d1b-7e77-5a50-b798-ad5bf2b8484f",
    "report--30d9f79b-7498-5ee2-a86f-8d4448c11a01",
)


def test_an_identifier_that_was_given_stays(tale: Any) -> None:
    assert {item["id"] for item in tale.objects(tale.full_subject())} >= set(IDENTIFIERS)
