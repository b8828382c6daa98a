"""Appending over HTTP: what is sealed, what is refused, and what a receipt is worth."""

import json

import pytest

from svc_core.ledger.log import receipt
from svc_core.ledger.log.note import VerifierKey
from svc_core.ledger.log.receipt import LogReceipt

ORIGIN = "https://api.example.org"
ZUG, BASEL = {"city": "Zug"}, {"city": "Basel"}


def test_a_subject_is_opened_with_a_receipt_that_anybody_can_check(town):
    answer = town.ask("POST", "/subjects", json={"type": "vessel", "label": "MV Pier"})
    row = answer.json()["data"]
    assert answer.status_code == 201
    assert answer.headers["location"] == f"{ORIGIN}/api/v2/ledger/subjects/{row['id']}"
    assert answer.headers["etag"] == f'"1-{row["seal"][:16]}"'
    assert (row["kind"], row["op"], row["seq"], row["subject"]) == (
        "subject",
        "assert",
        0,
        row["id"],
    )
    assert row["payload"]["label"] == "MV Pier"
    assert len(row["payload"]["salt"]) == 22
    key = VerifierKey.parse(town.data("/verify")["vkey"])
    assert receipt.verify_receipt(LogReceipt.parse(row["receipt"]), row["seal"], key).size == 1


def test_every_record_of_a_batch_has_its_receipt_and_one_record_time(town):
    subject = town.subject()
    body = [
        {"kind": "claim", "subject": subject, "predicate": "uses", "value": {"subject": subject}}
        for _ in range(100)
    ]
    answer = town.ask("POST", "/records", json=body)
    rows = answer.json()["data"]
    key = VerifierKey.parse(town.data("/verify")["vkey"])
    assert len({row["recordedAt"] for row in rows}) == 1
    assert [row["seq"] for row in rows] == list(range(1, 101))
    for row in rows:
        assert (
            receipt.verify_receipt(LogReceipt.parse(row["receipt"]), row["seal"], key).size == 101
        )
    lines = town.house.ask("GET", answer.headers["location"].removeprefix(ORIGIN), town.ann)
    assert [json.loads(line)["head"]["id"] for line in lines.text.splitlines()] == [
        row["id"] for row in rows
    ]


def test_an_append_behind_a_clock_that_was_set_back_says_by_how_much(town):
    subject = town.subject()
    claim = {"kind": "claim", "subject": subject, "predicate": "headquarters", "value": ZUG}
    assert "sealedAheadSeconds" not in town.append(claim)
    town.house.clock.forward(hours=-1)
    assert town.append(claim)["sealedAheadSeconds"] == 3_600
    assert {row["sealedAheadSeconds"] for row in town.append([claim, claim])} == {3_600}
    opening = town.ask("POST", "/subjects", json={"type": "vessel", "label": "MV Pier"})
    assert opening.json()["data"]["sealedAheadSeconds"] == 3_600


def test_a_number_that_reads_back_is_sealed_as_it_was_sent(town):
    subject = town.subject()
    text = f'{{"kind":"claim","subject":"{subject}","predicate":"draught","value":12.50}}'
    answer = town.ask(
        "POST", "/records", content=text, headers={"Content-Type": "application/json"}
    )
    assert answer.json()["data"]["payload"]["value"] == 12.5
    assert b'"value":12.5}' in town.export()


def test_an_append_may_ask_for_the_state_that_it_was_made_for(town):
    first = town.ask("POST", "/subjects", json={"type": "topic", "label": "Ports"})
    stale = {"If-Match": '"0-0123456789abcdef"'}
    body = {"type": "topic", "label": "Piers"}
    answer = town.ask("POST", "/subjects", json=body, headers=stale)
    assert answer.status_code == 412
    assert answer.headers["etag"] == first.headers["etag"]
    current = {"If-Match": answer.headers["etag"]}
    assert town.ask("POST", "/subjects", json=body, headers=current).status_code == 201


def test_an_answer_that_is_kept_for_a_retry_holds_no_content_in_clear(town):
    headers = {"Idempotency-Key": "open-pier-seven"}
    body = {"type": "topic", "label": "Ports of call"}
    assert b"Ports of call" in town.ask("POST", "/subjects", json=body, headers=headers).content

    async def answers(tx):
        return await tx.answers.get("openSubject", "open-pier-seven")

    answer = town.house.run(town.house.storage.write(town.tenant, answers))
    assert answer is not None
    assert b"Ports of call" not in answer.body


def test_a_verdict_needs_another_author_and_follows_the_state(town):
    subject = town.subject()
    claim = town.claim(subject, ZUG)
    own = {"kind": "claim", "op": "verify", "subject": subject, "target": claim, "state": "refuted"}
    # A second key is no second person.
    for key in (town.ann, town.second):
        assert town.refusal(own, key)[:2] == (403, "FOUR_EYES_REQUIRED")
    town.verdict(subject, claim, "verified", town.bob, method="registry")
    again = {**own, "state": "corroborated", "evidence": [town.observation(subject)]}
    status, code, detail = town.refusal(again, town.bob)
    assert (status, code) == (409, "TRANSITION_NOT_ALLOWED")
    assert "under_review, disputed, refuted may follow verified" in detail


def test_an_entry_follows_those_before_it_in_its_batch(town):
    subject, second = town.subject(), town.subject()
    claim = town.claim(subject, ZUG)
    retract = {"kind": "claim", "op": "retract", "subject": subject, "target": claim}
    batch = [
        {"kind": "claim", "subject": second, "predicate": "motto", "value": "x"},
        {**retract, "reason": "incorrect"},
        {**retract, "reason": "other"},
    ]
    assert town.refusal(batch)[:2] == (409, "TARGET_NOT_IN_FORCE")
    assert len(town.append(batch[:2])) == 2


@pytest.mark.parametrize("is_batch", [False, True])
def test_a_repeated_append_does_not_tell_what_was_erased_since(make_town, is_batch):
    town = make_town(allow_erasure=("*",))
    subject = town.subject()
    claim = {"kind": "claim", "subject": subject, "predicate": "motto", "validFrom": None}
    first = [{**claim, "value": "Ø 12.50"}, {**claim, "value": 12.5}]
    body = first if is_batch else first[0]
    headers = {"Idempotency-Key": "told-once-only"}
    answer = town.ask("POST", "/records", json=body, headers=headers)
    assert town.ask("POST", "/records", json=body, headers=headers).content == answer.content
    rows = answer.json()["data"] if is_batch else [answer.json()["data"]]
    erase = {"kind": "claim", "op": "erase", "subject": subject, "target": rows[0]["id"]}
    town.append({**erase, "reason": "request"})
    again = town.ask("POST", "/records", json=body, headers=headers)
    assert (again.status_code, again.headers["idempotency-replayed"]) == (201, "true")
    shown = again.json()["data"] if is_batch else [again.json()["data"]]
    assert shown == [{**rows[0], "payload": None}, *rows[1:]]
    salt, seal = rows[0]["payload"]["salt"], rows[0]["seal"]
    assert salt not in again.text
    assert again.content == answer.content.replace(
        answer.content[answer.content.index(b'"payload":{') : answer.content.index(b',"seal"')],
        b'"payload":null',
        1,
    )
    assert seal in again.text


def test_erased_content_is_gone_and_the_log_stays_sound(make_town):
    town = make_town(allow_erasure=("*",))
    subject = town.subject()
    sound, erased_id = town.claim(subject, ZUG), town.claim(subject, BASEL, town.bob)
    erase = {"kind": "claim", "op": "erase", "subject": subject, "target": erased_id}
    town.append([{**erase, "reason": "request"}])
    export = town.export()
    assert b"Zug" in export
    assert b"Basel" not in export
    assert [json.loads(line)["payload"] is None for line in export.splitlines()] == [
        False, False, True, False,
    ]  # fmt: skip
    verdict = town.data("/verify")
    assert (verdict["ok"], verdict["size"], verdict["erased"]) == (True, 4, 1)
    assert town.headquarters(subject)["value"] == ZUG
    assert sound != erased_id


def test_a_part_of_the_log_knows_the_later_erasures_of_every_subject(make_town):
    town = make_town(allow_erasure=("*",))
    subjects = [town.subject() for _ in range(3)]
    claims = [town.claim(subject, ZUG) for subject in subjects]
    for subject, target in zip(subjects, claims, strict=True):
        erase = {"kind": "claim", "op": "erase", "subject": subject, "target": target}
        town.append({**erase, "reason": "request"})
    verdict = town.data("/verify?size=6")
    assert (verdict["ok"], verdict["erased"]) == (True, 3)


@pytest.mark.parametrize("level", ["integrity", "strict"])
def test_a_part_of_the_log_is_sound_though_its_content_was_erased_after_it(make_town, level):
    town = make_town(allow_erasure=("*",))
    subject = town.subject()
    first, second = town.claim(subject, ZUG), town.claim(subject, BASEL, town.bob)
    erase = {"kind": "claim", "op": "erase", "subject": subject, "reason": "request"}
    town.append({**erase, "target": first})

    for size, count in ((1, 0), (2, 1), (3, 1), (4, 1)):
        verdict = town.data(f"/verify?size={size}&level={level}")
        assert (verdict["ok"], verdict["size"], verdict["erased"]) == (True, size, count)

    async def empty(tx):
        row = await tx.ledger.get(second)
        head, payload = row.line.split(b',"payload":')
        await tx.ledger.erase(second, head + b',"payload":null' + payload[-75:])

    town.house.run(town.house.storage.write(town.tenant, empty))
    fault = town.data(f"/verify?size=3&level={level}")["firstFault"]
    assert (fault["line"], fault["code"]) == (3, "PAYLOAD_MISSING")


def test_fifty_appends_at_once_make_one_contiguous_log(town):
    subject = town.subject()
    paths = [("POST", "/api/v2/ledger/records")] * 50
    body = {
        "kind": "claim",
        "subject": subject,
        "predicate": "officer",
        "value": {"subject": subject},
    }
    answers = town.house.asks(paths, town.ann, json=body)
    assert {answer.status_code for answer in answers} == {201}
    rows = sorted((answer.json()["data"] for answer in answers), key=lambda row: row["seq"])
    assert [row["seq"] for row in rows] == list(range(1, 51))
    times = [row["recordedAt"] for row in rows]
    assert times == sorted(set(times))
    verdict = town.data("/verify")
    assert (verdict["ok"], verdict["size"]) == (True, 51)


def test_an_append_is_told_in_the_change_feed_of_its_workspace_alone(town):
    subject = town.subject()
    town.claim(subject, ZUG)

    def feed(key):
        return town.house.ask("GET", "/api/v2/changes?types=subject", key).json()["data"]

    with_feed = town.workspace("Dora", scopes=("ledger:write", "ledger:read", "osint:read"))[1][0]
    mine = town.append({"type": "topic", "label": "Piers"}, with_feed, "/subjects")["id"]
    assert [
        (row["resourceId"], row["changeType"], row["links"]["self"]) for row in feed(with_feed)
    ] == [(mine, "created", f"/api/v2/ledger/subjects/{mine}")]
