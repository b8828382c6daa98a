"""Documents about who attacks and with what: ATT&CK, STIX bundles, MISP galaxies and events."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import Document, check_options, read_document, recognise_format
from svc_core.intel.folding.model import Source
from svc_core.intel.intake.record_intake import record_reading

UUID = "00000000-0000-4000-8000-00000000000{}"
Documents = Callable[[str], list[Path]]


def parse(document: object) -> Document:
    body = Body(json.dumps(document).encode())
    return read_document(body, recognise_format(body), Origin())


def by_key(document: Document) -> dict[str, Record]:
    assert len({record.key for record in document.records}) == len(document.records)
    return {record.key: record for record in document.records}


def real(real_documents: Documents, name: str) -> Document:
    folder, _, file_name = name.partition("/")
    (path,) = (path for path in real_documents(folder) if path.name == file_name)
    return parse(json.loads(path.read_text("utf-8")))


# -- real documents ----------------------------------------------------------------------------

COUNTS = [
    ("attack_stix20/enterprise_dev.json", "attack", {"entity": 351, "relation": 473}),
    # 1,373 relations are told, 685 of them to assets and 83 from strategies of detection.
    ("attack_stix21/ics-attack-18.1.json", "attack", {"entity": 202, "relation": 605}),
    ("stix21_report/poisonivy.json", "stix", {"entity": 58, "cve": 6, "relation": 90}),
    (
        "stix21_report/threat-actor-leveraging-attack-patterns-and-malware.json",
        "stix",
        {"entity": 4, "relation": 3},
    ),
    ("misp_galaxy/sector.json", "misp-galaxy", {"entity": 118}),
    # 432 relations are told; 46 of them are one that has no direction, told from its other end.
    ("misp_galaxy/threat-actor.json", "misp-galaxy", {"entity": 1041, "relation": 386}),
    (
        "misp_event/long_event.json",
        "misp-event",
        {"incident": 1, "entity": 258, "relation": 258},
    ),
]


@pytest.mark.parametrize(("name", "format_id", "counts"), COUNTS)
def test_real_documents_bring_all_that_rows_have_room_for(
    real_documents: Documents, name: str, format_id: str, counts: dict[str, int]
) -> None:
    document = real(real_documents, name)
    assert (document.format.id, document.rejections) == (format_id, ())
    assert Counter(record.resource for record in document.records) == counts


VALUES: list[tuple[str, str, dict[str, object]]] = [
    (
        "attack_stix20/enterprise_dev.json", "attack:G0096",
        {"type": "threatActor", "name": "APT41", "attackId": "G0096", "revoked": False,
         "aliases": ["Wicked Panda", "Brass Typhoon", "BARIUM"]},
    ),
    (
        "attack_stix20/enterprise_dev.json", "attack:C0022",
        {"type": "campaign", "firstSeenDate": "2019-09-01", "lastSeenDate": "2020-08-01"},
    ),
    (
        "attack_stix20/enterprise_dev.json", "uses|attack:G0032|attack:S0364",
        {"type": "uses", "source": "attack:G0032", "target": "attack:S0364", "directed": True},
    ),
    ("attack_stix21/ics-attack-18.1.json", "attack:G0074",
     {"name": "Dragonfly 2.0", "revoked": True, "deprecated": False}),
    ("attack_stix21/ics-attack-18.1.json", "revoked-by|attack:G0074|attack:G0035",
     {"type": "revoked-by"}),
    ("attack_stix21/ics-attack-18.1.json", "attack:C0009", {"deprecated": True}),
    ("attack_stix21/ics-attack-18.1.json", "attack:S0605",
     {"name": "EKANS", "aliases": ["SNAKEHOSE"], "deprecated": False}),
    (
        "stix21_report/poisonivy.json", "CVE-2012-0158",
        {"cveId": "CVE-2012-0158"},
    ),
    (
        "misp_galaxy/threat-actor.json", "misp-galaxy:68391641-859f-4a9a-9a1e-3e5cf71ec376",
        {"name": "Lazarus Group", "topics": ["Espionage", "Sabotage"], "attackId": None,
         "country": {"code": "KP", "basis": "attribution", "confidence": 0.5},
         "targetCountries": ["KR", "US", "TH", "FR", "CN", "HK", "GB", "GT", "CA", "BD", "JP",
                             "IN", "DE", "BR", "AU"],
         "targetSectors": ["Government", "Private sector"]},
    ),
    (
        "misp_galaxy/threat-actor.json", "misp-galaxy:5b4ee3ea-eee3-4c8e-8323-85ae32658754",
        {"name": "APT28", "attackId": "G0007", "topics": ["Espionage"]},
    ),
    ("misp_galaxy/sector.json", "misp-galaxy:75597b7f-54e8-4f14-88c9-e81485ece483",
     {"type": "sector", "name": "Finance", "aliases": ["Financial"]}),
    (
        "misp_event/long_event.json", "misp:57153590-f73c-49fa-be4b-4737950d210f",
        {"status": "closed", "severity": "medium", "startedAt": "2016-04-18T00:00:00Z",
         "category": "cyber", "entities": [
             {"key": cve, "role": "mentioned", "name": cve} for cve in
             ("CVE-2015-1770", "CVE-2015-1641", "CVE-2012-1856", "CVE-2012-0158")]},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "members"), VALUES, ids=lambda case: str(case)[:45])
def test_a_real_row_says_what_its_document_says(
    real_documents: Documents, name: str, key: str, members: dict[str, object]
) -> None:
    fields = by_key(real(real_documents, name))[key].members
    assert {path: fields[path] for path in members} == members


# -- STIX --------------------------------------------------------------------------------------

MITRE = "identity--c78cb6e5-0c4b-4611-8297-d1b8b55e40b5"


def thing(kind: str, number: int = 1, /, **members: Any) -> dict[str, Any]:
    id_ = f"{kind}--{UUID.format(number)}"
    return {"type": kind, "id": id_, "modified": "2024-01-02T03:04:05Z", "name": "N"} | members


def reference(source: str, id_: str, url: str = "https://attack.mitre.org/x") -> dict[str, object]:
    return {"external_references": [{"source_name": source, "external_id": id_, "url": url}]}


def tie(kind: str, source: str, target: str, **members: Any) -> dict[str, Any]:
    ends = {"source_ref": source, "target_ref": target, "relationship_type": kind}
    return thing("relationship", 9) | ends | members


def bundle(*objects: object, **members: object) -> dict[str, object]:
    return {"type": "bundle", "id": "bundle--1", "objects": list(objects)} | members


ACTOR = thing("intrusion-set", **reference("mitre-attack", "G0007"))
KEYS: list[tuple[str, dict[str, Any], str, dict[str, object]]] = [
    ("an id of ATT&CK", ACTOR, "attack:G0007", {"type": "threatActor", "attackId": "G0007"}),
    ("of an older domain", thing("malware", **reference("mitre-mobile-attack", "S0289")),
     "attack:S0289", {"type": "malware"}),
    ("a part of a technique", thing("attack-pattern", **reference("mitre-attack", "T1566.001")),
     "attack:T1566.001", {"type": "attackPattern"}),
    ("a mitigation with the id of its technique",
     thing("course-of-action", x_mitre_deprecated=True, **reference("mitre-attack", "T1053")),
     "stix:course-of-action--" + UUID.format(1), {"deprecated": True}),
    ("software that the wiki for ICS numbered anew", thing("malware", **reference(
        "mitre-ics-attack", "S0017", "https://collaborate.mitre.org/attackics/S0017")),
     "stix:malware--" + UUID.format(1), {"name": "N"}),
    ("a technique of that wiki", thing("attack-pattern", **reference(
        "mitre-ics-attack", "T0803", "https://collaborate.mitre.org/attackics/T0803")),
     "attack:T0803", {"name": "N"}),
    ("an actor of a report",
     thing("threat-actor", aliases="A", primary_motivation="revenge", sophistication="expert",
           personal_motivations=["ideology"], first_seen="2020-02-03T00:00:00Z",
           **reference("capec", "CAPEC-98")),
     "stix:threat-actor--" + UUID.format(1),
     {"aliases": ["A"], "motivations": ["revenge", "ideology"], "sophistication": "expert",
      "firstSeenDate": "2020-02-03", "lastSeenDate": None, "attackId": None,
      "crossReferences": [{"provider": "capec", "id": "CAPEC-98"}]}),
    ("a CVE by its reference", thing("vulnerability", **reference("cve", "cve-2024-0002")),
     "CVE-2024-0002", {"cveId": "CVE-2024-0002"}),
    ("a CVE by its name", thing("vulnerability", name=" CVE-2024-0002"), "CVE-2024-0002", {}),
    ("a fault without a CVE", thing("vulnerability", name="Odd"),
     "stix:vulnerability--" + UUID.format(1), {"type": "vulnerability"}),
    ("a person", thing("identity", identity_class="individual"),
     "stix:identity--" + UUID.format(1), {"type": "person"}),
    ("a sector", thing("identity", identity_class="class"),
     "stix:identity--" + UUID.format(1), {"type": "sector"}),
    ("a country without a name", thing("location", name=None, country="US"),
     "iso3166-1:US", {"type": "country", "name": "US"}),
    ("an indicator without a name", thing("indicator", name=None, pattern="[a:b = 'c']"),
     "stix:indicator--" + UUID.format(1), {"type": "indicator", "name": "[a:b = 'c']"}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("item", "key", "members"), [case[1:] for case in KEYS], ids=[case[0] for case in KEYS]
)
def test_an_object_is_known_by_its_strongest_id(
    item: dict[str, Any], key: str, members: dict[str, object]
) -> None:
    document = by_key(parse(bundle(item, thing("report"), thing("x-mitre-asset"))))
    assert list(document) == [key]
    assert {name: document[key].members[name] for name in members} == members
    assert f"stix:{item['id']}" in (key, *document[key].other_keys)


@pytest.mark.parametrize(
    "item", [thing("location", country="US", city="Boston"), thing("location", region="europe"),
            thing("sighting"), {"type": 1, "id": "x--1"}],
)  # fmt: skip
def test_what_no_row_is_of_is_passed_over(item: dict[str, Any]) -> None:
    document = parse(bundle(item, tie("targets", ACTOR["id"], item["id"])))
    assert (document.records, document.rejections) == ((), ())


def test_what_joins_two_objects_names_their_rows() -> None:
    unseen = f"malware--{UUID.format(5)}"
    document = by_key(
        parse(
            bundle(
                ACTOR,
                tie("uses", ACTOR["id"], unseen, confidence=85, start_time="2024-01-02T00:00:00Z",
                    revoked=True, **reference("Pier", "", "https://pier.example/1")),
            )
        )
    )  # fmt: skip
    uses = document[f"uses|attack:G0007|stix:{unseen}"].members
    assert (uses["confidence"], uses["validFrom"], uses["validTo"]) == (
        0.85,
        "2024-01-02T00:00:00Z",
        None,
    )
    assert uses["attributes"] == {"revoked": True}
    assert uses["evidence"] == [{"url": "https://pier.example/1"}]


def test_attack_is_told_from_a_report_that_quotes_it() -> None:
    own = thing("malware", 2, x_mitre_version="1")
    by_mitre = tie("uses", ACTOR["id"], own["id"], created_by_ref=MITRE)
    foreign = [thing("indicator", number) for number in (3, 4, 5)]
    assert parse(bundle(ACTOR, own, by_mitre, foreign[0], spec_version="2.0")).format.id == "attack"
    assert parse(bundle(ACTOR, *foreign)).format.id == "stix"
    assert parse(bundle()).format.id == "stix"
    assert parse({"more": False, "objects": foreign}).format.id == "stix"


@pytest.mark.parametrize(
    ("options", "provider"), [({}, "stix"), ({"provider": "pier-cert"}, "pier-cert")]
)
def test_rows_of_a_bundle_tell_who_publishes_it(options: dict[str, str], provider: str) -> None:
    document = parse(bundle(thing("malware")))
    check_options(document.format, options)
    source = Source(
        id="src_" + "0" * 24, location="a", name="A", home_url=None, domain="", format="stix",
        language=None, country_code=None, topics=(), cadence_seconds=900, options=options,
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
    )  # fmt: skip
    members = record_reading(
        source, document.format, document.metadata, document.records[0]
    ).contribution
    assert (members.said["provider"], members.ref["provider"]) == (provider, provider)


def test_of_two_versions_of_an_object_the_later_stays() -> None:
    older = ACTOR | {"modified": "2023-01-01T00:00:00Z", "name": "Old"}
    (record,) = parse(bundle(ACTOR, older)).records
    assert record.members["name"] == "N"
    assert record.other_keys == (f"stix:{ACTOR['id']}", f"misp-galaxy:{UUID.format(1)}")
    assert record.url == "https://attack.mitre.org/x"


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (7, "is not of the form of its kind (TypeError)"),
        ({"id": "malware--1"}, "lacks 'type'"),
        (thing("malware", name=""), "lacks a name"),
        (tie("uses", "malware--1", ""), None),
        ({"type": "relationship", "id": "relationship--1"}, "lacks 'source_ref'"),
        (tie("uses", "malware--1", "tool--1", confidence="sure"), "has a number that is none"),
        (thing("campaign", first_seen="2020-13-01"), "has a date that is none"),
    ],
)
def test_an_object_that_cannot_be_used_fails_no_other(item: object, reason: str | None) -> None:
    document = parse(bundle(ACTOR, item))
    assert [record.key for record in document.records] == ["attack:G0007"]
    assert [rejection.reason for rejection in document.rejections] == ([reason] if reason else [])


# -- MISP --------------------------------------------------------------------------------------


def cluster(number: int = 1, value: str = "Reed", /, **meta: Any) -> dict[str, Any]:
    return {"value": value, "uuid": UUID.format(number), "meta": meta}


def galaxy(kind: str, *clusters: object) -> dict[str, object]:
    return {"type": kind, "uuid": UUID.format(0), "values": list(clusters)}


CLUSTERS: list[tuple[str, dict[str, Any], str, dict[str, object]]] = [
    ("threat-actor", cluster(country="cn", **{"attribution-confidence": "50"}),
     "misp-galaxy:" + UUID.format(1),
     {"country": {"code": "CN", "basis": "attribution", "confidence": 0.5},
      "aliases": None, "topics": None, "targetCountries": None}),
    ("threat-actor", cluster(country="", synonyms=["Reed", "Sedge"],
                             **{"cfr-type-of-incident": "Espionage"}),
     "misp-galaxy:" + UUID.format(1),
     {"country": None, "topics": ["Espionage"], "aliases": ["Sedge"]}),
    ("threat-actor", cluster(country="IR", **{
        "cfr-suspected-victims": "The Netherlands", "attribution-confidence": "high",
        "suspected-victims": ["NATO", "Viet Nam", "Taiwan", "Netherlands"],
        "targeted-sector": ["Energy", "Energy"], "motive": "Cybercrime"}),
     "misp-galaxy:" + UUID.format(1),
     {"country": {"code": "IR", "basis": "attribution", "confidence": None},
      "targetCountries": ["NL", "VN", "TW"], "targetSectors": ["Energy"],
      "motivations": ["Cybercrime"]}),
    ("threat-actor", cluster(synonyms=["G0007", "Sedge"]), "misp-galaxy:" + UUID.format(1),
     {"attackId": "G0007", "aliases": ["Sedge"]}),
    ("threat-actor", cluster(synonyms=["G0007", "G0016"]), "misp-galaxy:" + UUID.format(1),
     {"attackId": None}),
    ("mitre-intrusion-set", cluster(1, "APT28 - G0007", external_id="G0007"), "attack:G0007",
     {"type": "threatActor", "name": "APT28", "attackId": "G0007"}),
    ("mitre-enterprise-attack-course-of-action", cluster(external_id="T1053"),
     "misp-galaxy:" + UUID.format(1), {"type": "courseOfAction"}),
    ("ransomware", {"value": "Locky"}, "misp-galaxy:Locky", {"type": "malware"}),
    ("country", cluster(ISO="AD"), "iso3166-1:AD", {"type": "country"}),
    ("tidal-software", cluster(), "misp-galaxy:" + UUID.format(1), {"type": "malware"}),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "item", "key", "members"), CLUSTERS)
def test_a_cluster_is_an_entity_of_its_galaxys_kind(
    kind: str, item: dict[str, Any], key: str, members: dict[str, object]
) -> None:
    document = by_key(parse(galaxy(kind, item)))
    assert list(document) == [key]
    assert {name: document[key].members[name] for name in members} == members


def test_what_relates_clusters_is_as_sure_as_its_words() -> None:
    def related(number: int, kind: str, *tags: str) -> dict[str, object]:
        words = [f'estimative-language:likelihood-probability="{tag}"' for tag in tags]
        return {"dest-uuid": UUID.format(number), "type": kind, "tags": words}

    first = cluster(1) | {"related": [related(2, "similar", "x", "likely"), related(3, "uses")]}
    second = cluster(2) | {"related": [related(1, "similar", "almost-certain"), {"type": "uses"}]}
    document = parse(galaxy("threat-actor", first, second))
    members = {
        record.key: record.members for record in document.records if record.resource == "relation"
    }
    keys = [f"misp-galaxy:{UUID.format(number)}" for number in (1, 2, 3)]
    assert {key: item["confidence"] for key, item in members.items()} == {
        f"similar|{keys[0]}|{keys[1]}": 0.97,
        f"uses|{keys[0]}|{keys[2]}": None,
    }
    assert [rejection.reason for rejection in document.rejections] == ["lacks 'dest-uuid'"]


def test_a_galaxy_without_entities_says_so() -> None:
    document = parse(galaxy("cancer", cluster(), {"value": ""}, 5))
    assert not document.records
    assert [(rejection.reason, rejection.count) for rejection in document.rejections] == [
        ("is of a galaxy that holds no entities: cancer", 2),
        ("is not of the form of its kind (AttributeError)", 1),
    ]


def event(**members: Any) -> dict[str, Any]:
    whole = {"uuid": UUID.format(7), "info": "Notes", "date": "2024-01-02", "analysis": 1}
    return {"Event": whole | {"threat_level_id": 4, "timestamp": "1467971098"} | members}


def mark(kind: str, value: object, **members: object) -> dict[str, object]:
    return {"type": kind, "value": value, "to_ids": True, "timestamp": 1467971098} | members


def test_an_event_is_an_incident_with_whom_and_by_what() -> None:
    item = event(
        Tag=[{"name": 'misp-galaxy:mitre-intrusion-set="APT28 - G0007"'},
             {"name": 'misp-galaxy:sector="Finance"'}, {"name": 'misp-galaxy:cancer="x"'},
             {"name": "tlp:white"}],
        Galaxy=[{"type": "threat-actor", "GalaxyCluster": [cluster()]},
                {"type": "cancer", "GalaxyCluster": [cluster(2)]}],
        Attribute=[mark("vulnerability", "CVE-2024-0002", to_ids=False),
                   mark("vulnerability", "a fault"), mark("domain", "a<b>.example"),
                   mark("domain", "gone.example", deleted=True),
                   mark("yara", "rule " * 300, uuid="y")],
        Object=[{"Attribute": [mark("ip-dst", "192.0.2.1", to_ids="1", deleted="0"),
                               mark("ip-dst", ""), mark("ip-dst", None)]},
                {"deleted": True, "Attribute": [mark("ip-dst", "192.0.2.9")]}],
    )  # fmt: skip
    document = parse(item)
    rows = by_key(document)
    incident = rows[f"misp:{UUID.format(7)}"]
    assert incident.stamp is not None
    assert incident.stamp.isoformat() == "2016-07-08T09:44:58+00:00"
    assert (incident.members["severity"], incident.members["severityBasis"]) == (None, None)
    assert (incident.members["status"], incident.members["startedAt"]) == (
        "active",
        "2024-01-02T00:00:00Z",
    )
    assert [(item["key"], item["role"], item["name"]) for item in incident.members["entities"]] == [
        ("attack:G0007", "actor", "APT28"),
        (None, "target", "Finance"),
        (f"misp-galaxy:{UUID.format(1)}", "actor", "Reed"),
        ("CVE-2024-0002", "mentioned", "CVE-2024-0002"),
    ]
    assert f"indicates|misp:ip-dst=192.0.2.1|misp:{UUID.format(7)}" in rows
    assert "misp:domain=a<b>.example" in rows
    assert len(rows["misp:yara=y"].members["name"]) == 1_000
    assert not any("gone" in key or "192.0.2.9" in key for key in rows)
    assert [(rejection.reason, rejection.count) for rejection in document.rejections] == [
        ("lacks a value", 2)
    ]


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (event(published=False), "is not published"),
        (event(published="0"), "is not published"),
        (event(uuid=None, Attribute=[mark("domain", "a")]), "lacks a uuid"),
        (event(info=""), "lacks info"),
        (event(date="soon"), "has a date that is none"),
    ],
)
def test_an_event_that_cannot_be_used_brings_nothing(item: object, reason: str) -> None:
    document = parse({"response": [item, event(uuid=UUID.format(8), published=None)]})
    assert [record.key for record in document.records] == [f"misp:{UUID.format(8)}"]
    assert [rejection.reason for rejection in document.rejections] == [reason]


def test_an_event_without_its_name_is_one() -> None:
    assert [record.key for record in parse(event()["Event"]).records] == [f"misp:{UUID.format(7)}"]


@pytest.mark.parametrize("document", [{"Event": []}, [event(), 5]])
def test_odd_events_are_told(document: object) -> None:
    assert parse(document).rejection_count == 1


@pytest.mark.parametrize(
    "document", [{"response": []}, {"objects": []}, galaxy("x") | {"values": 1}]
)
def test_what_is_none_of_these_is_unrecognised(document: object) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        parse(document)
    assert refusal.value.code == "unrecognised"
