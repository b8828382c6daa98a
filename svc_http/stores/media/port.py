"""Where recordings are kept, as the rest of the service sees it.

Rule 1: a file's name is its SHA-256 and the ending of its kind, so it never changes and may be
        kept for ever; nothing but such a name reaches a place where recordings are.
Rule 2: a file is whole or not there, and it is kept and removed as often as anybody likes.
Rule 3: who keeps or removes a file has its turn (`svc_core.reports.recordings.take_turn`), so that
        no two processes undo each other's work.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

from svc_core.reports.audio import Recording, is_file_name

CHUNK_BYTES: Final = 256 * 1024
"""The most that is read at once: six seconds of one voice without compression."""


def media_file_name(name: str) -> str:
    """The name.

    Raises:
        ValueError: it is none.
    """
    if not is_file_name(name):
        raise ValueError("A media file is named after its bytes.")
    return name


class Media(Protocol):
    """A place for recordings. What it cannot do now raises OSError, and may be tried again."""

    def draft(self) -> AbstractContextManager[Path]:
        """A place on this machine for a file that is being made; what is left at the end goes."""

    def tidy(self) -> None:
        """Remove drafts that killed workers left behind."""

    async def check(self) -> None:
        """See that files can be kept.

        Raises:
            SettingsError: never as things are set; the message has the way out.
        """

    async def keep(self, draft: Path, recording: Recording) -> None:
        """Keep a draft under the recording's name, durably."""

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
