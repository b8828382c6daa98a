"""Folds, exports, proofs and verification over HTTP, as a stranger checks them."""

import json
import re
from base64 import b64decode
from hashlib import sha256
from types import SimpleNamespace
from urllib.parse import quote

import attrs
import rfc8785

from svc_core.ledger.log import checkpoint, proofs, receipt, tree
from svc_core.ledger.log.note import VerifierKey
from svc_core.ledger.log.receipt import LogReceipt
from svc_core.ledger.queries import FoldBounds, view_of
from svc_core.ledger.records import HEAD, split_line
from svc_core.ledger.timestamps import utc_text
from svc_core.ledger.verify.log_verification import verify_log

ZUG, BASEL, VADUZ = {"city": "Zug"}, {"city": "Basel"}, {"city": "Vaduz"}


def fill(town, count=3):
    subject = town.subject()
    for number in range(count):
        town.claim(subject, {"city": f"City {number}"})
    return subject


# -- folds -------------------------------------------------------------------------------------


def test_contradictions_stand_side_by_side_until_a_verdict_decides(town):
    subject = town.subject()
    zug = town.claim(subject, ZUG)
    town.claim(subject, BASEL, town.bob)
    claim = town.headquarters(subject)
    assert (claim["contested"], len(claim["candidates"])) == (True, 2)
    refutation = town.verdict(subject, zug, "refuted", town.bob)
    claim = town.headquarters(subject)
    assert (claim["contested"], claim["value"]) == (False, BASEL)
    assert [candidate["best"] for candidate in claim["candidates"]] == [True, False]
    retract = {"kind": "claim", "op": "retract", "subject": subject, "target": refutation}
    town.append({**retract, "reason": "incorrect"}, town.bob)
    assert town.headquarters(subject)["contested"] is True


def test_a_fold_is_exact_to_the_microsecond_on_both_axes(town):
    subject = town.subject()
    town.house.clock.forward(seconds=1)
    old = town.claim(subject, ZUG, validFrom="2019-01-01T00:00:00Z")
    recorded_at = town.data(f"/records/{old}")["recordedAt"]
    town.house.clock.forward(seconds=1)
    amend = {"kind": "claim", "op": "amend", "subject": subject, "target": old}
    town.append(
        {**amend, "predicate": "headquarters", "value": BASEL, "validFrom": "2025-07-01T00:00:00Z"}
    )
    amended_at = town.data(f"/subjects/{subject}?include=history")["recordTime"]

    def value(record_time, valid_time):
        claim = town.headquarters(subject, f"?recordTime={record_time}&validTime={valid_time}")
        return claim and claim["value"]

    assert value(recorded_at, "2019-01-01T00:00:00Z") == ZUG
    assert value(recorded_at, "2018-12-31T23:59:59.999999Z") is None
    assert value(recorded_at, "2026-01-01T00:00:00Z") == ZUG
    assert value(amended_at, "2025-06-30T23:59:59.999999Z") == ZUG
    assert value(amended_at, "2025-07-01T00:00:00Z") == BASEL
    before = recorded_at[:-2] + f"{int(recorded_at[-2]) - 1}Z" if recorded_at[-2] != "0" else None
    if before is not None:
        assert value(before, "2020-01-01T00:00:00Z") is None


def test_an_answer_is_repeated_exactly_by_its_size_whatever_is_appended(town):
    subject = fill(town)
    size = town.data(f"/subjects/{subject}")["basis"]["size"]
    query = (
        f"/subjects/{subject}?size={size}&validTime=2026-01-01T00:00:00Z&include=history,segments"
    )
    before = town.get(query).content
    fill(town)
    town.claim(subject, VADUZ)
    assert town.get(query).content == before
    assert (
        town.get(f"{query}&recordTime=2099-01-01T00:00:00Z").json()["data"]["basis"]["size"] == size
    )


def test_two_subjects_that_bear_one_name_are_told_of_each_other(town):
    first, second = town.subject(), town.subject()
    name = {"kind": "designator", "scheme": "cve", "value": "CVE-2024-3094"}
    town.append({**name, "subject": first})
    record = town.append({**name, "subject": second})
    collisions = town.data(f"/subjects/{first}")["collisions"]
    assert collisions == [{"scheme": "cve", "value": "CVE-2024-3094", "subjects": [second]}]
    rows = town.data("/subjects?designator=cve:cve-2024-3094")
    assert {row["id"] for row in rows} == {first, second}
    retract = {"kind": "designator", "op": "retract", "subject": second, "target": record["id"]}
    town.append({**retract, "reason": "duplicate"})
    assert town.data(f"/subjects/{first}")["collisions"] == []
    assert town.data(f"/subjects/{first}?size=4")["collisions"] == collisions


class CountedLedger:
    """A ledger that counts the lines that are read of it."""

    def __init__(self, ledger):
        self.ledger, self.count = ledger, 0

    def __getattr__(self, name):
        async def read(*arguments, **options):
            rows = await getattr(self.ledger, name)(*arguments, **options)
            self.count += len(rows) if name in {"of_subjects", "get_many", "acts", "lines"} else 0
            return rows

        return read


def test_a_fold_reads_what_concerns_its_subject_and_not_all_of_who_shares_its_names(town):
    subject = town.subject()
    name = {"kind": "designator", "scheme": "cve", "value": "CVE-2024-3094"}
    town.append({**name, "subject": subject})
    counts = []

    async def fold(ctx):
        ledger = CountedLedger(ctx.tx.ledger)
        counted = attrs.evolve(ctx, tx=SimpleNamespace(ledger=ledger))
        bounds = FoldBounds(None, utc_text(ctx.now), None)
        view = await view_of(counted, subject, bounds, lambda view: view)
        counts.append(ledger.count)
        return [row.subjects for row in view.collisions]

    service = town.house.service.runtime.service
    rivals = [town.subject() for _ in range(3)]
    for rival in rivals:
        town.append({**name, "subject": rival})
    for _ in range(2):
        assert town.house.run(service.read(town.tenant, fold)) == [tuple(sorted(rivals))]
        for rival in rivals:
            claim = {"kind": "claim", "subject": rival, "predicate": "motto"}
            claims = town.append([{**claim, "value": number} for number in range(20)])
            town.verdict(rival, claims[0]["id"], "disputed", town.bob)
    assert counts == [2 + 3, 2 + 3]


def test_an_erased_designator_hides_no_other_collision(make_town):
    town = make_town(allow_erasure=("*",))
    first, second = town.subject(), town.subject()
    name = {"kind": "designator", "scheme": "cve", "value": "CVE-2024-3094"}
    record = town.append({**name, "value": "CVE-2024-0001", "subject": first})
    for subject in (first, second):
        town.append({**name, "subject": subject})
    erase = {"kind": "designator", "op": "erase", "subject": first, "target": record["id"]}
    town.append({**erase, "reason": "request"})
    third = town.subject()
    copy = town.append({**name, "subject": third})
    town.append({**erase, "subject": third, "target": copy["id"], "reason": "request"})
    collisions = town.data(f"/subjects/{first}")["collisions"]
    assert collisions == [{"scheme": "cve", "value": "CVE-2024-3094", "subjects": [second]}]


def test_statements_are_shown_with_their_sources(town):
    subject = town.subject()
    town.observation(subject)
    name = {"kind": "designator", "subject": subject, "scheme": "name", "value": "Pier  7"}
    town.append({**name, "confidence": 60, "source": {"url": "https://news.example/a/2"}})
    view = town.data(f"/subjects/{subject}")
    (sighting,), (name_row,) = view["observations"], view["designators"]
    assert sighting["source"]["publisher"] == "Pier Gazette"
    assert (name_row["value"], name_row["raw"], name_row["confidence"]) == ("Pier 7", "Pier  7", 60)
    assert name_row["source"]["url"] == "https://news.example/a/2"


def test_a_subject_that_was_not_yet_open_is_closed(town):
    subject = fill(town)
    early = town.data(f"/subjects/{subject}?size=0")
    assert (early["open"], early["identity"], early["basis"]["size"]) == (False, None, 0)


def test_a_fold_has_a_tag_and_need_not_be_sent_twice(town):
    subject = fill(town)
    path = f"/subjects/{subject}?validTime=2026-01-01T00:00:00Z"
    tag = town.get(path).headers["etag"]
    assert town.ask("GET", path, headers={"If-None-Match": tag}).status_code == 304


def test_subjects_are_listed_newest_first_and_walked_by_cursor(town):
    ids = [town.subject(label=f"Pier {number}") for number in range(5)]
    seen, path = [], "/subjects?limit=2"
    while path:
        page = town.get(path).json()
        seen += [(row["id"], row["label"]) for row in page["data"]]
        link = page["links"]["next"]
        path = link and link.partition("/api/v2/ledger")[2]
    assert seen == [(id_, f"Pier {4 - at}") for at, id_ in enumerate(reversed(ids))]
    assert town.get("/subjects?limit=5").json()["links"]["next"] is None


def test_a_page_of_subjects_goes_on_with_the_same_designator_alone(town):
    subjects = [town.subject() for _ in range(3)]
    for subject in (subjects[0], subjects[2]):
        name = {"kind": "designator", "subject": subject, "scheme": "name", "value": "Pier"}
        town.append(name)
    first = town.get("/subjects?limit=1&designator=name:Pier").json()
    rest = first["links"]["next"].partition("/api/v2/ledger")[2]
    assert [row["id"] for row in first["data"]] == [subjects[2]]
    assert [row["id"] for row in town.data(rest)] == [subjects[0]]
    for path in (rest.replace("designator=name:Pier&", ""), rest.replace("Pier", "Peer")):
        assert path != rest
        answer = town.ask("GET", path)
        assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_CURSOR")


# -- the log -----------------------------------------------------------------------------------


def test_an_export_is_the_sealed_lines_and_verifies_without_us(town):
    fill(town, 4)
    answer = town.get("/records?limit=2")
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = town.export().splitlines()
    for line in lines:
        assert rfc8785.dumps(json.loads(line)) == line
        assert HEAD.fullmatch(split_line(line).head)
    verdict = verify_log(
        lines,
        checkpoints=[town.get("/checkpoint").text],
        vkey=answer.headers["x-svc-ledger-vkey"],
    )
    assert (verdict.ok, verdict.assurance, verdict.size) == (True, "anchored", 5)
    assert answer.headers["x-svc-ledger-size"] == "5"
    assert b64decode(answer.headers["x-svc-ledger-root"]) == verdict.root


def test_an_export_goes_on_by_cursor_by_number_and_up_to_a_size(town):
    fill(town, 4)
    whole = town.export()
    assert town.export("&after=1") == b"".join(whole.splitlines(keepends=True)[2:])
    assert town.export("&size=3") == b"".join(whole.splitlines(keepends=True)[:3])
    rows = town.get("/records?format=json&limit=2").json()
    assert [row["head"]["seq"] for row in rows["data"]] == [0, 1]
    assert town.get("/records?after=99").content == b""


def test_tiles_give_the_root_and_every_entry(town):
    fill(town, 7)
    text = town.get("/tlog/checkpoint").text
    assert text == town.get("/checkpoint").text
    key = VerifierKey.parse(town.get("/records").headers["x-svc-ledger-vkey"])
    head = checkpoint.open_checkpoint(text, key)
    tile = town.get("/tlog/tile/0/000.p/8")
    assert tile.headers["content-type"] == "application/octet-stream"
    leaves = [tile.content[at : at + 32] for at in range(0, 256, 32)]
    assert tree.root(tree.extend((), 0, leaves)) == head.root
    entries = town.get("/tlog/tile/entries/000.p/8").content
    at, heads = 0, []
    while at < len(entries):
        size = int.from_bytes(entries[at : at + 2], "big")
        heads.append(entries[at + 2 : at + 2 + size])
        at += 2 + size
    assert [sha256(b"\0" + item).digest() for item in heads] == leaves


def test_a_receipt_is_given_again_for_any_size_that_holds_the_record(town):
    subject = fill(town, 5)
    key = VerifierKey.parse(town.data("/verify")["vkey"])
    record = town.data(f"/records/{subject}")
    for size in (1, 3, 6):
        answer = town.get(f"/records/{subject}/proof?size={size}")
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        checkpoint_ = receipt.verify_receipt(LogReceipt.parse(answer.text), record["seal"], key)
        assert checkpoint_.size == size


# -- verification ------------------------------------------------------------------------------


def test_what_was_seen_before_is_shown_to_be_there_still(town):
    fill(town, 4)
    before = town.data("/verify")
    fill(town, 6)
    root = before["rootHash"].replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    now = town.data(f"/verify?fromSize={before['size']}&fromRootHash={root}")
    assert (now["ok"], now["assurance"], now["consistency"]["ok"]) == (True, "anchored", True)
    proof = [b64decode(item) for item in now["consistency"]["proof"]]
    proofs.verify_consistency(
        before["size"],
        now["size"],
        b64decode(before["rootHash"]),
        b64decode(now["rootHash"]),
        proof,
    )
    wrong = "A" * 43 + "%3D"
    now = town.data(f"/verify?fromSize={before['size']}&fromRootHash={wrong}")
    assert (now["ok"], now["assurance"], now["consistency"]["ok"]) == (False, "failed", False)
    assert now["firstFault"]["code"] == "HISTORY_REWRITTEN"


def test_a_root_is_taken_as_it_comes_out_of_an_address(town):
    fill(town, 12)
    outcomes = [town.data(f"/verify?size={size}") for size in range(1, 13)]
    for char, spelling in (("+", "+"), ("+", "%20"), ("+", "-"), ("/", "/"), ("/", "_")):
        size, root = next((at["size"], at["rootHash"]) for at in outcomes if char in at["rootHash"])
        encoded_root = "".join(spelling if item == char else quote(item, safe="") for item in root)
        now = town.data(f"/verify?fromSize={size}&fromRootHash={encoded_root}")
        assert now["consistency"]["ok"] is True, spelling


def test_a_root_is_asked_about_with_its_size(town):
    answer = town.ask("GET", f"/verify?fromRootHash={'A' * 43}%3D")
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_PARAMETER")


def test_an_empty_ledger_is_sound_and_has_an_empty_list(town):
    verdict = town.data("/verify")
    assert (verdict["ok"], verdict["size"], verdict["assurance"]) == (True, 0, "self_consistent")
    assert town.data("/subjects") == []
    assert town.get("/records").content == b""
    assert re.fullmatch(r"[^\n]+/led_[0-9a-f]{24}", town.get("/checkpoint").text.split("\n")[0])


def test_a_damaged_store_is_told_as_such_with_the_line(town):
    subject = fill(town, 3)
    lines = [json.loads(line) for line in town.export().splitlines()]
    target = lines[2]["head"]["id"]

    async def damage(tx):
        row = await tx.ledger.get(target)
        await tx.ledger.erase(target, row.line.replace(b"City 1", b"City X"))

    town.house.run(town.house.storage.write(town.tenant, damage))
    verdict = town.data("/verify")
    assert (verdict["ok"], verdict["assurance"]) == (False, "failed")
    assert (verdict["firstFault"]["line"], verdict["firstFault"]["code"]) == (3, "PAYLOAD_ALTERED")
    assert town.data(f"/subjects/{subject}")["open"] is True


def test_a_correction_is_corrected_by_withdrawing_it_first(town):
    subject = town.subject()
    claim = {"kind": "claim", "subject": subject, "predicate": "headquarters"}
    wrong = town.claim(subject, ZUG)
    first = town.append({**claim, "op": "supersede", "target": wrong, "value": BASEL})["id"]
    town.append(
        [
            {
                "kind": "claim",
                "op": "retract",
                "subject": subject,
                "target": first,
                "reason": "clerical",
            },
            {**claim, "op": "supersede", "target": wrong, "value": VADUZ},
        ]
    )
    answer = town.headquarters(subject)
    assert (answer["value"], answer["contested"], len(answer["candidates"])) == (VADUZ, False, 1)
