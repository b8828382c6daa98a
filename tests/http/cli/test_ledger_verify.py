"""`svc ledger verify`: an export, judged without a server, a database or settings."""

import gzip
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import attrs
import pytest
from attrs import frozen

from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer, VerifierKey, to_base64
from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.model import Verification
from svc_core.ledger.records import Draft
from svc_core.ledger.verify import outcome_text as page
from svc_core.ledger.verify.outcome import CODES
from svc_core.operation.host import Progress
from svc_core.wire import camel
from svc_http.outside.fetch import exports
from svc_http.run.cli import verify_commands as verify

Svc = Callable[..., Any]
LEDGER = "led_0123456789abcdef01234567"
ORIGIN = f"ledger.example/{LEDGER}"
SIGNER = Ed25519Signer.from_seed(b"\x07" * 32)
VKEY = VerifierKey(ORIGIN, SIGNER.public).vkey
SUBJECT = "sbj_" + "0" * 24


@frozen
class Log:
    """An export of some records, its lines, and the heads it had on its way."""

    path: Path
    lines: tuple[bytes, ...]
    heads: tuple[TreeHead, ...]

    def checkpoint(self, size: int) -> str:
        """The file of the signed checkpoint of a size."""
        head = self.heads[size]
        path = self.path.with_name(f"checkpoint-{size}")
        path.write_text(sign(Checkpoint(ORIGIN, size, head.root), SIGNER))
        return str(path)

    def root(self, size: int) -> str:
        return to_base64(self.heads[size].root)

    def text(self, *lines: bytes) -> str:
        """Another file with these lines."""
        path = self.path.with_name("other.ndjson")
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return str(path)


@pytest.fixture
def log(cwd: Path) -> Log:
    """Eight records in a file."""
    heads = [TreeHead.empty(LEDGER)]
    lines: list[bytes] = []
    for number in range(8):
        payload = {"predicate": "owner", "value": f"person {number}", "salt": f"{number:022}"}
        draft = Draft("claim", "assert", SUBJECT, None, None, None, "key_1", payload)
        batch = seal_batch(heads[-1], [draft], f"2026-01-01T00:00:0{number}.000000Z")
        heads.append(batch.head)
        lines += batch.lines
    path = cwd / "export.ndjson"
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return Log(path, tuple(lines), tuple(heads))


def test_a_sound_export_says_what_is_not_excluded(svc: Svc, log: Log) -> None:
    ran = svc("ledger", "verify", log.path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"OK  {log.path}: 8 records, strict\nledger     {LEDGER}\n")
    assert log.root(8) in ran.out
    for words in ("self-consistent", "cut from the end", "made anew", "a checkpoint", "a receipt"):
        assert words in ran.out
    empty = svc("ledger", "verify", log.text())
    assert (empty.code, empty.out.count("\n")) == (0, 3)
    assert svc("ledger", "verify", log.text(), "--json").json["ledger"] is None
    report = svc("ledger", "verify", log.path, "--level", "integrity", "--json").json
    assert (report["level"], report["checks"]["references"]) == ("integrity", None)


def test_no_store_is_looked_for_and_none_is_made(svc: Svc, log: Log) -> None:
    (log.path.parent / "svc.toml").write_text("nonsense")
    assert svc("ledger", "verify", log.path).code == 0
    assert sorted(path.name for path in log.path.parent.iterdir()) == ["export.ndjson", "svc.toml"]


OTHER = VerifierKey(ORIGIN, Ed25519Signer.from_seed(b"\x08" * 32).public).vkey
ANCHORS = [
    (("--checkpoint", 5), 0, ["Assurance: self-consistent", "no key was given"]),
    (("--checkpoint", 5, "--key", VKEY), 0, ["anchored up to 5 records"]),
    (("--checkpoint", 5, "--key", OTHER), 1, ["CHECKPOINT_UNSIGNED", "Look at the checkpoints"]),
    (("--checkpoint", 8, "--key", VKEY, "--policy", "policy"), 0, ["anchored"]),
]


@pytest.mark.parametrize(("anchors", "code", "words"), ANCHORS)
def test_a_checkpoint_anchors_and_its_key_counts(
    svc: Svc, log: Log, anchors: tuple[Any, ...], code: int, words: list[str]
) -> None:
    # A policy that asks for nobody makes no witnessed log.
    log.path.with_name("policy").write_text(f"log {VKEY}\nquorum none\n")
    note = log.checkpoint(anchors[1])
    ran = svc("ledger", "verify", log.path, "--checkpoint", note, *anchors[2:])
    assert ran.code == code
    assert all(word in ran.out for word in words)
    assert ("no key was given" in ran.out) == ("--key" not in anchors)


def test_the_members_are_those_of_the_operation(svc: Svc, log: Log) -> None:
    note = log.checkpoint(8)
    report = svc("ledger", "verify", log.path, "--checkpoint", log.checkpoint(3), "--checkpoint",
               note, "--key", VKEY, "--json").json  # fmt: skip
    names = [camel(row.name).removesuffix("_") for row in attrs.fields(Verification)]
    assert sorted(report) == sorted(names)
    assert (report["ok"], report["assurance"], report["size"]) == (True, "anchored", 8)
    assert (report["ledger"], report["origin"], report["vkey"]) == (LEDGER, ORIGIN, VKEY)
    assert report["checkpoint"] == Path(note).read_text()
    assert (report["rootHash"], report["consistency"]) == (log.root(8), None)
    assert (report["anchoredSize"], report["checks"]["checkpoints"], report["checks"]["store"]) == (
        8,
        True,
        None,
    )
    for anchors in ((), ("--checkpoint", note), ("--receipt", note)):
        part_check = svc("ledger", "verify", log.path, *anchors, "--json").json
        assert (part_check["anchoredSize"], part_check["checkpoint"]) == (None, None)
        assert part_check["assurance"] in ("self_consistent", "failed")
        assert part_check["checks"]["checkpoints"] is not True
    bare = svc("ledger", "verify", log.path, "--json").json
    assert (bare["origin"], bare["vkey"], bare["checkpoint"]) == (None, None, None)
    failure = log.path.with_name("broken")
    failure.write_bytes(b"\xff")
    odd = svc("ledger", "verify", log.path, "--checkpoint", failure, "--json")
    assert (odd.code, odd.json["checkpoint"]) == (1, None)


@pytest.mark.parametrize(
    ("size", "is_altered", "code", "is_there"),
    [(5, False, 0, True), (4, False, 1, False), (5, True, 1, True)],
)
def test_what_was_seen_before_is_still_there_or_not(
    svc: Svc, log: Log, size: int, is_altered: bool, code: int, is_there: bool
) -> None:
    first = log.lines[0].replace(b"person", b"Person") if is_altered else log.lines[0]
    seen = ("--from-size", size, "--from-root", log.root(5))
    ran = svc("ledger", "verify", log.text(first, *log.lines[1:]), *seen, "--json")
    assert (ran.code, ran.json["consistency"]["ok"]) == (code, is_there)
    assert ran.json["consistency"]["fromSize"] == size


def _log_with_new_seals(log: Log) -> bytes:
    draft = Draft("claim", "assert", SUBJECT, None, None, None, "key_2", {"salt": "A" * 22})
    return seal_batch(log.heads[3], [draft], "2026-01-01T00:00:03.000000Z").lines[0]


DAMAGES: list[tuple[Callable[[Log], list[bytes]], list[str]]] = [
    (lambda log: [*log.lines[:6]], ["line 7 (record 6): TRUNCATED", "what you hold proves it"]),
    (
        lambda log: [*log.lines[:3], log.lines[3].replace(b"n 3", b"n 4"), *log.lines[4:]],
        ["line 4 (record 3): PAYLOAD_ALTERED\n  The payload", "\n  expected  ", "\n  actual    ",
         "\nWhat to do: Export the ledger again."],
    ),
    (
        lambda log: [row.replace(b"per", b"Per") for row in log.lines],
        ["8 faults in all", "line 8 (record 7): PAYLOAD_ALTERED"],
    ),
    (
        lambda log: [*log.lines[:3], _log_with_new_seals(log), *log.lines[4:]],
        ["line 4 (record 3): RESEALED", "line 5 holds what was expected", "Keep this file"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("damage", "words"), DAMAGES)
def test_what_was_done_to_a_line_is_told_with_what_to_do(
    svc: Svc, log: Log, damage: Callable[[Log], list[bytes]], words: list[str]
) -> None:
    path = log.text(*damage(log))
    anchors = ("--checkpoint", log.checkpoint(8), "--key", VKEY) if "TRUNCATED" in words[0] else ()
    ran = svc("ledger", "verify", path, *anchors)
    assert ran.code == 1
    assert ran.out.startswith(f"FAILED  {path}: ")
    assert all(word in ran.out for word in words), ran.out


@pytest.mark.parametrize("size", [3, 99])
def test_a_checkpoint_of_nobody_proves_nothing_against_a_ledger(
    svc: Svc, log: Log, size: int
) -> None:
    forgery = Path("forged")
    signature = Path(log.checkpoint(8)).read_text(encoding="utf-8").partition("\n\n")[2]
    forgery.write_text(f"{ORIGIN}\n{size}\n{'A' * 43}=\n\n{signature}", encoding="utf-8")
    ran = svc("ledger", "verify", log.path, "--checkpoint", forgery)
    assert (ran.code, "prove" in ran.out, "signed" in ran.out) == (1, False, False)
    assert "What to do: Give the ledger's key as --key" in ran.out
    ran = svc("ledger", "verify", log.path, "--checkpoint", forgery, "--key", VKEY)
    assert (ran.code, "CHECKPOINT_SIGNATURE_INVALID" in ran.out) == (1, True)


def test_every_code_has_a_next_step() -> None:
    assert set(page._NEXT_STEPS) < set(CODES)
    assert all(text.endswith(".") for text in page._NEXT_STEPS.values())


def test_stdin_and_packed_files_are_exports_too(
    svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = log.path.with_suffix(".ndjson.gz")
    archive.write_bytes(gzip.compress(log.path.read_bytes()))
    assert svc("ledger", "verify", archive, "--json").json["size"] == 8
    for arguments in (("-",), ("--json", "-"), ("-", "--level", "strict")):
        monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(archive.read_bytes())))
        assert svc("ledger", "verify", *arguments).code == 0
    os.mkfifo("pipe")
    with ThreadPoolExecutor() as beside:
        beside.submit(Path("pipe").write_bytes, archive.read_bytes())
        assert svc("ledger", "verify", "pipe").code == 0
    archive.write_bytes(archive.read_bytes()[:-20])
    failure = svc("ledger", "verify", archive)
    assert (failure.code, "cannot be unpacked" in failure.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.ndjson",), "none.ndjson cannot be read"),
        (("export.ndjson", "--key", "nonsense"), "--key: "),
        (("export.ndjson", "--checkpoint", "none"), "none cannot be read"),
        (("export.ndjson", "--policy", "export.ndjson"), "--policy export.ndjson: "),
        (("export.ndjson", "--from-size", 3), "belong together"),
        (("export.ndjson", "--from-size", 3, "--from-root", "AAAA"), "32 bytes"),
        (("export.ndjson", "--from-size", 3, "--from-root", "%"), "32 bytes"),
        (("export.ndjson", "--level", "loose"), "--level"),
        (("export.ndjson", "--jsn"), "--json"),
        ((), "FILE is missing"),
    ],
)
def test_misuse_is_told_in_a_line(svc: Svc, log: Log, arguments: Any, message: str) -> None:
    ran = svc("ledger", "verify", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


def test_notes_have_a_bounded_size(svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify, "NOTE_BYTES_MAX", 10)
    ran = svc("ledger", "verify", log.path, "--checkpoint", log.checkpoint(8))
    assert (ran.code, "give the right one" in ran.err) == (2, True)


def test_long_files_tell_how_far_they_are_read(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "MIB", 1_000)
    monkeypatch.setattr(exports, "BLOCK_BYTES", 1_500)
    report: list[Progress] = []
    blocks = exports.export_opener(log.path, "MiB", report.append)
    assert b"".join(blocks()) == log.path.read_bytes()
    assert [row.done for row in report] == sorted({each.done for each in report})
    assert report[-1].done == report[-1].total == log.path.stat().st_size // 1_000


def test_it_runs_as_a_process_with_exit_codes(log: Log, spawn: Callable[..., Any]) -> None:
    target = log.path.parent
    assert spawn("ledger", "verify", log.path, "--json", cwd=target).json["ok"] is True
    cut = log.text(*log.lines[1:])
    assert spawn("ledger", "verify", cut, cwd=target).code == 1
    assert spawn("ledger", "verify", "none", cwd=target).code == 2
