"""Remembers, outside of a database, what a server knows of it, so that an older state is noticed.

Rule 1: a change is remembered only once it is committed durably. So the file may be behind the
        database, and is never ahead of it.
Rule 2: the file is a help: one that cannot be read or written is as if it were not there.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import attrs

from svc_core.contract.feed_history import FeedMark

FILE_BYTES_MAX: Final = 4_096
"""What is written at once, so that a process that dies leaves the former text or the new one."""


class HistoryFile:
    """The newest change that this process knows to be in its database; in a file if it has a path.

    `mark` is None as long as none is known.
    """

    def __init__(self, path: Path | str | None = None) -> None:
        """Read the file; the first mark makes it, readable by its owner alone."""
        self._path = path
        self.mark: FeedMark | None = None
        if path is not None:
            with suppress(OSError, ValueError, TypeError), Path(path).open("rb") as file:
                self.mark = FeedMark(**json.loads(file.read(FILE_BYTES_MAX)))

    def note(self, mark: FeedMark | None) -> None:
        """Remember a newer change, or none where nothing is known any more."""
        if mark == self.mark:
            return
        self.mark = mark
        if self._path is not None:
            known = {} if mark is None else attrs.asdict(mark)
            text = json.dumps(known).encode().ljust(FILE_BYTES_MAX)
            with suppress(OSError):
                descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    os.pwrite(descriptor, text, 0)
                finally:
                    os.close(descriptor)
