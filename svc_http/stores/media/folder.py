"""Stores recordings as files of a folder.

A file is written under a temporary name, synced and renamed: it is complete or absent.
"""

import asyncio
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from svc_core.reports.audio import Recording, is_file_name
from svc_http.stores.media.draft_files import Drafts
from svc_http.stores.media.media_port import CHUNK_BYTES, media_file_name

WORK: Final = ".making"


class MediaFiles(Drafts):
    """Recordings in a folder, which is created with the first file.

    Only its owner can read it, as with the database, unless it `is_shared`: then a CDN serves it.
    """

    def __init__(self, folder: Path, *, is_shared: bool = False) -> None:
        super().__init__(folder / WORK)
        self.folder = folder
        self._is_shared = is_shared

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Yields a path for a new file, on the same disk as its final place."""
        self._make(self.folder)
        (self.folder / WORK).mkdir(0o700, exist_ok=True)
        with super().draft() as path:
            yield path

    async def check(self) -> None:
        """Do nothing: the folder is created when it is needed."""

    async def keep(self, draft: Path, recording: Recording) -> None:
        """Move a draft to its final name, durably; readable by all who can enter the folder."""
        await asyncio.to_thread(self._keep, draft, self._path(recording.name))

    async def size(self, name: str) -> int:
        """How many bytes the file has.

        Raises:
            FileNotFoundError: it is not there.
        """
        return (await asyncio.to_thread(self._path(name).stat)).st_size

    async def read(self, name: str, part: range) -> bytes:
        """The first bytes of a part of the file.

        Raises:
            FileNotFoundError: it is not there any more.
        """
        return await asyncio.to_thread(_read, self._path(name), part)

    async def remove(self, name: str) -> None:
        """Remove a file; one that is not there is gone already."""
        await asyncio.to_thread(self._path(name).unlink, missing_ok=True)

    def copy_to(self, target: Path) -> int:
        """Copy the files that another folder lacks into it; the number of copies."""
        new = [file for file in self.files() if not (target / file.name).exists()]
        if new:
            self._make(target)
        for file in new:
            fresh = target / f"{file.name}.new"
            shutil.copyfile(file, fresh)
            fresh.replace(target / file.name)
        return len(new)

    def files(self) -> list[Path]:
        """The paths of all stored files."""
        return sorted(path for path in self.folder.glob("*") if is_file_name(path.name))

    def _make(self, folder: Path) -> None:
        mode = 0o777 if self._is_shared else 0o700  # what the umask leaves of it
        folder.mkdir(mode, parents=True, exist_ok=True)

    def _path(self, name: str) -> Path:
        return self.folder / media_file_name(name)

    def _keep(self, draft: Path, path: Path) -> None:
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.chmod(0o644)
        draft.replace(path)
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _read(path: Path, part: range) -> bytes:
    with path.open("rb") as file:
        file.seek(part.start)
        return file.read(min(len(part), CHUNK_BYTES))
