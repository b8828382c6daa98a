"""Connections to one file: a single writer, readers that cannot write.

Rule 1: one writing connection per file. SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log
        that two connections reset at once; `has_wal_reset_fault` tells, one writer avoids it.
Rule 2: `synchronous=FULL`. With NORMAL a power cut takes acknowledged commits away.
Rule 3: a file that is made is its owner's alone, and SQLite gives its log the mode of the file.
        The mode of a file that is there already is its owner's choice.
Rule 4: `secure_delete=ON`. What is deleted is overwritten with zeros, so that an erased record
        and an old secret are not found in the file. Some builds of SQLite do so by themselves.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

BUSY_MILLISECONDS = 5_000
CACHE_KIB = 32_768
WAL_KEPT_BYTES = 64 * 1024 * 1024
"""How much of a grown write-ahead log stays on disk after a checkpoint."""
WAL_PAGES_MAX = 8_000
"""A checkpoint every 32 MB: pages written again and again before it are copied once."""
STATEMENTS_CACHED = 512
OWNER_ONLY = 0o600
LOGS = ("-wal", "-shm")
"""What SQLite keeps beside a database, by what follows its name."""

_FIRST_WITHOUT_WAL_RESET_FAULT = (3, 51, 3)

_PRAGMAS = (
    f"PRAGMA busy_timeout={BUSY_MILLISECONDS}",
    "PRAGMA foreign_keys=ON",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA temp_store=MEMORY",
    f"PRAGMA cache_size=-{CACHE_KIB}",
)
_WRITER_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA secure_delete=ON",
    f"PRAGMA wal_autocheckpoint={WAL_PAGES_MAX}",
    f"PRAGMA journal_size_limit={WAL_KEPT_BYTES}",
)


def has_wal_reset_fault(version: tuple[int, int, int] = sqlite3.sqlite_version_info) -> bool:
    """Whether this SQLite corrupts the file when two connections write: warn at start."""
    return version < _FIRST_WITHOUT_WAL_RESET_FAULT


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes; the file is made when it is missing."""
    # Only a file that is made here is opened: closing one would drop SQLite's locks on it.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    return _connect(path, "rwc", (*_PRAGMAS, *_WRITER_PRAGMAS))


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write; the file must exist."""
    return _connect(path, "ro", _PRAGMAS)


def _connect(path: Path, mode: str, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        # Transactions are begun and ended by hand, never by the driver's guess.
        isolation_level=None,
        # Made by the opener, used by one thread at a time, closed by the closer.
        check_same_thread=False,
        cached_statements=STATEMENTS_CACHED,
    )
    try:
        for pragma in pragmas:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection
