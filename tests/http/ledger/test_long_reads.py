"""Reads of a ledger that take more than one unit of work answer as those that take one."""

import json

import pytest

from svc_core.ledger import local_operations, queries, repository
from svc_core.ledger.local_operations import SubjectHistory
from svc_core.operation.caller import Actor
from svc_core.operation.context import Rest

VALID = "validTime=2030-01-01T00:00:00Z"


def parts_of(monkeypatch, lines):
    for module in (repository, queries):
        monkeypatch.setattr(module, "PART_LINES", lines)


def city(town):
    """A subject with peers, names, verdicts and displaced records, and one that shares a name."""
    subject, peer = town.subject(), town.subject(label="Peer AG")
    name = {"kind": "designator", "scheme": "cve", "value": "CVE-2024-3094"}
    for bearer in (subject, peer):
        town.append({**name, "subject": bearer})
    claims = [town.claim(subject, {"city": f"City {number}"}) for number in range(4)]
    town.append(
        {"kind": "claim", "subject": subject, "predicate": "subsidiary", "value": {"subject": peer}}
    )
    town.verdict(subject, claims[0], "refuted", town.bob)
    retract = {"kind": "claim", "op": "retract", "subject": subject, "target": claims[1]}
    town.append({**retract, "reason": "incorrect"})
    return subject, peer


@pytest.mark.parametrize("lines", [1, 3, 9, 10])
def test_an_answer_is_the_same_in_however_many_parts_it_is_read(town, monkeypatch, lines):
    subject, _ = city(town)
    paths = [
        f"/subjects/{subject}?{VALID}",
        f"/subjects/{subject}?{VALID}&include=history,segments&size=7",
        f"/subjects/{subject}?{VALID}&format=svg",
        f"/subjects/{subject}/stix?{VALID}",
    ]
    whole = [town.get(path).content for path in paths]
    parts_of(monkeypatch, lines)
    assert [town.get(path).content for path in paths] == whole
    assert town.ask("GET", f"/subjects/sbj_{0:024x}").status_code == 404


@pytest.mark.parametrize("lines", [1, 2, 8, 500])
def test_a_list_has_every_subject_once_in_however_many_pages(town, monkeypatch, lines):
    subjects = [*city(town), town.subject()]

    def pages():
        path, counts = "/subjects?include=history,segments", []
        while path:
            answer = town.get(path)
            counts.append([(row["id"], row["history"]) for row in answer.json()["data"]])
            link = answer.headers.get("link")
            path = link and link[1 : link.index(">")].partition("/ledger")[2]
        return counts

    whole = pages()
    parts_of(monkeypatch, lines)
    parted = pages()
    assert [id_ for page in parted for id_, _ in page] == subjects[::-1]
    assert [row for page in parted for row in page] == whole[0]
    assert max(map(len, parted)) == (3 if lines == 500 else 2 if lines == 8 else 1)


def test_a_row_of_the_list_says_what_its_subject_is_now(town, monkeypatch):
    subject, other = town.subject(), town.subject(label="Quay AG")
    amend = {"kind": "subject", "op": "amend", "subject": subject, "target": subject}
    for number in range(3):
        hour = {
            "validFrom": f"20{number}0-01-01T00:00:00Z",
            "validTo": f"20{number}1-01-01T00:00:00Z",
        }
        town.append({**amend, **hour, "type": "topic", "label": f"L{number}"})
    rows = town.data("/subjects")
    assert [(row["id"], row["label"]) for row in rows] == [
        (other, "Quay AG"),
        (subject, "Pier 7 AG"),
    ]
    monkeypatch.setattr(queries, "IDENTITY_ACTS_MAX", 3)
    assert town.data("/subjects") == rows
    monkeypatch.setattr(queries, "IDENTITY_ACTS_MAX", 2)
    first = town.get("/subjects").json()
    assert [row["id"] for row in first["data"]] == [other]
    [row] = town.data(f"/subjects?cursor={first['meta']['page']['nextCursor']}")
    assert (row["id"], row["label"], row["author"]) == (subject, None, rows[1]["author"])


def test_what_is_too_much_to_read_is_refused_with_what_to_ask_instead(town, monkeypatch):
    subject, _ = city(town)

    def refusal():
        body = json.loads(town.ask("GET", f"/subjects/{subject}").content)
        assert "smaller size" in body["resolution"]
        return body["status"], body["code"], body["detail"].partition(":")[0]

    with monkeypatch.context() as patch:
        patch.setattr(queries, "RIVAL_RECORDS_MAX", 0)
        assert refusal() == (400, "INVALID_PARAMETER", "size")
    parts_of(monkeypatch, 3)
    monkeypatch.setattr(repository, "READ_BYTES_MAX", 2_000)
    assert refusal() == (400, "INVALID_PARAMETER", "size")


def test_a_history_is_read_in_parts(town, monkeypatch):
    subject, _ = city(town)
    service = town.house.service.runtime.service
    request = SubjectHistory(subject, limit=3)

    def rows():
        read = service.read(
            town.tenant, lambda ctx: local_operations.list_subject_history(ctx, request)
        )
        page = town.house.run(read)
        if isinstance(page, Rest):
            page = town.house.run(page.run(service.context(Actor(town.tenant))))
        return page.rows

    whole = rows()
    parts_of(monkeypatch, 2)
    assert (rows(), len(whole)) == (whole, 3)
