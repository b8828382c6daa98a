"""Copies of the database: taken at any time, whole, and put back without losing anything."""

import sqlite3
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http.storage.sqlite.lock import FileLock

Svc = Callable[..., Any]


def _names(svc: Svc, *arguments: object) -> list[str]:
    return [key["name"] for key in svc("keys", "list", "--json", *arguments).json]


def test_a_copy_brings_back_what_was_and_sets_aside_what_is(svc: Svc, here: Path) -> None:
    svc("keys", "create", "--name", "before")
    made = svc("db", "backup", "copy.db", "--json").json
    assert made["sizeBytes"] == (here / "copy.db").stat().st_size
    svc("keys", "create", "--name", "after")
    assert _names(svc) == ["after", "before"]
    restored = svc("db", "restore", "copy.db", "--json").json
    assert _names(svc) == ["before"]
    assert _names(svc, "--db", restored["setAside"]) == ["after", "before"]
    assert _names(svc, "--db", "copy.db") == ["before"]


def test_a_copy_is_its_owners_alone_and_has_the_secret(svc: Svc, here: Path) -> None:
    svc("keys", "create", "--name", "a")
    assert "copy.db" in svc("db", "backup", "copy.db").out
    for name in ("copy.db", "copy.db.secret"):
        assert stat.S_IMODE((here / name).stat().st_mode) == 0o600
    assert (here / "copy.db.secret").read_text() == (here / "svc.db.secret").read_text()
    assert "restored" in svc("db", "restore", "copy.db", "--db", "new.db").out
    assert sorted(path.name for path in here.glob("new.db*")) == [
        "new.db", "new.db.lock", "new.db.secret",
    ]  # fmt: skip
    assert _names(svc, "--db", "new.db") == ["a"]


def test_what_is_set_aside_keeps_its_secret(svc: Svc, here: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("keys", "create", "--name", "b", "--db", "other.db")
    own = (here / "svc.db.secret").read_text()
    aside = svc("db", "restore", "other.db", "--json").json["setAside"]
    assert (here / "svc.db.secret").read_text() == (here / "other.db.secret").read_text() != own
    kept = Path(f"{aside}.secret")
    assert (kept.read_text(), stat.S_IMODE(kept.stat().st_mode)) == (own, 0o600)


def test_a_restored_feed_has_a_new_life(svc: Svc) -> None:
    svc("workspaces", "create", "--name", "acme")
    mark = svc("changes", "head", "--json").json["watermark"]
    svc("db", "backup", "copy.db")
    assert svc("changes", "list", "--after", mark).code == 0
    svc("db", "restore", "copy.db")
    gone = svc("changes", "list", "--after", mark, "--json")
    assert (gone.code, gone.json["code"]) == (1, "WATERMARK_GONE")
    assert svc("changes", "list", "--json").code == 0


def test_a_copy_is_taken_while_a_server_writes(
    tmp_path: Path, serving: Callable[..., Any], spawn: Callable[..., Any]
) -> None:
    with serving("--port", 0, cwd=tmp_path) as running:
        admin = running.addresses["admin"]
        assert spawn("keys", "create", "--name", "a", cwd=tmp_path).code == 0
        copied = spawn("db", "backup", tmp_path / "copy.db", cwd=Path("/"), SVC_SERVER=admin)
        assert copied.code == 0
        busy = spawn("db", "restore", "copy.db", cwd=tmp_path)
        assert (busy.code, "in use by process" in busy.err) == (1, True)
        assert running.get("/readyz").status_code == 200
    (key,) = spawn("keys", "list", "--json", "--db", "copy.db", cwd=tmp_path).json
    assert key["name"] == "a"


UNFIT = [
    (("backup", "copy.db", "--db", "missing.db"), "there is no database"),
    (("backup", "svc.db"), "exists"),
    (("backup", "no/such/copy.db"), "cannot be made"),
    (("restore", "missing.db"), "there is no database"),
    (("restore", "text.db"), "cannot be read"),
    (("restore", "other.db"), "not a database of this service"),
]


@pytest.mark.parametrize(("arguments", "words"), UNFIT)
def test_what_is_no_copy_changes_nothing(
    svc: Svc, here: Path, arguments: tuple[str, ...], words: str
) -> None:
    svc("keys", "create", "--name", "a")
    (here / "text.db").write_text("This is no database.\n" * 100)
    other = sqlite3.connect(here / "other.db")
    other.execute("CREATE TABLE other (a)")
    other.close()
    before = _files(here)
    ran = svc("db", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
    assert words in ran.err
    assert _files(here) == before
    assert _names(svc) == ["a"]


def _files(folder: Path) -> list[str]:
    """The files there, without what a reader of a database leaves beside it."""
    return sorted(
        path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))
    )


def test_what_a_killed_restore_left_is_in_nobodys_way(svc: Svc, here: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    for name in ("new.db.new", "new.db.new.lock", "new.db-wal"):
        (here / name).write_text("half of it")
    (here / "copy.db.secret").unlink()
    assert svc("db", "restore", "copy.db", "--db", "new.db", "--json").json["setAside"] is None
    assert not (here / "new.db.new").exists()
    assert _names(svc, "--db", "new.db") == ["a"]


def test_a_damaged_database_gives_no_copy(svc: Svc, here: Path) -> None:
    svc("keys", "create", "--name", "a")
    connection = sqlite3.connect("svc.db")
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'answers'")
    ((size,),) = connection.execute("PRAGMA page_size")
    connection.close()
    with (here / "svc.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    ran = svc("db", "backup", "copy.db")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "cannot be copied" in ran.err
    assert not (here / "copy.db").exists()
    (here / "svc.db").write_bytes((here / "svc.db").read_bytes()[: size + 100])
    assert "cannot be read" in svc("db", "backup", "copy.db").err


def test_a_file_in_use_is_not_replaced(svc: Svc, here: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    held = FileLock(here / "svc.db")
    ran = svc("db", "restore", "copy.db")
    held.release()
    assert (ran.code, "in use" in ran.err) == (1, True)
    assert not (here / "svc.db.new").exists()
