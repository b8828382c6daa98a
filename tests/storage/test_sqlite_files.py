"""Whose the files are: everything that a store makes is its owner's alone."""

import asyncio
import os
import sqlite3
import stat
from contextlib import closing

import pytest

from svc_core.operation.ports import SYSTEM
from svc_core.testing.sample import SAMPLES
from svc_http.stores import SqliteStorage
from svc_http.stores.sqlite import migrate_sqlite


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request):
    """What the environment takes away from new files, from nothing to everything."""
    before = os.umask(request.param)
    yield
    os.umask(before)


def modes(folder):
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.usefixtures("umask")
def test_the_file_its_log_and_its_lock_are_the_owners_alone(tmp_path):
    store = SqliteStorage.open(tmp_path / "svc.db", SAMPLES, epoch=bytes(8))

    async def use():
        await store.write(SYSTEM, lambda tx: tx.changes.head())
        mode_set = modes(tmp_path)
        await store.close()
        return mode_set

    names = ("svc.db", "svc.db-wal", "svc.db-shm", "svc.db.lock")
    assert asyncio.run(use()) == dict.fromkeys(names, 0o600)


@pytest.mark.usefixtures("umask")
def test_a_file_made_by_a_migration_is_the_owners_alone(tmp_path):
    migrate_sqlite(tmp_path / "svc.db", SAMPLES, epoch=bytes(8))
    assert modes(tmp_path) == {"svc.db": 0o600, "svc.db.lock": 0o600}


def test_the_mode_of_a_file_that_is_there_is_kept(tmp_path):
    migrate_sqlite(tmp_path / "svc.db", SAMPLES, epoch=bytes(8))
    (tmp_path / "svc.db").chmod(0o640)
    asyncio.run(SqliteStorage.open(tmp_path / "svc.db", SAMPLES, epoch=bytes(8)).close())
    assert modes(tmp_path)["svc.db"] == 0o640


def test_a_migration_gives_back_the_room_that_was_left_when_the_file_was_opened(tmp_path):
    path = tmp_path / "svc.db"
    migrate_sqlite(path, SAMPLES, epoch=bytes(8))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE former (body BLOB)")
        connection.execute("INSERT INTO former VALUES (zeroblob(4000000))")
        connection.execute("DROP TABLE former")
        connection.commit()
    assert path.stat().st_size > 4_000_000
    assert migrate_sqlite(path, SAMPLES, epoch=bytes(8)) == ()
    assert path.stat().st_size < 1_000_000
