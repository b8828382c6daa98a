"""Subjects in other forms over HTTP: as STIX, and as a picture."""

import xml.etree.ElementTree as ET

import pytest

STIX = "application/stix+json;version=2.1"


def bundle(answer):
    """The objects of a bundle by type, but for those that every bundle begins with."""
    assert answer.status_code == 200, answer.text
    by_type = {}
    for item in answer.json()["objects"]:
        if item.get("identity_class") != "system":
            by_type.setdefault(item["type"], []).append(item)
    return by_type


def test_a_subject_is_exported_with_those_it_is_related_to(town):
    owner, subject = town.subject(label="Owner"), town.subject(label="Pier 7 AG")
    claim = town.claim(subject, {"subject": owner}, predicate="owner")
    town.verdict(subject, claim, "verified", town.bob, method="registry")
    answer = town.get(f"/subjects/{subject}/stix")
    assert answer.headers["content-type"] == STIX
    objects = bundle(answer)
    assert sorted(item["name"] for item in objects["identity"]) == ["Owner", "Pier 7 AG"]
    [link], [opinion] = objects["relationship"], objects["opinion"]
    assert (link["relationship_type"], opinion["object_refs"]) == ("owner", [link["id"]])
    ids = [
        item["id"] for item in objects["identity"] + objects["relationship"] + objects["opinion"]
    ]
    assert set(ids) == set(objects["report"][0]["object_refs"])


def test_an_export_repeats_its_bytes_whatever_is_appended_later(town):
    subject = town.subject()
    town.claim(subject, "Zug")
    size = town.data(f"/subjects/{subject}")["basis"]["size"]
    path = f"/subjects/{subject}/stix?size={size}&validTime=2026-01-01T00:00:00Z"
    first = town.get(path)
    town.claim(subject, "Bern")
    again = town.get(path)
    assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
    answer = town.ask("GET", path, headers={"If-None-Match": first.headers["etag"]})
    assert (answer.status_code, answer.content) == (304, b"")
    # Without a valid time the bundle tells the time of asking, and no two are the same.
    assert "etag" not in town.get(f"/subjects/{subject}/stix").headers


def test_an_export_is_marked_as_asked(town):
    subject = town.subject()
    objects = bundle(town.get(f"/subjects/{subject}/stix?tlp=amber%2Bstrict"))
    assert {item["name"] for item in objects["marking-definition"]} == {
        "TLP:CLEAR",
        "TLP:AMBER+STRICT",
    }


def test_times_choose_what_is_exported(town):
    subject = town.subject()
    town.claim(subject, "Zug", validFrom="2020-01-01T00:00:00Z", validTo="2021-01-01T00:00:00Z")
    path = f"/subjects/{subject}/stix?validTime="
    assert "note" in bundle(town.get(f"{path}2020-06-01T00:00:00Z"))
    assert "note" not in bundle(town.get(f"{path}2021-01-01T00:00:00Z"))
    early = bundle(town.get(f"/subjects/{subject}/stix?recordTime=2000-01-01T00:00:00Z"))
    assert early["identity"][0]["name"] == subject
    assert bundle(town.get(f"/subjects/{subject}/stix?size=0"))["report"][0]["published"]


def test_too_many_related_subjects_are_refused(town, monkeypatch):
    monkeypatch.setattr("svc_core.ledger.queries.RELATED_MAX", 1)
    owners, subject = [town.subject(label=f"O{n}") for n in range(2)], town.subject()
    for owner in owners:
        town.claim(subject, {"subject": owner}, predicate="owner")
    answer = town.ask("GET", f"/subjects/{subject}/stix")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETER")
    assert answer.json()["detail"] == (
        "validTime: at most 1 other subjects go into a bundle, not 2"
    )


# -- the picture -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "accept"), [("?format=svg", None), ("", "image/svg+xml"), ("", "image/*")]
)
def test_a_subject_can_be_looked_at(town, query, accept):
    subject = town.subject(label="Pier <7> AG")
    town.claim(subject, "Zug", validFrom="2020-01-01T00:00:00Z")
    headers = {} if accept is None else {"Accept": accept}
    answer = town.get(f"/subjects/{subject}{query}", headers=headers)
    assert answer.headers["content-type"] == "image/svg+xml"
    picture = ET.fromstring(answer.content)
    assert picture.tag == "{http://www.w3.org/2000/svg}svg"
    assert "Pier <7> AG" in picture[0].text
    again = town.ask(
        "GET",
        f"/subjects/{subject}{query}",
        headers={**headers, "If-None-Match": answer.headers["etag"]},
    )
    assert again.status_code == 304


def test_json_stays_what_a_subject_is_read_as(town):
    subject = town.subject()
    for headers in ({}, {"Accept": "*/*"}, {"Accept": "application/json, image/svg+xml"}):
        answer = town.get(f"/subjects/{subject}", headers=headers)
        assert answer.headers["content-type"] == "application/json"


def test_a_picture_shows_what_was_known_then(town):
    subject = town.subject()
    size = town.data(f"/subjects/{subject}")["basis"]["size"]
    town.claim(subject, "Zug")
    now = town.get(f"/subjects/{subject}?format=svg").text
    picture = town.get(f"/subjects/{subject}?format=svg&size={size}").text
    assert "headquarters" in now
    assert "headquarters" not in picture
    picture_ = town.get(f"/subjects/{subject}?format=svg&validTime=2024-03-01T00:00:00Z").text
    assert "valid time 2024-03-01T00:00:00.000000Z marked" in picture_
    assert "marked" not in now
