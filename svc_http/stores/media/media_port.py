"""The interface of storages of audio recordings.

Rule 1: the name of a file is its SHA-256 and the extension of its type. So a file never changes and
        may be cached for ever; no other name ever reaches a storage.
Rule 2: a file is complete or absent; storing and removing a file are idempotent.
Rule 3: a process that stores or removes a file holds its lease
        (`svc_core.reports.recordings.take_lease`), so that no two processes undo each other's work.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

from svc_core.reports.audio import Recording, is_file_name

CHUNK_BYTES: Final = 256 * 1024
"""The most bytes that are read at once: six seconds of uncompressed speech."""


def media_file_name(name: str) -> str:
    """Return a valid file name unchanged.

    Raises:
        ValueError: it is no name of a media file.
    """
    if not is_file_name(name):
        raise ValueError("A media file is named after its bytes.")
    return name


class Media(Protocol):
    """A storage of recordings. A temporary failure raises OSError, and may be retried."""

    def draft(self) -> AbstractContextManager[Path]:
        """Yields a path on this machine for a new file; a remaining file is removed at the end."""

    def tidy(self) -> None:
        """Remove drafts that killed workers have left behind."""

    async def check(self) -> None:
        """Check that files can be stored.

        Raises:
            SettingsError: the settings make it impossible; the message names a remedy.
        """

    async def keep(self, draft: Path, recording: Recording) -> None:
        """Store a draft durably under the name of the recording."""

    async def size(self, name: str) -> int:
        """How many bytes the file has.

        Raises:
            FileNotFoundError: it is not there.
        """

    async def read(self, name: str, part: range) -> bytes:
        """The first bytes of a part of the file, at most `CHUNK_BYTES` and at least one.

        Raises:
            FileNotFoundError: it is not there any more.
        """

    async def remove(self, name: str) -> None:
        """Remove a file; one that is not there is gone already."""
