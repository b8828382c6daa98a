"""Opens connections to a SQLite file: a single writer, and readers that cannot write.

Rule 1: one writing connection per file. SQLite 3.7.0 to 3.51.2 can corrupt a write-ahead log
        that two connections reset at once (`has_wal_reset_fault`); with one writer it cannot.
Rule 2: `synchronous=FULL`. With NORMAL a power cut may lose acknowledged commits.
Rule 3: a new file is readable by its owner alone, and SQLite gives its log the same mode. The mode
        of an existing file is the operator's choice and stays.
Rule 4: `secure_delete=ON`. SQLite overwrites deleted content with zeros, so that neither an erased
        record nor an old secret can be recovered from the file.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

BUSY_MILLISECONDS = 5_000
CACHE_KIB = 32_768
WAL_KEPT_BYTES = 64 * 1024 * 1024
"""The size to which a checkpoint truncates a larger write-ahead log."""
WAL_PAGES_MAX = 8_000
"""A checkpoint every 32 MB: a page that was written many times until then is copied once."""
STATEMENTS_CACHED = 512
OWNER_ONLY = 0o600
LOGS = ("-wal", "-shm")
"""The suffixes of the files that SQLite keeps beside a database: its log and the index of that."""

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
    """Whether this version of SQLite may corrupt a file to which two connections write."""
    return version < _FIRST_WITHOUT_WAL_RESET_FAULT


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open the only connection that writes; a missing file is created."""
    # Only a new file is opened here: closing an existing one would drop SQLite's locks on it
    # (POSIX releases all locks of a process on a file with the first descriptor that is closed).
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
    return _connect(path, "rwc", (*_PRAGMAS, *_WRITER_PRAGMAS))


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open a connection that cannot write; the file must exist."""
    return _connect(path, "ro", _PRAGMAS)


def _connect(path: Path, mode: str, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}",
        uri=True,
        # Transactions are begun and ended explicitly, never by the driver.
        isolation_level=None,
        # Created by one thread, used by another, closed by a third; never by two at a time.
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
