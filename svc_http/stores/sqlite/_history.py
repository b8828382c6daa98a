"""Notices that a SQLite file is not the one that was known: a copy, or an older one put back.

Rule 1: the place of a file is its inode, which a copy does not have.
Rule 2: a file that is replaced while it is open is refused from the next unit on: what would be
        written into the old one, which has no name any more, would be lost with the process.
"""

import os
import sqlite3
from contextlib import suppress
from pathlib import Path

from svc_core.contract.feed_history import (
    BY_HAND,
    EPOCH,
    ORIGIN,
    FeedMark,
    history_break,
    renewed_facts,
)
from svc_core.operation.ports import StorageUnavailable
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.sqlite._migrations import file_facts, write_facts

_PROOF = "SELECT id FROM changes WHERE scope = ? AND position = ?"
_NEWEST = "SELECT scope, position, id FROM changes ORDER BY seq DESC LIMIT 1"


def _origin(path: Path) -> str:
    return str(os.stat(path).st_ino)


class FileHistory:
    """The history of an open file; its writer notes what it commits."""

    def __init__(self, path: Path, connection: sqlite3.Connection, file: HistoryFile) -> None:
        self._path = path
        self._connection = connection
        self._file = file
        self._origin = _origin(path)

    def settle(self, epoch: bytes) -> list[str]:
        """Begin this epoch if the file is not the one that was known, and note where it lives; why
        it was begun, if it was."""
        facts, mark = file_facts(self._connection), self._file.mark
        place = (mark.scope, mark.position) if mark else ("", 0)
        row = self._connection.execute(_PROOF, place).fetchone()
        reason = history_break(facts, self._origin, mark, row and row[0])
        if reason:
            write_facts(self._connection, renewed_facts(facts, self._origin, epoch, reason))
        elif ORIGIN not in facts:
            with suppress(sqlite3.OperationalError):  # a full disk: the next start does it
                write_facts(self._connection, {ORIGIN: self._origin.encode()})
        self._epoch = file_facts(self._connection)[EPOCH].hex()
        if not reason:
            return []
        self._file.note(None)  # the former mark would find fault with the new epoch again
        self.note()
        return [reason]

    def check(self) -> None:
        """Check that the path still leads to the open file.

        Raises:
            StorageUnavailable: it does not.
        """
        try:
            is_same = _origin(self._path) == self._origin
        except OSError:
            is_same = False
        if not is_same:
            raise StorageUnavailable(
                f"{self._path} was replaced while the server used it; restart the server"
            )

    def note(self) -> None:
        """Remember the newest change of the feed, which is committed."""
        row = self._connection.execute(_NEWEST).fetchone()
        if row is not None:
            self._file.note(FeedMark(self._epoch, *row))


def renew_file(path: Path, connection: sqlite3.Connection, epoch: bytes) -> None:
    """Begin this epoch of the change feed, which invalidates all watermarks."""
    facts = file_facts(connection)
    write_facts(connection, renewed_facts(facts, _origin(path), epoch, BY_HAND))
