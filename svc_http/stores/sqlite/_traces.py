"""Removes erased content from the write-ahead log of a SQLite file.

Rule 1: the database file itself holds no traces: `secure_delete` overwrites content with zeros. But
        the log still holds earlier versions of the pages. So after an erasure the log is moved into
        the file and truncated, before the writer goes on.
Rule 2: truncation has to wait for readers of older snapshots. The first attempt waits briefly;
        later attempts, after every commit and in idle moments, do not wait at all.
Rule 3: a process that was killed may have left traces, so every process begins with an attempt.
"""

import sqlite3
from contextlib import suppress

from svc_http.stores.sqlite.file_connection import BUSY_MILLISECONDS

PATIENCE_MILLISECONDS = 100
"""How long an erasure waits for readers, once: most snapshots last a few milliseconds."""
RETRY_SECONDS = 0.2


class Traces:
    """Tracks whether the log may hold erased content; used by the writer thread alone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._patience = 0
        self.may_remain = True

    def note_erasure(self) -> None:
        """Note that content was erased, or is about to be."""
        self.may_remain = True
        self._patience = PATIENCE_MILLISECONDS

    def clear(self) -> None:
        """Truncate the log, unless a reader prevents it; called between two transactions."""
        if self.may_remain:
            # A failure is retried later, and the next transaction reports a broken disk.
            with suppress(sqlite3.OperationalError):
                self.may_remain = self._checkpoint_is_busy()

    def _checkpoint_is_busy(self) -> bool:
        patience, self._patience = self._patience, 0
        self._connection.execute(f"PRAGMA busy_timeout={patience}")
        try:
            (is_busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        return bool(is_busy)
