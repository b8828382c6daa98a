"""`svc ledger export` and `svc ledger import`: a ledger leaves and arrives byte for byte."""

import gzip
import json
import tracemalloc
from collections.abc import Callable, Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import pytest

from svc_core.ledger import local_operations as reading
from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import Draft
from svc_http.outside.fetch import exports
from svc_http.run.control import services as lends

Svc = Callable[..., Any]
LEDGER = "led_0123456789abcdef01234567"


def draft(number: int, subject: str | None, op: Any = "assert", target: Any = None) -> Draft:
    """A subject of its own, or a record about one."""
    salt = f"{number:022}"
    if subject is None:
        payload = {"type": "other", "label": f"subject {number}", "salt": salt}
        return Draft("subject", "assert", None, None, None, None, "key_1", payload)
    body = {"predicate": "owner", "value": f"person {number}"} if op == "assert" else {}
    payload = {**body, "salt": salt} | ({} if op == "assert" else {"reason": "a request"})
    return Draft("claim", op, subject, target, None, None, "key_1", payload)


class Log:
    """A log that grows in a file of its own."""

    def __init__(self, path: Path, ledger: str = LEDGER) -> None:
        self.path = path
        self.head = TreeHead.empty(ledger)
        self.lines: list[bytes] = []
        self.ids: list[str] = []

    def grow(self, *drafts: Draft, now: str = "2026-01-01T00:00:00.000000Z") -> "Log":
        batch = seal_batch(self.head, drafts, now)
        self.head = batch.head
        self.lines += batch.lines
        self.ids += [record.id for record in batch.records]
        return self.write()

    def write(self) -> "Log":
        self.path.write_bytes(b"".join(line + b"\n" for line in self.lines))
        return self


@pytest.fixture
def log(svc: Svc, cwd: Path) -> Log:
    """A log of one subject and two claims, and a store with an empty workspace."""
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    journal = Log(cwd / "log.ndjson").grow(draft(0, None))
    return journal.grow(draft(1, journal.ids[0]), draft(2, journal.ids[0]))


def refusal(ran: Any, *words: str) -> None:
    assert (ran.code, ran.out) == (1, "")
    for row in words:
        assert row in ran.err, ran.err


def export_bytes(svc: Svc, name: str, *extras: object) -> bytes:
    ran = svc("ledger", "export", name, *extras)
    assert ran.code == 0, ran.err
    return Path(name).read_bytes()


# -- export ------------------------------------------------------------------------------------


def test_a_ledger_arrives_elsewhere_byte_for_byte_and_goes_on(svc: Svc, log: Log) -> None:
    done = svc("ledger", "import", log.path, "--json").json
    assert (done["ledger"], done["imported"], done["size"]) == (LEDGER, 3, 3)
    assert (done["subjects"], done["alsoIn"]) == (1, [])
    assert export_bytes(svc, "out.ndjson") == log.path.read_bytes()

    (subject,) = svc("ledger", "subjects", "--json").json
    body = {"kind": "claim", "subject": subject["id"], "predicate": "owner", "value": "Ann"}
    Path("a.ndjson").write_text(json.dumps(body))
    growth = svc("ledger", "append", "a.ndjson", "--json").json["records"]
    assert (growth[0]["seq"], growth[0]["ledger"]) == (3, LEDGER)
    out = svc("ledger", "export", "grown.ndjson", "--checkpoint", "cp", "--json").json
    assert (out["ledger"], out["size"]) == (LEDGER, 4)
    anchors = ("--checkpoint", "cp", "--key", out["vkey"])
    assert svc("ledger", "verify", "grown.ndjson", *anchors).code == 0
    view = svc("ledger", "fold", subject["id"], "--json").json
    assert len(view["claims"]["owner"]["candidates"]) == 3
    update = svc("changes", "list", "--json").json["data"]
    assert [row["changeType"] for row in update if row["resourceType"] == "subject"] == [
        "created",
        "updated",
    ]


def test_an_export_is_paged_packed_piped_and_cut_to_a_size(
    svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("ledger", "import", log.path)
    monkeypatch.setattr(reading, "PAGE_BYTES", 1)
    monkeypatch.setattr(reading, "STEP_LINES", 1)
    content = log.path.read_bytes()
    assert export_bytes(svc, "out.ndjson") == content
    archive = export_bytes(svc, "out.ndjson.gz")
    assert gzip.decompress(archive) == content
    assert export_bytes(svc, "out.ndjson.gz") == archive
    assert export_bytes(svc, "two.ndjson", "--size", 2, "--checkpoint", "cp") == b"".join(
        line + b"\n" for line in log.lines[:2]
    )
    assert Path("cp").read_text().splitlines()[1] == "2"


def test_an_export_goes_to_stdout_unless_a_file_is_named(svc: Svc, log: Log) -> None:
    svc("ledger", "import", log.path)
    assert svc("ledger", "export").out.encode() == log.path.read_bytes()
    assert svc("ledger", "export", "-", "--checkpoint", "cp").out.encode() == log.path.read_bytes()
    assert Path("cp").exists()
    assert svc("ledger", "export", "--json").code == 2


def test_a_file_that_cannot_be_written_leaves_nothing(svc: Svc, log: Log) -> None:
    ran = svc("ledger", "export", "none/out.ndjson")
    assert (ran.code, "cannot be written" in ran.err) == (2, True)
    Path("folder").mkdir()
    assert svc("ledger", "export", "folder").code == 2
    assert sorted(Path().glob("*.new")) == []


def test_what_is_no_regular_file_is_written_through(svc: Svc, log: Log) -> None:
    svc("ledger", "import", log.path)
    Path("real.ndjson").write_bytes(b"before")
    Path("link.ndjson").symlink_to("real.ndjson")
    assert export_bytes(svc, "link.ndjson") == log.path.read_bytes()
    assert Path("link.ndjson").is_symlink()
    assert Path("real.ndjson").read_bytes() == log.path.read_bytes()
    assert svc("ledger", "export", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_an_export_holds_a_few_pages_however_long_the_ledger_is(
    svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    svc("ledger", "import", log.grow(*[draft(n, log.ids[0]) for n in range(9, 9_000)]).path)
    monkeypatch.setattr(reading, "PAGE_BYTES", 64 * 1024)
    tracemalloc.start()
    assert svc("ledger", "export", "out.ndjson").code == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Path("out.ndjson").stat().st_size > 5_000_000
    assert peak < 3_000_000


def test_a_ledger_is_exported_and_imported_in_parts(svc: Svc, log: Log) -> None:
    svc("ledger", "import", log.path, "--workspace", "acme")
    svc("workspaces", "create", "--name", "two", "--plan", "elite")
    for start, stop in ((0, 1), (1, 3)):
        options = ("--workspace", "acme", "--from-size", start, "--size", stop, "--json")
        reply = svc("ledger", "export", "part", *options)
        assert (reply.code, reply.json["from"], reply.json["size"]) == (0, start, stop)
        assert svc("ledger", "import", "part", "--workspace", "two").code == 0
    assert export_bytes(svc, "two.ndjson", "--workspace", "two") == log.path.read_bytes()
    assert "Import it where" in svc("ledger", "export", "part", *options[:4]).out


# -- import ------------------------------------------------------------------------------------


def test_an_import_goes_on_where_the_ledger_here_ends(svc: Svc, log: Log) -> None:
    svc("ledger", "import", log.path)
    again = svc("ledger", "import", log.path, "--json").json
    assert (again["imported"], again["size"]) == (0, 3)
    log.grow(draft(3, log.ids[0]), draft(4, None), now="2026-01-02T00:00:00.000000Z")
    archive = Path("log.gz")
    archive.write_bytes(gzip.compress(log.path.read_bytes()))
    ran = svc("ledger", "import", archive)
    assert f"Imported 2 records of {LEDGER}, which now has 5." in ran.out
    assert export_bytes(svc, "out.ndjson") == log.path.read_bytes()


def test_stdin_is_imported(svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(log.path.read_bytes())))
    assert svc("ledger", "import", "-").code == 0


def test_two_workspaces_that_go_on_with_one_ledger_are_two_logs_with_two_names(
    svc: Svc, log: Log
) -> None:
    svc("ledger", "import", log.path, "--workspace", "acme")
    svc("workspaces", "create", "--name", "two", "--plan", "elite")
    ran = svc("ledger", "import", log.path, "--workspace", "two")
    assert "under a name of its own" in ran.out
    assert "svc: --workspace: say which one: " in svc("ledger", "export", "out.ndjson").err
    names = set()
    for workspace in ("acme", "two"):
        body = {"kind": "claim", "subject": log.ids[0], "predicate": "owner", "value": workspace}
        Path("a.ndjson").write_text(json.dumps(body))
        assert svc("ledger", "append", "a.ndjson", "--workspace", workspace).code == 0
        options = ("--workspace", workspace, "--checkpoint", workspace, "--json")
        out = svc("ledger", "export", f"{workspace}.ndjson", *options).json
        anchors = ("--checkpoint", workspace, "--key", out["vkey"])
        assert svc("ledger", "verify", f"{workspace}.ndjson", *anchors).code == 0
        names.add(Path(workspace).read_text().splitlines()[0])
    assert len(names) == 2
    mixture = ("--checkpoint", "acme", "--key", out["vkey"])
    assert svc("ledger", "verify", "two.ndjson", *mixture).code == 1


def test_what_does_not_fit_changes_nothing(svc: Svc, log: Log) -> None:
    svc("ledger", "import", log.path)
    before = export_bytes(svc, "before.ndjson")
    log.lines[1] = log.lines[1].replace(b"person 1", b"person 2")
    ran = svc("ledger", "import", log.write().path)
    refusal(ran, "line 2, PAYLOAD_ALTERED", f"svc ledger verify {log.path}")
    assert export_bytes(svc, "after.ndjson") == before
    assert svc("ledger", "import", "none.ndjson").code == 2


def test_a_file_that_changes_while_it_is_read_is_refused(
    svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, later = exports.export_opener, [log.lines[1], log.lines[0]]

    def opener(path: Path, note: str, *tell: Any) -> Callable[[], Iterator[bytes]]:
        if "stored" in note:
            return lambda: iter([b"".join(line + b"\n" for line in later)])
        return real(path, note, *tell)

    monkeypatch.setattr(lends, "export_opener", opener)
    refusal(svc("ledger", "import", log.path), "changed while it was read")
    assert export_bytes(svc, "out.ndjson") == b""


def test_a_path_that_means_another_folder_to_a_server_is_refused(
    svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "absolute", lambda path: path)
    refusal(svc("ledger", "import", "log.ndjson"), "must be absolute")


def test_a_file_that_is_gone_by_then_is_said_so(
    svc: Svc, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    deletion = exports.export_opener(Path("gone"), "")
    monkeypatch.setattr(lends, "export_opener", lambda *_: deletion)
    refusal(svc("ledger", "import", log.path), "gone cannot be read")
