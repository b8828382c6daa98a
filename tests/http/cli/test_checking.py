"""`svc db check` reads everything, and what is damaged is said to be that wherever it is met."""

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from svc_core.operation.ports import StorageUnavailable
from svc_http.run.cli import exit_codes
from svc_http.run.control.operator import _cause
from tests.http.cli.test_sources import FEED, ITEM
from tests.postgres import PostgresServer

Svc = Callable[..., Any]
PAGE = 4_096
SECRET = "5f1c0b7e93a24d68b1f07c5e2a9d4836e0c7b2f19a5d4c8e6b3f7a1d0e9c"


def damage(path: Path, table: str) -> None:
    """Overwrite the pages of a table, as a disk that has lost them."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        root = connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)
        ).fetchone()[0]
    with path.open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(b"\xa5" * PAGE)


def test_a_whole_database_is_read_whole(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    assert svc("db", "check", "--json").json == {
        "db": str(cwd / "svc.db"), "ok": True, "faults": {},
    }  # fmt: skip
    assert "can be read whole" in svc("db", "check").out
    assert svc("db", "check", "--db", "none.db").code == 1


def test_a_damaged_page_is_told_by_its_collection_and_at_its_first_use(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    damage(cwd / "svc.db", "c_keys")
    ran = svc("db", "check", "--json")
    assert (ran.code, ran.json["ok"]) == (1, False)
    assert {"file", "keys"} <= ran.json["faults"].keys()
    assert "malformed" in ran.json["faults"]["keys"]
    use = svc("keys", "list")
    assert use.code == 1
    assert "malformed" in use.err
    assert "internal error" not in use.err


def test_a_row_that_cannot_be_expanded_or_read_is_found(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    with closing(sqlite3.connect(cwd / "svc.db")) as connection:
        connection.execute("UPDATE c_keys SET body = x'7b'")
        connection.commit()
    ran = svc("db", "check", "--json")
    assert ran.code == 1
    assert list(ran.json["faults"]) == ["keys"]


def test_a_database_of_postgresql_is_checked_part_by_part(
    svc: Svc, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = postgres.fresh()
    monkeypatch.setenv("SVC_DB", postgres.dsn(name))
    monkeypatch.setenv("SVC_SECRET", SECRET)
    svc("keys", "create", "--name", "a")
    assert svc("db", "check", "--json").json["ok"] is True
    postgres.do("UPDATE c_keys SET body = '{'", database=name)
    assert list(svc("db", "check", "--json").json["faults"]) == ["keys"]


def test_whether_restores_are_noticed_is_told_by_the_doctor(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = PostgresServer()
    monkeypatch.setenv("SVC_DB", server.dsn())
    monkeypatch.setenv("SVC_SECRET", SECRET)
    try:
        svc("keys", "create", "--name", "a")
        rows = {row["name"]: row for row in svc("doctor", "--json").json["checks"]}
        assert rows["restores"]["ok"] is True
        assert "history" not in rows["restores"]["detail"]
        assert rows["history_file"]["ok"] is None
        server.do(
            "CREATE ROLE plain LOGIN",
            "REVOKE EXECUTE ON FUNCTION pg_control_system() FROM public",
            "GRANT SELECT ON ALL TABLES IN SCHEMA public TO plain",
        )
        monkeypatch.setenv("SVC_DB", server.dsn().replace("svc@", "plain@"))
        rows = {row["name"]: row for row in svc("doctor", "--json").json["checks"]}
        assert rows["restores"]["ok"] is None
        assert "GRANT EXECUTE" in rows["restores"]["detail"]
    finally:
        server.close()


class Killing(BaseHTTPRequestHandler):
    """A feed whose reader loses its database while it reads."""

    server_of_the_reader: ClassVar[PostgresServer]

    def do_GET(self) -> None:
        self.server_of_the_reader.kill()
        body = FEED.format(title="T", items=ITEM.format(n=1)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_database_that_dies_while_sources_are_read_is_told_in_a_sentence(
    svc: Svc, monkeypatch: pytest.MonkeyPatch
) -> None:
    Killing.server_of_the_reader = dying = PostgresServer()
    monkeypatch.setenv("SVC_DB", dying.dsn())
    monkeypatch.setenv("SVC_SECRET", SECRET)
    with ThreadingHTTPServer(("127.0.0.1", 0), Killing) as feed:
        thread = threading.Thread(target=feed.serve_forever)
        thread.start()
        try:
            ran = svc("sources", "add", f"http://127.0.0.1:{feed.server_port}/feed")
        finally:
            feed.shutdown()
            thread.join()
            dying.close()
    assert ran.code == 1
    assert "database cannot be used now" in ran.err or "cannot be reached" in ran.err
    assert "internal error" not in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_database_that_dies_under_tasks_is_told_in_a_sentence() -> None:
    lost = StorageUnavailable("PostgreSQL: the server closed the connection")
    nested = ExceptionGroup("tasks", [ValueError("a"), ExceptionGroup("more", [lost])])
    assert _cause(nested) is lost
    other = ExceptionGroup("tasks", [ValueError("a")])
    assert _cause(other) is other
    assert exit_codes.failure_code(lost, as_json=False) == 1
