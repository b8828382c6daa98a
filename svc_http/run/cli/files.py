"""Reads and writes the files of a command: a hyphen is stdin or stdout, writes are atomic."""

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from svc_http.run.cli.exit_codes import UsageError

STREAM = "(stdin)"
"""The word by which `app.run_command_line` replaces the hyphen."""


@contextmanager
def spooled(file: str) -> Iterator[Path]:
    """The path of an input that is read more than once: stdin or a pipe is copied to a file.

    Raises:
        UsageError: there is no room for it.
    """
    if file != STREAM and not Path(file).is_fifo():
        yield Path(file)
        return
    # Most files are read once.
    import shutil  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    with tempfile.NamedTemporaryFile(prefix="svc-") as spool:
        try:
            with sys.stdin.buffer if file == STREAM else Path(file).open("rb") as source:
                shutil.copyfileobj(source, spool)
            spool.flush()
        except OSError as error:
            raise UsageError(f"{file} cannot be read: {error.strerror}") from error
        yield Path(spool.name)


def content(file: str, bytes_max: int) -> bytes:
    """The whole of a file, or of stdin.

    Raises:
        UsageError: it cannot be read, or holds more.
    """
    try:
        with sys.stdin.buffer if file == STREAM else Path(file).open("rb") as source:
            read = source.read(bytes_max + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    if len(read) > bytes_max:
        raise UsageError(
            f"{file} has more than {bytes_max} bytes; give the right one, or several files"
        )
    return read


def write_whole(path: Path, pages: Iterable[bytes]) -> None:
    """Write a file whole or not at all; one whose name ends in .gz is packed.

    Only a regular file is replaced: a device, a pipe or a link is written through.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        if not path.is_symlink() and (path.is_file() or not path.exists()):
            _replace(path, pages)
        else:
            with path.open("wb") as raw:
                _fill(raw, path, pages)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def _replace(path: Path, pages: Iterable[bytes]) -> None:
    """Put a file in the place of a regular one, or where there is none; its mode stays."""
    if path.exists() and not os.access(path, os.W_OK):
        import errno  # noqa: PLC0415 - mostly it may

        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    # A name of its own: another command may be writing the same file.
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with fresh.open("xb") as raw:
        try:
            if path.exists():
                os.fchmod(raw.fileno(), stat.S_IMODE(path.stat().st_mode))
            _fill(raw, path, pages)
            os.fsync(raw.fileno())
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)


def _fill(raw: IO[bytes], path: Path, pages: Iterable[bytes]) -> None:
    with _gzip_file(raw, path) as target:
        for page in pages:
            target.write(page)
    raw.flush()


def _gzip_file(raw: IO[bytes], path: Path) -> IO[bytes]:
    if path.suffix != ".gz":
        return os.fdopen(os.dup(raw.fileno()), "wb")
    import gzip  # noqa: PLC0415 - few files are packed

    # Without a time or a name, so that the same lines make the same file.
    return gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)  # type: ignore[return-value]
