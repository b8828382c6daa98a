"""Copies of the database: taken at any time, whole, and put back without losing anything."""

import asyncio
import os
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog
from svc_http.stores import SqliteStorage, snapshots
from svc_http.stores.snapshots import restore_file
from svc_http.stores.sqlite.file_lock import FileLock

Svc = Callable[..., Any]


def _names(svc: Svc, *arguments: object) -> list[str]:
    return [key["name"] for key in svc("keys", "list", "--json", *arguments).json]


def test_a_copy_brings_back_what_was_and_sets_aside_what_is(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "before")
    reply = svc("db", "backup", "copy.db", "--json").json
    assert reply["sizeBytes"] == (cwd / "copy.db").stat().st_size
    svc("keys", "create", "--name", "after")
    assert _names(svc) == ["after", "before"]
    restore_dsn = svc("db", "restore", "copy.db", "--json").json
    assert _names(svc) == ["before"]
    assert _names(svc, "--db", restore_dsn["setAside"]) == ["after", "before"]
    assert _names(svc, "--db", "copy.db") == ["before"]


def test_a_copy_is_its_owners_alone_and_has_the_secret(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    assert "copy.db" in svc("db", "backup", "copy.db").out
    for name in ("copy.db", "copy.db.secret"):
        assert stat.S_IMODE((cwd / name).stat().st_mode) == 0o600
    assert (cwd / "copy.db.secret").read_text() == (cwd / "svc.db.secret").read_text()
    assert "restored" in svc("db", "restore", "copy.db", "--db", "new.db").out
    assert sorted(path.name for path in cwd.glob("new.db*")) == [
        "new.db", "new.db.lock", "new.db.secret",
    ]  # fmt: skip
    assert _names(svc, "--db", "new.db") == ["a"]


def test_what_is_set_aside_keeps_its_secret(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("keys", "create", "--name", "b", "--db", "other.db")
    own = (cwd / "svc.db.secret").read_text()
    aside = svc("db", "restore", "other.db", "--json").json["setAside"]
    assert (cwd / "svc.db.secret").read_text() == (cwd / "other.db.secret").read_text() != own
    remains = Path(f"{aside}.secret")
    assert (remains.read_text(), stat.S_IMODE(remains.stat().st_mode)) == (own, 0o600)


def test_a_restored_feed_has_a_new_life(svc: Svc) -> None:
    svc("workspaces", "create", "--name", "acme")
    mark = svc("changes", "head", "--json").json["watermark"]
    svc("db", "backup", "copy.db")
    assert svc("changes", "list", "--after", mark).code == 0
    svc("db", "restore", "copy.db")
    deletion = svc("changes", "list", "--after", mark, "--json")
    assert (deletion.code, deletion.json["code"]) == (1, "WATERMARK_GONE")
    assert svc("changes", "list", "--json").code == 0


def test_a_copy_is_taken_while_a_server_writes(
    tmp_path: Path, serving: Callable[..., Any], svc_in: Callable[..., Any]
) -> None:
    with serving("--port", 0, cwd=tmp_path) as running:
        admin = running.addresses["admin"]
        assert svc_in("keys", "create", "--name", "a", cwd=tmp_path).code == 0
        copy_dsn = svc_in("db", "backup", tmp_path / "copy.db", cwd=Path("/"), SVC_SERVER=admin)
        assert copy_dsn.code == 0
        busy = svc_in("db", "restore", "copy.db", cwd=tmp_path)
        assert (busy.code, "in use by process" in busy.err) == (1, True)
        assert running.get("/readyz").status_code == 200
    (key,) = svc_in("keys", "list", "--json", "--db", "copy.db", cwd=tmp_path).json
    assert key["name"] == "a"


UNFIT = [
    (("backup", "copy.db", "--db", "missing.db"), "there is no database"),
    (("backup", "svc.db"), "exists"),
    (("backup", "no/such/copy.db"), "cannot be made"),
    (("restore", "missing.db"), "there is no database"),
    (("restore", "text.db"), "cannot be read"),
    (("restore", "other.db"), "not a database of this service"),
]


def test_what_is_no_copy_changes_nothing(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    (cwd / "text.db").write_text("This is no database.\n" * 100)
    other = sqlite3.connect(cwd / "other.db")
    other.execute("CREATE TABLE other (a)")
    other.close()
    before = _files(cwd)
    for arguments, words in UNFIT:
        ran = svc("db", *arguments)
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1), arguments
        assert words in ran.err, arguments
    assert _files(cwd) == before
    assert _names(svc) == ["a"]


def _files(folder: Path) -> list[str]:
    """The files there, without what a reader of a database leaves beside it."""
    return sorted(
        path.name for path in folder.iterdir() if not path.name.endswith(("-wal", "-shm"))
    )


def test_what_a_killed_restore_left_is_in_nobodys_way(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    for name in ("new.db.new", "new.db.new.lock", "new.db-wal"):
        (cwd / name).write_text("half of it")
    (cwd / "copy.db.secret").unlink()
    assert svc("db", "restore", "copy.db", "--db", "new.db", "--json").json["setAside"] is None
    assert not (cwd / "new.db.new").exists()
    assert _names(svc, "--db", "new.db") == ["a"]


def test_a_damaged_database_gives_no_copy(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    connection = sqlite3.connect("svc.db")
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'answers'")
    ((size,),) = connection.execute("PRAGMA page_size")
    connection.close()
    with (cwd / "svc.db").open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    ran = svc("db", "backup", "copy.db")
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert "cannot be copied" in ran.err
    assert not (cwd / "copy.db").exists()
    (cwd / "svc.db").write_bytes((cwd / "svc.db").read_bytes()[: size + 100])
    assert "cannot be read" in svc("db", "backup", "copy.db").err


class Killed(BaseException):
    """Nothing of ours catches it, as nothing catches SIGKILL."""


STEPS = {"rename", "replace", "link", "unlink", "open", "fsync", "execute"}
"""Calls by which a restore changes files, or asks SQLite to."""


def _killed_at(step: int, work: Callable[[], object]) -> bool:
    """Whether `work` was ended before its call number `step` that changes files."""
    rest = step

    def watch(_frame: object, event: str, frame_arg: Any) -> None:
        nonlocal rest
        if event == "c_call" and frame_arg.__name__ in STEPS:
            rest -= 1
            if rest == 0:
                raise Killed

    sys.setprofile(watch)
    try:
        work()
    except Killed:
        return True
    finally:
        sys.setprofile(None)
    return False


def _text(path: Path, *names: str) -> None:
    """A database of keys whose last commits are in its log alone, as a killed server leaves it."""
    storage = SqliteStorage.open(path, catalog.COLLECTIONS, epoch=b"12345678")
    asyncio.run(storage.close())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("CREATE TABLE told (name)")
    connection.executemany("INSERT INTO told VALUES (?)", [(name,) for name in names])
    connection.commit()
    for part in ("", "-wal"):
        shutil.copy(f"{path}{part}", f"{path}.killed{part}")
    connection.close()
    for part in ("", "-wal"):
        Path(f"{path}.killed{part}").replace(f"{path}{part}")


def _report(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM told ORDER BY name")]


def test_whenever_a_restore_is_killed_a_whole_database_stands_there(tmp_path: Path) -> None:
    before = tmp_path / "before"
    before.mkdir()
    _text(before / "svc.db", "old", "older")
    _text(before / "copy.db", "new")
    step, seen = 0, set()
    while True:
        step += 1
        folder = shutil.copytree(before, tmp_path / str(step))
        target, copy = folder / "svc.db", folder / "copy.db"
        was_killed = _killed_at(step, lambda t=target, c=copy: restore_file(c, t))  # type: ignore[misc]
        # Looked at in a copy of the folder, so that looking mends nothing.
        seen.add(tuple(_report(Path(shutil.copytree(folder, f"{folder}-seen")) / "svc.db")))
        aside = restore_file(copy, target)
        assert _report(target) == ["new"]
        assert aside is not None
        remains = [_report(path) for path in folder.glob("svc.db.before-*Z")]
        assert ["old", "older"] in remains
        assert all(report in (["old", "older"], ["new"]) for report in remains)
        if not was_killed:
            break
    assert seen == {("old", "older"), ("new",)}
    assert step > 10


def test_a_file_that_is_being_read_is_not_replaced(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "READERS_SECONDS", 0.05)
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    svc("keys", "create", "--name", "b")
    with closing(sqlite3.connect(cwd / "svc.db")) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        with closing(sqlite3.connect(cwd / "svc.db")) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM meta").fetchone()
            writer.execute("CREATE TABLE later (a)")
            ran = svc("db", "restore", "copy.db")
    assert (ran.code, "is being read" in ran.err) == (1, True)
    assert _names(svc) == ["b", "a"]


@pytest.mark.parametrize("damage", [b"", b"damaged " * 1_000])
def test_a_damaged_database_is_set_aside_with_its_log(svc: Svc, cwd: Path, damage: bytes) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    (cwd / "svc.db").write_bytes(damage)
    (cwd / "svc.db-wal").write_bytes(b"its log")
    aside = svc("db", "restore", "copy.db", "--json").json["setAside"]
    assert Path(aside).read_bytes() == damage
    assert Path(f"{aside}-wal").read_bytes() == b"its log"
    assert _names(svc) == ["a"]


def test_a_database_of_which_the_beginning_is_left_can_be_replaced(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    rest = (cwd / "svc.db").read_bytes()[:60] + b"damaged"
    (cwd / "svc.db").write_bytes(rest)
    aside = svc("db", "restore", "copy.db", "--json").json["setAside"]
    assert Path(aside).read_bytes() == rest
    assert _names(svc) == ["a"]


def test_a_file_system_without_links_keeps_a_copy(
    svc: Svc, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(_path: Path, _other: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    svc("keys", "create", "--name", "b")
    aside = svc("db", "restore", "copy.db", "--json").json["setAside"]
    assert stat.S_IMODE(Path(aside).stat().st_mode) == 0o600
    assert not Path(f"{aside}.new").exists()
    assert (_names(svc), _names(svc, "--db", aside)) == (["a"], ["b", "a"])


def test_a_file_in_use_is_not_replaced(svc: Svc, cwd: Path) -> None:
    svc("keys", "create", "--name", "a")
    svc("db", "backup", "copy.db")
    lock = FileLock(cwd / "svc.db")
    ran = svc("db", "restore", "copy.db")
    lock.release()
    assert (ran.code, "in use" in ran.err) == (1, True)
    assert not (cwd / "svc.db.new").exists()


def test_consumers_start_over_by_hand_and_the_audit_says_so(svc: Svc) -> None:
    svc("keys", "create", "--name", "a")
    before = svc("changes", "head", "--workspace", "default").out
    assert "add --confirm renew" in svc("db", "renew-epoch").err
    refused = svc("db", "renew-epoch", "--confirm", "yes")
    assert (refused.code, "start over" in refused.err) == (2, True)
    assert svc("changes", "head", "--workspace", "default").out == before
    assert svc("db", "renew-epoch", "--confirm", "renew", "--json").json["epoch"] == "renewed"
    assert svc("changes", "head", "--workspace", "default").out != before
    (act, *_) = svc("audit", "list", "--json").json
    assert (act["operation"], act["who"]) == ("renewEpoch", "operator")
    assert svc("db", "renew-epoch", "--confirm", "renew", "--db", "none.db").code == 1


def test_a_database_of_this_version_has_no_step_to_take(svc: Svc) -> None:
    svc("keys", "create", "--name", "a")
    assert svc("db", "migrate", "--dry-run").out.endswith("steps  none\n")
