"""The log."""

import asyncio
import errno
import io
import json

import pytest

from svc_http.exchange.fair_shares import Load
from svc_http.exchange.http_exchange import Exchange
from svc_http.service.journal import LINES_MAX, Journal, LogFile, scrub
from svc_http.settings import Settings

MEMBERS = [
    "time", "level", "event", "method", "route", "status", "ms", "requestId", "tenant", "key",
    "bytesIn", "bytesOut",
]  # fmt: skip


def exchange(status=200, route="/api/v1/notes"):
    scope = {
        "type": "http", "method": "GET", "path": "/secret/path", "query_string": b"secret=1",
        "headers": [(b"authorization", b"Bearer secret")],
    }  # fmt: skip
    item = Exchange(scope, None, None, 10, Load(1, str))
    item.status, item.route = status, route
    return item


@pytest.fixture
def log():
    return io.StringIO()


def in_loop(work):
    async def go():
        work()

    asyncio.run(go())


def test_a_line_has_the_allowed_members_and_nothing_the_caller_sent(log):
    journal = Journal("all", lambda: log)
    in_loop(lambda: journal.request(exchange(), 1_772_600_767.25, 1.234))
    journal.flush()
    line = json.loads(log.getvalue())
    assert list(line) == MEMBERS
    assert line["time"] == "2026-03-04T05:06:07.250Z"
    assert (line["ms"], line["status"], line["route"]) == (1.23, 200, "/api/v1/notes")
    assert "secret" not in log.getvalue()


@pytest.mark.parametrize(("mode", "lines"), [("all", 1), ("errors", 0), ("off", 0)])
def test_what_was_never_read_as_a_request_has_a_line_as_well(log, mode, lines):
    journal = Journal(mode, lambda: log)
    in_loop(lambda: journal.unread("req_1", "OTHER", 400, 1_772_600_767.25))
    journal.flush()
    assert log.getvalue().count("\n") == lines
    if lines:
        line = json.loads(log.getvalue())
        assert list(line) == MEMBERS
        assert (line["requestId"], line["method"], line["status"]) == ("req_1", "OTHER", 400)


def test_lines_are_written_together_and_the_last_ones_soon(log, monkeypatch):
    monkeypatch.setattr("svc_http.service.journal.FLUSH_SECONDS", 0.01)
    journal = Journal("all", lambda: log)

    async def go():
        for _ in range(LINES_MAX - 1):
            journal.request(exchange(), 1.0, 1.0)
        assert log.getvalue() == ""
        journal.request(exchange(), 1.0, 1.0)
        assert log.getvalue().count("\n") == LINES_MAX
        journal.request(exchange(), 1.0, 1.0)
        await asyncio.sleep(0.03)
        assert log.getvalue().count("\n") == LINES_MAX + 1

    asyncio.run(go())


@pytest.mark.parametrize(("mode", "count"), [("all", 2), ("errors", 1), ("off", 0)])
def test_the_operator_chooses_which_requests_are_logged(log, mode, count):
    journal = Journal(mode, lambda: log)

    def log_two():
        journal.request(exchange(200), 1.0, 1.0)
        journal.request(exchange(500), 1.0, 1.0)

    in_loop(log_two)
    journal.flush()
    assert log.getvalue().count("\n") == count


def test_constant_parts_are_bounded(log, monkeypatch):
    monkeypatch.setattr("svc_http.service.journal.SHAPES_MAX", 1)
    journal = Journal("all", lambda: log)
    in_loop(lambda: [journal.request(exchange(status), 1.0, 1.0) for status in (200, 404, 500)])
    journal.flush()
    levels = [json.loads(line)["level"] for line in log.getvalue().splitlines()]
    assert levels == ["info", "info", "error"]
    assert len(journal._line_parts) == 1


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        ("key svc_" + "0123456789abcdef" * 4 + ".", "key svc_01234567...."),
        ("whsec_abc/+= x", "whsec_... x"),
        ("Bearer svc_1 x", "Bearer ... x"),
        ("at postgresql://ann:p@ss:w/rd@db/x", "at postgresql://ann:...@db/x"),
        ("at http://127.0.0.1:80/a@b", "at http://127.0.0.1:80/a@b"),
        ("nothing", "nothing"),
    ],
)
def test_secrets_are_cut(text, scrubbed):
    assert scrub(text) == scrubbed


def test_a_failure_is_one_line(log):
    journal = Journal("off", lambda: log)
    try:
        raise RuntimeError("line one\nline two")
    except RuntimeError as failure:
        journal.failure("failure", failure, "req_1")
    line = json.loads(log.getvalue())
    assert log.getvalue().count("\n") == 1
    assert line["requestId"] == "req_1"
    assert "line one\nline two" in line["traceback"]


def test_a_log_goes_to_the_standard_error_stream(capsys):
    Journal().note("info", "started", port=1)
    assert json.loads(capsys.readouterr().err)["port"] == 1


def test_a_level_keeps_what_matters_less_out():
    log = io.StringIO()
    journal = Journal("all", lambda: log, level="warning")
    in_loop(lambda: [journal.request(exchange(status), 1.0, 1.0) for status in (200, 404, 500)])
    journal.note("info", "restarted")
    journal.note("warning", "stock protocol")
    journal.failure("storage", RuntimeError("disk full"))
    lines = [json.loads(line) for line in log.getvalue().splitlines()]
    events = [(line["event"], line.get("status")) for line in lines]
    assert events == [("request", 500), ("stock protocol", None), ("storage", None)]


def test_a_file_that_was_moved_away_is_made_anew(tmp_path):
    path = tmp_path / "svc.log"
    path.write_text("before\n")
    journal = Journal.of(Settings(log_file=str(path)))
    journal.note("info", "one")
    path.rename(tmp_path / "svc.log.1")
    journal.note("info", "two")
    journal.note("info", "three")
    journal.close()
    assert (tmp_path / "svc.log.1").read_text().startswith("before\n")
    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == ["two", "three"]


class FullDisk(io.StringIO):
    """A stream whose disk is full for a while."""

    is_full = True

    def flush(self):
        if self.is_full:
            self.truncate(0)
            self.seek(0)
            raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_file_that_was_moved_away_is_followed_by_another(tmp_path):
    path = tmp_path / "svc.log"
    path.symlink_to("/dev/full")
    journal = Journal(stream=LogFile(str(path)))
    journal.note("error", "lost")
    path.unlink()
    path.touch()
    for event in ("first", "second"):
        journal.note("error", event)
    journal.close()
    events = [json.loads(line)["event"] for line in path.read_text("utf-8").splitlines() if line]
    assert events == ["log lines lost", "first", "second"]


def test_a_new_log_is_its_owners_alone_and_an_old_one_stays_as_it_is(tmp_path):
    new, old = tmp_path / "new.log", tmp_path / "old.log"
    old.touch()
    old.chmod(0o640)
    for path, mode in ((new, 0o600), (old, 0o640)):
        journal = Journal(stream=LogFile(str(path)))
        journal.note("error", "first")
        journal.close()
        assert path.stat().st_mode & 0o777 == mode
        assert path.read_text("utf-8")


def test_a_log_that_cannot_be_written_harms_nobody_and_its_losses_are_told_once():
    disk = FullDisk()
    journal = Journal("all", lambda: disk)
    in_loop(lambda: journal.request(exchange(), 1.0, 1.0))
    journal.flush()
    journal.failure("storage", RuntimeError("disk full"))
    disk.is_full = False
    journal.note("info", "one")
    journal.note("info", "two")
    assert disk.getvalue().startswith("\n")  # what stands before may be half a line
    lines = [json.loads(line) for line in disk.getvalue().splitlines()[1:]]
    assert [line["event"] for line in lines] == ["log lines lost", "one", "two"]
    assert (lines[0]["level"], lines[0]["lines"]) == ("error", 2)


class Pipe(io.StringIO):
    """What several processes write to: each write of some size is whole."""

    def __init__(self):
        super().__init__()
        self.writes = []

    def write(self, text):
        self.writes.append(text)
        return super().write(text)


def test_lines_of_one_of_several_processes_say_which_and_are_cut_nowhere():
    pipe = Pipe()
    journal = Journal("all", lambda: pipe, process=3)
    in_loop(lambda: [journal.request(exchange(), 1.0, 1.0) for _ in range(60)])
    journal.note("info", "long", text="x" * 10_000)
    assert {json.loads(line)["process"] for line in pipe.getvalue().splitlines()} == {3}
    assert pipe.getvalue().count("\n") == 61
    assert all(piece.endswith("\n") for piece in pipe.writes)
    assert [piece for piece in pipe.writes if len(piece) > 4_096 and piece.count("\n") > 1] == []
    assert len(pipe.writes) < 10
