"""Media files: named after their bytes, written whole, served to whoever has a pass.

Rule 1: a file's name is its SHA-256 and the ending of its kind, so it never changes and may be
        kept for ever; nothing but such a name reaches the disk.
Rule 2: a file is written beside its place, synced and moved there: it is whole or not there.
Rule 3: `settling` is held from the moment a file stands until a row names it, and while files
        without a row are removed, so that neither undoes the other.
"""

import asyncio
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO, Final, Protocol
from uuid import uuid4

from attrs import frozen

from svc_core.resources.audio import Recording
from svc_http import system
from svc_http.providers.sound import sound
from svc_http.settings import Settings

TYPES: Final = {"mp3": "audio/mpeg", "wav": "audio/wav"}
"""The kinds of files that are kept, by the ending of their names."""

WORK: Final = ".making"
LEFT_SECONDS: Final = 3_600.0
"""After this a file that is being made has been left behind: its worker was killed."""

_NAME: Final = re.compile(rf"[0-9a-f]{{64}}\.(?:{'|'.join(TYPES)})", re.ASCII)


def is_name(text: str) -> bool:
    """Whether the text is the name of a media file, whatever is stored."""
    return _NAME.fullmatch(text) is not None


@frozen
class Opened:
    """A file that is being read, and its size."""

    file: BinaryIO
    size: int


class Media(Protocol):
    """Where recordings are kept."""

    settling: asyncio.Lock

    def draft(self) -> AbstractContextManager[Path]:
        """A place for a file that is being made; what is left there at the end goes."""
        ...

    def measure(self, draft: Path) -> Recording:
        """What a draft will be once it is kept.

        Raises:
            NoSound: it holds no sound.
        """
        ...

    def keep(self, draft: Path, recording: Recording) -> None:
        """Put a draft in its place, durably."""
        ...

    def open(self, name: str) -> Opened | None:
        """The file of that name, to be closed by the caller."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is gone already."""
        ...

    def tidy(self) -> None:
        """Remove what killed workers left behind."""
        ...


class MediaFiles:
    """Media in a folder, made when the first file comes.

    It is its owner's alone, as the database is, unless it `is_shared`: a CDN serves it as it is.
    """

    def __init__(self, folder: Path, *, is_shared: bool = False) -> None:
        self.folder = folder
        self._is_shared = is_shared
        self.settling = asyncio.Lock()

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """A place for a file that is being made, in a folder of its own that goes at the end."""
        self._make(self.folder)
        own = self.folder / WORK / uuid4().hex
        own.mkdir(mode=0o700, parents=True)
        try:
            yield own / "sound"
        finally:
            shutil.rmtree(own, ignore_errors=True)

    def measure(self, draft: Path) -> Recording:
        """What a draft will be once it is kept.

        Raises:
            NoSound: it holds no sound.
        """
        found = sound(draft)
        with draft.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        return Recording(
            name=f"{digest}.{found.ending}",
            mime_type=found.mime_type,
            size_bytes=draft.stat().st_size,
            sha256=digest,
            duration_seconds=round(found.seconds, 3),
        )

    def keep(self, draft: Path, recording: Recording) -> None:
        """Put a draft in its place, durably; it may be read by whoever may read the folder."""
        with draft.open("rb") as file:
            os.fsync(file.fileno())
        draft.chmod(0o644)
        draft.replace(self._path(recording.name))
        self._sync()

    def open(self, name: str) -> Opened | None:
        """The file of that name, to be closed by the caller."""
        try:
            file = self._path(name).open("rb")
        except FileNotFoundError:
            return None
        return Opened(file, os.fstat(file.fileno()).st_size)

    def remove(self, name: str) -> None:
        """Remove a file; one that is not there is gone already."""
        self._path(name).unlink(missing_ok=True)

    def tidy(self) -> None:
        """Remove what killed workers left behind."""
        before = system.timestamp() - LEFT_SECONDS
        for left in (self.folder / WORK).glob("*"):
            if left.stat().st_mtime < before:
                shutil.rmtree(left, ignore_errors=True)

    def copy_to(self, target: Path) -> int:
        """Give another folder every file that it lacks; how many that were."""
        names = sorted(path.name for path in self.folder.glob("*") if is_name(path.name))
        new = [name for name in names if not (target / name).exists()]
        if new:
            self._make(target)
        for name in new:
            fresh = target / f"{name}.new"
            shutil.copyfile(self.folder / name, fresh)
            fresh.replace(target / name)
        return len(new)

    def _make(self, folder: Path) -> None:
        mode = 0o777 if self._is_shared else 0o700  # what the umask leaves of it
        folder.mkdir(mode, parents=True, exist_ok=True)

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise ValueError("A media file is named after its bytes.")
        return self.folder / name

    def _sync(self) -> None:
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def media_of(settings: Settings) -> MediaFiles | None:
    """The folder of the settings; None where nothing is kept on a disk."""
    folder = settings.media_folder
    if folder is None:
        return None
    return MediaFiles(folder, is_shared=settings.media_base_url is not None)
