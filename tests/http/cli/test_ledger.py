"""`svc ledger` over a store that it opens itself: recording, reading, erasing."""

import json
import re
from collections.abc import Callable
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from svc_http.cli import appends

Svc = Callable[..., Any]
NO_SUBJECT = "sbj_" + "0" * 24


@pytest.fixture
def subject(svc: Svc) -> str:
    """The id of a subject in the only workspace there is."""
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    made = svc("ledger", "open", "--type", "organization", "--label", "Pier 7 AG", "--json")
    assert made.code == 0, made.err
    return str(made.json["id"])


def claim(subject: str, value: Any, **more: Any) -> dict[str, Any]:
    return {
        "kind": "claim",
        "subject": subject,
        "predicate": "headquarters",
        "value": value,
        **more,
    }


def observation(subject: str) -> dict[str, Any]:
    return {
        "kind": "observation",
        "subject": subject,
        "observedAt": "2026-01-04T18:30:00Z",
        "text": "The registry lists Zug as the seat of a company whose name is longer than a row.",
        "source": {
            "url": "https://news.example/a/1",
            "retrievedAt": "2026-01-04T19:00:00Z",
            "contentSha256": "36" * 32,
        },
    }


def write(path: Path, *entries: Any) -> Path:
    path.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return path


def give(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(content)))


# -- subjects ----------------------------------------------------------------------------------


def test_a_subject_is_opened_listed_and_found_by_its_names(svc: Svc, subject: str) -> None:
    shown = svc("ledger", "open", "--type", "vessel", "--label", "Nord", "--valid-from",
                "2020-01-01T00:00:00Z")  # fmt: skip
    assert shown.code == 0
    assert "svc ledger append" in shown.out
    rows = svc("ledger", "subjects", "--json").json
    assert [row["label"] for row in rows] == ["Nord", "Pier 7 AG"]
    assert "Pier 7 AG" in svc("ledger", "subjects").out
    entry = {"kind": "designator", "subject": subject, "scheme": "lei",
             "value": "5493001KJTIIGC8Y1R12"}  # fmt: skip
    svc("ledger", "append", write(Path("a.ndjson"), entry))
    found = svc("ledger", "subjects", "--designator", "lei:5493001KJTIIGC8Y1R12", "--json").json
    assert [row["id"] for row in found] == [subject]


def test_an_empty_ledger_says_how_to_begin(svc: Svc) -> None:
    svc("workspaces", "create", "--name", "acme")
    assert "svc ledger open" in svc("ledger", "subjects").out


def test_records_are_kept_for_whoever_is_named(svc: Svc, subject: str) -> None:
    key = svc("keys", "create", "--name", "ann", "--json").json["id"]
    (person,) = svc("users", "list", "--json").json
    for author in (key, person["id"]):
        made = svc("ledger", "open", "--type", "other", "--label", "x", "--author", author,
                   "--json").json  # fmt: skip
        assert made["author"] == author
    nobody = svc("ledger", "open", "--type", "other", "--label", "x", "--author", "Ann")
    assert nobody.code == 1
    assert "svc keys list" in nobody.err


# -- appending ---------------------------------------------------------------------------------


def test_lines_an_array_and_stdin_are_appended_alike(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = write(Path("a.ndjson"), claim(subject, "Zug"), claim(subject, "Bern"))
    assert [row["op"] for row in svc("ledger", "append", lines, "--json").json["records"]] == [
        "assert",
        "assert",
    ]
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
    path = write(Path("a.ndjson"), *entries[:4])
    first = svc("ledger", "append", path, "--json").json
    assert (len(first["records"]), first["known"]) == (4, [])
    grown = svc("ledger", "append", write(path, *entries), "--json").json
    assert grown["known"] == [record["id"] for record in first["records"]]
    assert len(grown["records"]) == 4
    same = svc("ledger", "append", path)
    assert "Appended 0 records. 8 were there already." in same.out
    assert "--again" in same.out
    again = svc("ledger", "append", path, "--again", "--json").json
    assert (len(again["records"]), again["known"]) == (8, [])
    assert len(svc("ledger", "history", subject, "--json").json) == 17


def test_the_salts_of_two_workspaces_differ(svc: Svc, subject: str) -> None:
    svc("workspaces", "create", "--name", "two", "--plan", "elite")
    path = write(Path("a.ndjson"), {"kind": "subject", "type": "other", "label": "x"})
    one, two = (
        svc("ledger", "append", path, "--workspace", name, "--json").json["records"][0]
        for name in ("acme", "two")
    )
    assert one["payload"]["label"] == two["payload"]["label"]
    assert one["id"] != two["id"]


def test_an_append_that_expects_a_tag_stops_where_the_ledger_moved_on(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 1)
    tag = svc("ledger", "checkpoint", "--json").json["tag"]
    path = write(Path("a.ndjson"), claim(subject, "Zug"), claim(subject, "Bern"))
    done = svc("ledger", "append", path, "--if-match", tag, "--json").json
    assert done["tag"].startswith("3-")
    stale = svc("ledger", "append", write(path, claim(subject, "Chur")), "--if-match", f'"{tag}"')
    assert (stale.code, stale.out) == (1, "")
    assert "3 records" in stale.err


def test_what_is_wrong_with_an_entry_is_told_by_its_line(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 2)
    good = [claim(subject, f"town {number}") for number in range(4)]
    for bad, said in (
        (claim(subject, "x", confidence=101), r"line 4, confidence: "),
        (claim(NO_SUBJECT, "x"), r"line 4(, subject)?: "),
        ({"kind": "claim", "subject": subject}, r"line 4, predicate: .*line 4, value: "),
    ):
        ran = svc("ledger", "append", write(Path("a.ndjson"), *good[:3], bad))
        assert (ran.code, ran.out) == (1, "")
        assert re.search(said, ran.err), ran.err
    assert "The 2 before them were appended." not in ran.err  # a run before had done so
    Path("b.json").write_text(json.dumps([*good[:3], bad]))
    assert "entry 4, value: " in svc("ledger", "append", "b.json").err
    # What was appended before counts when the number of an entry is told.
    three = write(Path("c.ndjson"), *good[:3])
    svc("ledger", "append", three)
    monkeypatch.setattr(appends, "BATCH_ENTRIES", 9)
    ran = svc("ledger", "append", write(three, *good[:3], claim(NO_SUBJECT, "x")))
    assert "line 4" in ran.err


def test_a_batch_before_the_refused_one_stays(svc: Svc, subject: str, monkeypatch: Any) -> None:
    monkeypatch.setattr(appends, "BATCH_BYTES", 150)
    path = write(Path("a.ndjson"), claim(subject, "Zug"), claim(NO_SUBJECT, "x"))
    ran = svc("ledger", "append", path, "--json")
    assert ran.code == 1
    assert ran.json["code"] == "UNKNOWN_SUBJECT"
    assert ran.json["detail"].endswith(" The 1 before them were appended.")
    assert len(svc("ledger", "history", subject, "--json").json) == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "has no entries"),
        (b'{"kind":', "line 1: "),
        (b'\n{"a":1,"a":2}', "line 2: "),
        (b"[1,", "the array: "),
        (b'{"value":0.1000000000000000055511151231257827}', "line 1: "),
        (b'{"value":9007199254740993}', "line 1: "),
    ],
)
def test_input_that_is_no_json_changes_nothing(
    svc: Svc, subject: str, content: bytes, said: str
) -> None:
    Path("a.ndjson").write_bytes(content)
    ran = svc("ledger", "append", "a.ndjson")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_input_must_be_there_and_of_a_bounded_size(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert svc("ledger", "append", "none.ndjson").code == 2
    monkeypatch.setattr(appends, "INPUT_BYTES_MAX", 10)
    ran = svc("ledger", "append", write(Path("a.ndjson"), claim(subject, "Zug")))
    assert (ran.code, "several files" in ran.err) == (2, True)


def test_the_receipt_of_an_append_proves_the_log_up_to_it(svc: Svc, subject: str) -> None:
    path = write(Path("a.ndjson"), claim(subject, "Zug"))
    done = svc("ledger", "append", path, "--receipt", "r.txt")
    assert "Keep the receipt" not in done.out
    svc("ledger", "export", "x.ndjson")
    key = svc("ledger", "key").out.strip()
    verified = svc("ledger", "verify", "x.ndjson", "--receipt", "r.txt", "--key", key)
    assert (verified.code, "anchored" in verified.out) == (0, True)


# -- reading -----------------------------------------------------------------------------------


def test_a_subject_is_folded_at_two_times(svc: Svc, subject: str) -> None:
    entries = [
        observation(subject),
        claim(subject, "Zug", validFrom="2019-01-01T00:00:00Z", confidence=70),
        claim(subject, "Bern"),
    ]
    made = svc("ledger", "append", write(Path("a.ndjson"), *entries), "--json").json["records"]
    view = svc("ledger", "fold", subject, "--json").json
    assert view["claims"]["headquarters"]["contested"] is True
    early = svc("ledger", "fold", subject, "--valid-time", "2010-01-01T00:00:00Z", "--json").json
    assert early["claims"]["headquarters"]["value"] == "Bern"
    assert svc("ledger", "fold", subject, "--size", 1, "--json").json["claims"] == {}
    opened = svc("ledger", "history", subject, "--json").json[0]["recordedAt"]
    known = svc("ledger", "fold", subject, "--record-time", opened, "--json").json
    assert (known["claims"], known["basis"]["size"]) == ({}, 1)

    verdict = {"kind": "claim", "op": "verify", "subject": subject, "target": made[2]["id"],
               "state": "refuted", "method": "visit"}  # fmt: skip
    amended = claim(subject, "Chur", op="amend", target=made[1]["id"],
                    validFrom="2024-01-01T00:00:00Z")  # fmt: skip
    key = svc("keys", "create", "--name", "bob", "--json").json["id"]
    svc("ledger", "append", write(Path("b.ndjson"), verdict, amended), "--author", key)
    shown = svc("ledger", "fold", subject, "--include", "history", "--include", "segments").out
    for words in ("Pier 7 AG (organization)", "Chur", "refuted", "Displaced", "Segments", "amend "):
        assert words in shown
    told = svc("ledger", "history", subject).out
    for words in ("headquarters = Zug", "The registry lists", "refuted", "…"):
        assert words in told


def test_a_fold_tells_of_other_bearers_and_other_values(svc: Svc, subject: str) -> None:
    other = svc("ledger", "open", "--type", "other", "--label", "Twin", "--json").json["id"]
    designators = [
        {"kind": "designator", "subject": each, "scheme": "domain", "value": "pier7.example"}
        for each in (subject, other)
    ]
    owners = [
        {"kind": "claim", "subject": subject, "predicate": "owner", "value": name}
        for name in ("Ann", "Bob")
    ]
    svc("ledger", "append", write(Path("a.ndjson"), *designators, *owners))
    shown = svc("ledger", "fold", subject).out
    assert f"domain pier7.example also belongs to {other}." in shown
    assert "domain pier7.example" in svc("ledger", "history", subject).out
    assert "--size 6 repeats it" in shown


def test_a_withdrawn_subject_says_that_nothing_is_in_force(svc: Svc, subject: str) -> None:
    retract = {"kind": "subject", "op": "retract", "subject": subject, "target": subject,
               "reason": "duplicate"}  # fmt: skip
    svc("ledger", "append", write(Path("a.ndjson"), retract))
    assert "nothing in force says what it is" in svc("ledger", "fold", subject).out
    assert "duplicate" in svc("ledger", "history", subject).out


@pytest.mark.parametrize("command", ["fold", "history"])
def test_an_unknown_subject_is_refused(svc: Svc, subject: str, command: str) -> None:
    ran = svc("ledger", command, NO_SUBJECT)
    assert (ran.code, ran.out) == (1, "")
    misspelt = svc("ledger", command, "pier7")
    assert (misspelt.code, "SUBJECT-ID" in misspelt.err) == (1, True)


def test_a_record_is_proven_under_the_signed_head(svc: Svc, subject: str) -> None:
    receipt = svc("ledger", "prove", subject)
    assert receipt.out.startswith("c2sp.org/tlog-proof@v1\nindex 0\n")
    assert svc("ledger", "prove", subject, "--json").json["receipt"] == receipt.out
    note = svc("ledger", "checkpoint")
    assert note.out in receipt.out
    assert svc("ledger", "checkpoint", "--size", 1).out == note.out
    told = svc("ledger", "key", "--json").json
    assert told["vkey"] == svc("ledger", "key").out.strip()
    assert note.out.startswith(told["origin"] + "\n1\n")
    assert svc("ledger", "checkpoint", "--size", 2).code == 1


# -- erasing -----------------------------------------------------------------------------------


def test_erasure_is_refused_unless_it_is_allowed(svc: Svc, subject: str) -> None:
    ran = svc("ledger", "erase", subject, "--reason", "a request", "--json")
    assert ran.code == 1
    assert (ran.json["code"], ran.json["status"]) == ("ERASURE_NOT_ALLOWED", 403)
    assert svc("ledger", "erase", "clm_" + "0" * 24, "--reason", "a request").code == 1


@pytest.mark.parametrize("names", ["*", "its own"])
def test_what_is_erased_is_gone_from_everywhere_and_all_else_verifies(
    svc: Svc, subject: str, here: Path, monkeypatch: pytest.MonkeyPatch, names: str
) -> None:
    secret = "Whistleblower Lane 12"
    path = write(Path("a.ndjson"), claim(subject, secret), claim(subject, "Bern"))
    made = svc("ledger", "append", path, "--receipt", "old-receipt", "--json").json["records"]
    svc("ledger", "export", "before.ndjson", "--checkpoint", "old-checkpoint")
    assert secret.encode() in (here / "svc.db").read_bytes()
    (home,) = svc("workspaces", "list", "--json").json
    monkeypatch.setenv("SVC_ALLOW_ERASURE", "*" if names == "*" else home["id"])

    told = svc("ledger", "erase", made[0]["id"], "--reason", "a request",
               "--legal-basis", "GDPR, article 17")  # fmt: skip
    assert (told.code, made[0]["id"] in told.out) == (0, True)

    svc("ledger", "export", "after.ndjson")
    for file in (here / "after.ndjson", *here.glob("svc.db*")):
        assert file.is_socket() or secret.encode() not in file.read_bytes(), file
    assert secret not in svc("ledger", "fold", subject, "--json").out
    assert "Claims in force without their content: 1." in svc("ledger", "fold", subject).out
    assert "(erased)" in svc("ledger", "history", subject).out
    key = svc("ledger", "key").out.strip()
    held = ("--key", key, "--checkpoint", "old-checkpoint", "--receipt", "old-receipt")
    verdict = svc("ledger", "verify", "after.ndjson", *held, "--json").json
    assert (verdict["ok"], verdict["erased"], verdict["assurance"]) == (True, 1, "anchored")
    assert "1 erased" in svc("ledger", "verify", "after.ndjson", *held).out

    lines = (here / "before.ndjson").read_bytes().split(b"\n")
    nulled = re.sub(rb'"payload":\{.*\},"seal"', b'"payload":null,"seal"', lines[1])
    (here / "forged.ndjson").write_bytes(b"\n".join([lines[0], nulled, *lines[2:]]))
    forged = svc("ledger", "verify", "forged.ndjson", *held, "--json")
    assert forged.code == 1
    assert forged.json["firstFault"]["code"] == "PAYLOAD_MISSING"
    assert forged.json["firstFault"]["line"] == 2


@pytest.mark.parametrize("value", ["acme", "wsp_1", "*,all"])
def test_only_workspaces_can_be_allowed_to_erase(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("SVC_ALLOW_ERASURE", value)
    ran = svc("ledger", "subjects")
    assert ran.code == 2
    assert "no workspace id" in ran.err


# -- other forms -------------------------------------------------------------------------------


def test_a_subject_is_drawn_and_exported(svc: Svc, subject: str) -> None:
    seats = [claim(subject, "Zug"), claim(subject, {"city": "Bern"})]
    svc("ledger", "append", write(Path("a.ndjson"), *seats))
    shown = svc("ledger", "fold", subject).out
    assert re.search(r'headquarters +\{"city": "Bern"\} +contested ', shown)
    drawn = svc("ledger", "picture", subject).out
    assert drawn.startswith("<svg ")
    assert svc("ledger", "picture", subject, "a.svg").out == "Written to a.svg.\n"
    assert Path("a.svg").read_text().startswith("<svg ")
    assert svc("ledger", "picture", subject, "--json").code == 2
    bundle = svc("ledger", "stix", subject, "--tlp", "red", "--json").json
    assert bundle["type"] == "bundle"
    told = svc("ledger", "stix", subject, "a.json", "--size", 1, "--json").json
    assert told == {"file": "a.json", "bytes": Path("a.json").stat().st_size}
    assert len(json.loads(Path("a.json").read_text())["objects"]) < len(bundle["objects"])
    assert svc("ledger", "stix", NO_SUBJECT).code == 1


def test_values_of_any_shape_and_rank_are_shown(
    svc: Svc, subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_ALLOW_ERASURE", "*")
    owners = [claim(subject, value, predicate="employees") for value in (3, 4)]
    made = svc("ledger", "append", write(Path("a.ndjson"), *owners), "--json").json["records"]
    verdict = {"kind": "claim", "op": "verify", "subject": subject, "target": made[0]["id"],
               "state": "verified", "method": "payroll"}  # fmt: skip
    key = svc("keys", "create", "--name", "bob", "--json").json["id"]
    svc("ledger", "append", write(Path("b.ndjson"), verdict), "--author", key)
    rows = [line.split() for line in svc("ledger", "fold", subject).out.splitlines()]
    assert [row[1:4] for row in rows if row[:1] == ["employees"]] == [
        ["3", "value", "verified"],
        ["4", "other", "unverified"],
    ]
    erased = svc("ledger", "erase", made[0]["id"], "--reason", "a request", "--json").json
    assert (erased["op"], erased["target"]) == ("erase", made[0]["id"])
    assert "a request" in svc("ledger", "history", subject).out


def test_marks_are_as_many_as_entries(svc: Svc, subject: str) -> None:
    from svc_http.cli.failures import Refusal  # noqa: PLC0415
    from svc_http.cli.options import Common  # noqa: PLC0415
    from svc_http.cli.reach import call  # noqa: PLC0415

    asked: dict[str, Any] = {"entries": [claim(subject, "Zug")], "marks": ["0" * 64, "1" * 64]}
    with pytest.raises(Refusal, match="as many as entries"):
        call(Common(), "ledger append", asked)
