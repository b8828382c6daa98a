"""`svc ledger` over a store that it opens itself and at a server: recording, reading, erasing."""

import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from svc_http import system
from svc_http.run.cli import append_commands as appends
from svc_http.run.cli.operation_calls import call
from svc_http.run.cli.options import Common
from svc_http.run.control.channel import OperationRefused

Svc = Callable[..., Any]
NO_SUBJECT = "sbj_" + "0" * 24


@pytest.fixture
def subject(svc: Svc) -> str:
    """The id of a subject in the only workspace there is."""
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    reply = svc("ledger", "open", "--type", "organization", "--label", "Pier 7 AG", "--json")
    assert reply.code == 0, reply.err
    return str(reply.json["id"])


def claim(subject: str, value: Any, **extras: Any) -> dict[str, Any]:
    body = {"predicate": "headquarters", "value": value}
    return {"kind": "claim", "subject": subject, **body, **extras}


def write(path: str | Path, *entries: Any) -> Path:
    path = Path(path)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in entries))
    return path


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))


# -- subjects ----------------------------------------------------------------------------------


# -- appending ---------------------------------------------------------------------------------


def test_lines_an_array_and_stdin_are_appended_alike(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = write("a.ndjson", claim(subject, "Zug"), claim(subject, "Bern"))
    report = svc("ledger", "append", lines, "--json").json
    assert [row["op"] for row in report["records"]] == ["assert", "assert"]
    Path("b.json").write_text(json.dumps([claim(subject, "Chur")]))
    assert "Appended 1 records." in svc("ledger", "append", "b.json").out
    give(monkeypatch, json.dumps(claim(subject, "Olten")).encode())
    assert "Appended 1 records." in svc("ledger", "append", "-").out
    assert len(svc("ledger", "history", subject, "--json").json) == 5


def test_the_same_input_is_appended_once_also_when_it_grows(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 3)
    entries = [claim(subject, f"town {number}") for number in range(8)]
    path = write("a.ndjson", *entries[:4])
    first = svc("ledger", "append", path, "--json").json
    assert (len(first["records"]), first["known"]) == (4, [])
    growth = svc("ledger", "append", write(path, *entries), "--json").json
    assert growth["known"] == [record["id"] for record in first["records"]]
    assert len(growth["records"]) == 4
    repeat = svc("ledger", "append", path)
    assert "Appended 0 records. 8 were there already." in repeat.out
    assert "--again" in repeat.out
    again = svc("ledger", "append", path, "--again", "--json").json
    assert (len(again["records"]), again["known"]) == (8, [])
    assert len(svc("ledger", "history", subject, "--json").json) == 17
    # The salts of two workspaces differ, and with them the records of one input.
    svc("workspaces", "create", "--name", "two", "--plan", "elite")
    path = write("b.ndjson", {"kind": "subject", "type": "other", "label": "x"})
    row, two = (
        svc("ledger", "append", path, "--workspace", name, "--json").json["records"][0]
        for name in ("acme", "two")
    )
    assert (row["payload"]["label"], row["id"] != two["id"]) == (two["payload"]["label"], True)


def test_an_append_that_expects_a_tag_stops_where_the_ledger_moved_on(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 1)
    tag = svc("ledger", "head", "--json").json["tag"]
    path = write("a.ndjson", claim(subject, "Zug"), claim(subject, "Bern"))
    done = svc("ledger", "append", path, "--if-match", tag, "--json").json
    assert done["tag"].startswith("3-")
    stale = svc("ledger", "append", write(path, claim(subject, "Chur")), "--if-match", f'"{tag}"')
    assert (stale.code, stale.out, "3 records" in stale.err) == (1, "", True)


def test_what_is_wrong_with_an_entry_is_told_by_its_line(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 2)
    good = [claim(subject, f"town {number}") for number in range(4)]
    for bad, message in (
        (claim(subject, "x", confidence=101), r"line 4, confidence: "),
        (claim(NO_SUBJECT, "x"), r"line 4(, subject)?: "),
        ({"kind": "claim", "subject": subject}, r"line 4, predicate: .*line 4, value: "),
    ):
        ran = svc("ledger", "append", write("a.ndjson", *good[:3], bad))
        assert (ran.code, ran.out) == (1, "")
        assert re.search(message, ran.err), ran.err
    assert "The 2 before them were appended." not in ran.err  # a run before had done so
    Path("b.json").write_text(json.dumps([*good[:3], bad]))
    assert "entry 4, value: " in svc("ledger", "append", "b.json").err
    # What was appended before counts when the number of an entry is told.
    three = write("c.ndjson", *good[:3])
    svc("ledger", "append", three)
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 9)
    ran = svc("ledger", "append", write(three, *good[:3], claim(NO_SUBJECT, "x")))
    assert "line 4" in ran.err


def test_a_batch_before_the_refused_one_stays(svc: Svc, subject: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(appends, "BATCH_BYTES", 150)
    path = write("a.ndjson", claim(subject, "Zug"), claim(NO_SUBJECT, "x"))
    ran = svc("ledger", "append", path, "--json")
    assert (ran.code, ran.json["code"]) == (1, "UNKNOWN_SUBJECT")
    assert ran.json["detail"].endswith(". The 1 before them were appended.")
    assert len(svc("ledger", "history", subject, "--json").json) == 2


NO_JSON = {
    b"": "has no entries",
    b'{"kind":': "line 1: ",
    b'\n{"a":1,"a":2}': "line 2: ",
    b"[1,": "the array: ",
    b'{"value":0.1000000000000000055511151231257827}': "line 1: ",
    b'{"value":9007199254740993}': "line 1: ",
    b" " * 100: "several files",
}


def test_input_that_is_no_json_changes_nothing(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "INPUT_BYTES_MAX", 99)
    assert "none.ndjson" in svc("ledger", "append", "none.ndjson").err
    for content, message in NO_JSON.items():
        Path("none.ndjson").write_bytes(content)
        ran = svc("ledger", "append", "none.ndjson")
        assert (ran.code, ran.out, message in ran.err) == (2, "", True), content
    assert len(svc("ledger", "history", subject, "--json").json) == 1


def test_the_receipt_of_an_append_proves_the_log_up_to_it(svc: Svc, subject: str) -> None:
    done = svc("ledger", "append", write("a.ndjson", claim(subject, "Zug")), "--receipt", "r.txt")
    assert "Keep the receipt" not in done.out
    svc("ledger", "export", "x.ndjson")
    key = svc("ledger", "key").out.strip()
    check = svc("ledger", "verify", "x.ndjson", "--receipt", "r.txt", "--key", key)
    assert (check.code, "anchored" in check.out) == (0, True)


def test_marks_are_as_many_as_entries(svc: Svc, subject: str) -> None:
    requests: dict[str, Any] = {"entries": [claim(subject, "Zug")], "marks": ["0" * 64, "1" * 64]}
    with pytest.raises(OperationRefused, match="as many as entries"):
        call(Common(), "appendEntries", body=requests)


# -- reading -----------------------------------------------------------------------------------


# -- erasing -----------------------------------------------------------------------------------


def test_erasure_is_refused_unless_it_is_allowed(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = svc("ledger", "erase", subject, "--reason", "a request", "--json")
    assert (ran.code, ran.json["code"]) == (1, "ERASURE_NOT_ALLOWED")
    for workspaces in ("acme", "wsp_1", "*,all"):
        monkeypatch.setenv("SVC_ALLOW_ERASURE", workspaces)
        misspelt = svc("ledger", "subjects")
        assert (misspelt.code, "no workspace id" in misspelt.err) == (2, True)


def test_what_is_erased_is_gone_from_everywhere_and_all_else_verifies(
    svc: Svc, subject: str, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "Whistleblower Lane 12"
    path = write("a.ndjson", claim(subject, secret), claim(subject, "Bern"))
    records = svc("ledger", "append", path, "--receipt", "old-receipt", "--json").json["records"]
    svc("ledger", "export", "before.ndjson", "--checkpoint", "old-checkpoint")
    assert secret.encode() in (cwd / "svc.db").read_bytes()
    (home,) = svc("workspaces", "list", "--json").json
    monkeypatch.setenv("SVC_ALLOW_ERASURE", home["id"])

    report = svc("ledger", "erase", records[0]["id"], "--reason", "a request",
               "--legal-basis", "GDPR, article 17", "--json").json  # fmt: skip
    assert (report["op"], report["target"]) == ("erase", records[0]["id"])

    svc("ledger", "export", "after.ndjson")
    for file in (cwd / "after.ndjson", *cwd.glob("svc.db*")):
        assert file.is_socket() or secret.encode() not in file.read_bytes(), file
    for command in ("fold", "history"):
        assert secret not in svc("ledger", command, subject, "--json").out
    assert "a request" in svc("ledger", "history", subject).out
    key = svc("ledger", "key").out.strip()
    anchors = ("--key", key, "--checkpoint", "old-checkpoint", "--receipt", "old-receipt")
    verdict = svc("ledger", "verify", "after.ndjson", *anchors, "--json").json
    assert (verdict["ok"], verdict["erased"], verdict["assurance"]) == (True, 1, "anchored")
    assert "1 erased" in svc("ledger", "verify", "after.ndjson", *anchors).out

    lines = (cwd / "before.ndjson").read_bytes().split(b"\n")
    blanked_text = re.sub(rb'"payload":\{.*\},"seal"', b'"payload":null,"seal"', lines[1])
    (cwd / "forged.ndjson").write_bytes(b"\n".join([lines[0], blanked_text, *lines[2:]]))
    forgery = svc("ledger", "verify", "forged.ndjson", *anchors, "--json")
    fault = forgery.json["firstFault"]
    assert (forgery.code, fault["code"], fault["line"]) == (1, "PAYLOAD_MISSING", 2)


def test_a_part_says_how_many_of_its_records_were_erased_after_it(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three claims, records 1 to 3; the last two were erased by the records 4 and 5."""
    monkeypatch.setenv("SVC_ALLOW_ERASURE", "*")
    path = write("a.ndjson", *(claim(subject, value) for value in ("a", "b", "c")))
    for row in svc("ledger", "append", path, "--json").json["records"][1:]:
        assert svc("ledger", "erase", row["id"], "--reason", "asked").code == 0
    for size, later in enumerate((0, 0, 1, 2, 1, 0), 1):
        report = svc("ledger", "export", "part.ndjson", "--size", size, "--json").json
        assert (report["size"], report["erasedLater"]) == (size, later)
        _check_part(svc, size, later)


def _check_part(svc: Svc, size: int, later: int) -> None:
    page = svc("ledger", "export", "part.ndjson", "--size", size)
    assert (page.code, "PAYLOAD_MISSING" in page.out) == (0, later > 0)
    check = svc("ledger", "verify", "part.ndjson")
    assert check.code == (1 if later else 0)
    assert ("export the whole ledger" in check.out) is (later > 0)
    part, whole = svc("ledger", "export", "--size", size), svc("ledger", "export")
    assert ("PAYLOAD_MISSING" in part.err, "PAYLOAD_MISSING" in part.out) == (later > 0, False)
    assert (whole.err, whole.out.startswith(part.out)) == ("", True)


# -- at a server -------------------------------------------------------------------------------


def test_the_demo_shows_what_contradicts_and_who_judged_it(demo: Any) -> None:
    (subject,) = demo.get("/api/v2/ledger/subjects").json()["data"]
    assert subject["label"] == "Kestrel Exchange"
    place = f"/api/v2/ledger/subjects/{subject['id']}"
    view = demo.get(f"{place}?include=history").json()["data"]
    seat, status = view["claims"]["headquarters"], view["claims"]["status"]
    assert (seat["value"], seat["contested"]) == ("Victoria, Seychelles", True)
    (best, other) = seat["candidates"]
    (verdict,) = best["support"][0]["verification"]["verdicts"]
    assert verdict["state"] == "corroborated"
    assert verdict["author"] != best["support"][0]["author"]
    assert (other["value"], len(view["observations"])) == ("Singapore", 2)
    assert (status["value"], len(view["history"])) == ("under court protection", 1)
    assert demo.get(f"{place}?recordTime={subject['openedAt']}").json()["data"]["claims"] == {}
    early = demo.get(f"{place}?validTime=2020-01-01T00:00:00Z").json()["data"]
    assert early["claims"]["status"]["value"] == "trading"
    assert view["recordTime"] <= system.now().isoformat()


def test_a_served_ledger_leaves_arrives_and_verifies(
    demo: Any, svc_in: Svc, tmp_path: Path
) -> None:
    def run(*arguments: object) -> Any:
        return svc_in("ledger", *arguments, cwd=tmp_path, SVC_SERVER=demo.addresses["admin"])

    out = run("export", "x.ndjson", "--checkpoint", "cp", "--json").json
    assert out["size"] >= 9
    assert run("verify", "x.ndjson", "--checkpoint", "cp", "--key", out["vkey"]).code == 0
    served = demo.get("/api/v2/ledger/verify").json()["data"]
    assert (served["ok"], served["vkey"], served["ledger"]) == (True, out["vkey"], out["ledger"])
    # The file is the server's to read, so its path is told whole.
    assert run("import", "x.ndjson", "--json").json["imported"] == 0
    assert run("import", "cp").code == 1


# -- what is stored ----------------------------------------------------------------------------


def test_a_store_is_checked_against_its_lines_and_the_command_fails_with_it(
    svc: Svc, subject: str, cwd: Path
) -> None:
    sound = svc("ledger", "fsck", "--json")
    assert (sound.code, sound.json["ok"], sound.json["checks"]["store"]) == (0, True, True)
    assert sound.json["level"] == "strict"
    path = next(cwd.rglob("*.db"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE ledger_lines SET subject = 'nobody'")
    report = svc("ledger", "fsck")
    assert report.code == 1
    assert "INDEX_DIFFERS" in report.out
    assert subject in report.out
    assert svc("ledger", "check", "--level", "integrity").code == 1


def test_a_key_that_no_listed_secret_opens_is_told_in_a_line(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", "another secret than the one that sealed it")
    ran = svc("ledger", "fold", subject)
    assert (ran.code, "no listed secret opens it" in ran.err) == (0, True)
    assert "Traceback" not in ran.err
    assert svc("ledger", "fsck").code == 1
    assert "Retry-After" not in svc("ledger", "fsck").err
