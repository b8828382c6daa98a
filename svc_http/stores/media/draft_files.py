"""Temporary files of recordings on this machine, before they are stored."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import file_digest
from pathlib import Path
from tempfile import gettempdir, mkdtemp
from typing import Final

from svc_core.reports.audio import Recording
from svc_http import system
from svc_http.stores.media.sound import sound_of_file

PREFIX: Final = "svc-sound-"
ABANDONED_SECONDS: Final = 3_600.0
"""The age after which a draft counts as abandoned by a worker that was killed."""


class Drafts:
    """A folder in which each draft has a private folder of its own."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(gettempdir())

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Yields a path for a new file, in a folder that is removed at the end of the block."""
        folder = Path(mkdtemp(prefix=PREFIX, dir=self._folder))
        try:
            yield folder / "sound"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def tidy(self) -> None:
        """Remove drafts that killed workers have left behind."""
        before = system.timestamp() - ABANDONED_SECONDS
        for folder in self._folder.glob(f"{PREFIX}*"):
            with suppress(FileNotFoundError):  # another process is tidying as well
                status = folder.lstat()
                if status.st_mtime < before and status.st_uid == os.getuid():
                    shutil.rmtree(folder, ignore_errors=True)


def measure(draft: Path) -> Recording:
    """The recording that a draft will become: its name, digest, size and duration.

    Raises:
        NoSound: the file holds no sound.
    """
    track = sound_of_file(draft)
    with draft.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    return Recording(
        name=f"{digest}.{track.ending}",
        mime_type=track.mime_type,
        size_bytes=draft.stat().st_size,
        sha256=digest,
        duration_seconds=round(track.seconds, 3),
    )
