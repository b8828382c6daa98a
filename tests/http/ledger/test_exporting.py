"""Subjects in other forms over HTTP: as STIX, and as a picture."""

import xml.etree.ElementTree as ET

import pytest

STIX = "application/stix+json;version=2.1"


def bundle(answer):
    """The objects of a bundle by type, but for those that every bundle begins with."""
    assert answer.status_code == 200, answer.text
    found = {}
    for each in answer.json()["objects"]:
        if each.get("identity_class") != "system":
            found.setdefault(each["type"], []).append(each)
    return found


def test_a_subject_is_exported_with_those_it_is_related_to(town):
    owner, subject = town.subject(label="Owner"), town.subject(label="Pier 7 AG")
    claim = town.claim(subject, {"subject": owner}, predicate="owner")
    town.verdict(subject, claim, "verified", town.bob, method="registry")
    answer = town.get(f"/subjects/{subject}/stix")
    assert answer.headers["content-type"] == STIX
    found = bundle(answer)
    assert sorted(each["name"] for each in found["identity"]) == ["Owner", "Pier 7 AG"]
    [link], [opinion] = found["relationship"], found["opinion"]
    assert (link["relationship_type"], opinion["object_refs"]) == ("owner", [link["id"]])
    ids = [each["id"] for each in found["identity"] + found["relationship"] + found["opinion"]]
    assert set(ids) == set(found["report"][0]["object_refs"])


def test_an_export_repeats_its_bytes_whatever_is_appended_later(town):
    subject = town.subject()
    town.claim(subject, "Zug")
    size = town.data(f"/subjects/{subject}")["basis"]["size"]
    asked = f"/subjects/{subject}/stix?size={size}&validTime=2026-01-01T00:00:00Z"
    first = town.get(asked)
    town.claim(subject, "Bern")
    again = town.get(asked)
    assert (again.content, again.headers["etag"]) == (first.content, first.headers["etag"])
    same = town.ask("GET", asked, headers={"If-None-Match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    # Without a valid time the bundle tells the time of asking, and no two are the same.
    assert "etag" not in town.get(f"/subjects/{subject}/stix").headers


def test_an_export_is_marked_as_asked(town):
    subject = town.subject()
    found = bundle(town.get(f"/subjects/{subject}/stix?tlp=amber%2Bstrict"))
    assert {each["name"] for each in found["marking-definition"]} == {
        "TLP:CLEAR",
        "TLP:AMBER+STRICT",
    }


def test_times_choose_what_is_exported(town):
    subject = town.subject()
    town.claim(subject, "Zug", validFrom="2020-01-01T00:00:00Z", validTo="2021-01-01T00:00:00Z")
    asked = f"/subjects/{subject}/stix?validTime="
    assert "note" in bundle(town.get(f"{asked}2020-06-01T00:00:00Z"))
    assert "note" not in bundle(town.get(f"{asked}2021-01-01T00:00:00Z"))
    early = bundle(town.get(f"/subjects/{subject}/stix?recordTime=2000-01-01T00:00:00Z"))
    assert early["identity"][0]["name"] == subject
    assert bundle(town.get(f"/subjects/{subject}/stix?size=0"))["report"][0]["published"]


def test_too_many_related_subjects_are_refused(town, monkeypatch):
    monkeypatch.setattr("svc_core.ledger.reading.RELATED_MAX", 1)
    owners, subject = [town.subject(label=f"O{n}") for n in range(2)], town.subject()
    for owner in owners:
        town.claim(subject, {"subject": owner}, predicate="owner")
    answer = town.ask("GET", f"/subjects/{subject}/stix")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETER")
    assert answer.json()["detail"] == (
        "validTime: at most 1 other subjects go into a bundle, not 2"
    )


@pytest.mark.parametrize("path", ["/stix", "?format=svg"])
def test_nobody_sees_the_subject_of_another_workspace(town, path):
    subject = town.subject()
    assert town.ask("GET", f"/subjects/{subject}{path}", town.stranger).status_code == 404


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
    then = town.get(f"/subjects/{subject}?format=svg&size={size}").text
    assert "headquarters" in now
    assert "headquarters" not in then
    marked = town.get(f"/subjects/{subject}?format=svg&validTime=2024-03-01T00:00:00Z").text
    assert "valid time 2024-03-01T00:00:00.000000Z marked" in marked
    assert "marked" not in now
