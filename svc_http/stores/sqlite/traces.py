"""What erased content leaves behind in the write-ahead log, and how it goes.

Rule 1: the file itself keeps none: `secure_delete` puts zeros where content was. The log still
        holds the pages as they were, so after an erasure all of it moves into the file and is cut
        off, before the writer goes on.
Rule 2: that waits for readers of older snapshots, and no writer waits long for them: later
        attempts do not wait at all. They follow every commit, and idle moments.
Rule 3: a process that was killed may have left traces, so the next one begins with an attempt.
"""

import sqlite3
from contextlib import suppress

from svc_http.stores.sqlite.connection import BUSY_MILLISECONDS

PATIENCE_MILLISECONDS = 100
"""How long an erasure waits for readers, once: most snapshots last a few milliseconds."""
RETRY_SECONDS = 0.2


class Traces:
    """Whether the log may hold what was erased; the writer's alone."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._patience = 0
        self.left = True

    def note_erasure(self) -> None:
        """Say that content was erased, or that it is about to be."""
        self.left = True
        self._patience = PATIENCE_MILLISECONDS

    def clear(self) -> None:
        """Between two transactions: cut the log off, unless a reader is in the way."""
        if self.left:
            # What fails here is tried again, and the next transaction tells of a broken disk.
            with suppress(sqlite3.OperationalError):
                self.left = self._checkpoint_is_busy()

    def _checkpoint_is_busy(self) -> bool:
        patience, self._patience = self._patience, 0
        self._connection.execute(f"PRAGMA busy_timeout={patience}")
        try:
            (is_busy, _, _) = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
        return bool(is_busy)
