"""Admits one process per database file, by an advisory lock that ends with the process."""

import fcntl
import os
from pathlib import Path
from typing import Self

from svc_http.stores.errors import StoreBusy

OWNER_BYTES_MAX = 20
"""A process number in decimal digits."""

_CLOSED = -1  # the number may soon be that of another file, which is not ours to close


class FileLock:
    """An exclusive lock on `<path>.lock`, held from construction until `release` or, as a context,
    to the end of its block."""

    def __init__(self, path: Path) -> None:
        """Take the lock.

        Raises:
            StoreBusy: another process, or another store of this one, holds it.
        """
        self._fd = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(self._fd, OWNER_BYTES_MAX).decode("ascii", "replace")
            os.close(self._fd)
            raise StoreBusy(str(path), owner) from None
        try:
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, str(os.getpid()).encode(), 0)
        except OSError:  # the disk is full
            self.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Release the lock; idempotent. The file stays: removing it would let two owners in."""
        descriptor, self._fd = self._fd, _CLOSED
        if descriptor != _CLOSED:
            os.close(descriptor)
