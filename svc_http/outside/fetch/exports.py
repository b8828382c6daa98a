"""Reads files of ledger exports in blocks, compressed or not.

Rule 1: a file that begins like gzip is decompressed while it is read; one block is in memory.
Rule 2: every fault of a file is raised as `UnreadableExport` with the name of the file.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from svc_core.ledger.local_operations import UnreadableExport
from svc_core.operation.host import Progress, ProgressListener, silent

BLOCK_BYTES: Final = 256 * 1024
"""Bytes read at a time: enough for a few hundred lines."""

MIB: Final = 1024 * 1024

_GZIP: Final = b"\x1f\x8b"


def export_opener(
    path: Path, note: str, tell: ProgressListener = silent
) -> Callable[[], Iterator[bytes]]:
    """A function that reads the file from its beginning on each call, as decompressed blocks.

    `tell` reports the progress in MiB.

    Raises:
        UnreadableExport: the file cannot be opened or read; raised by the returned function.
    """
    return lambda: _blocks(path, note, tell)


def _blocks(path: Path, note: str, tell: ProgressListener) -> Iterator[bytes]:
    try:
        with path.open("rb") as raw:
            total = path.stat().st_size // MIB
            is_gzip = raw.read(len(_GZIP)) == _GZIP
            raw.seek(0)
            source: IO[bytes] = gzip.GzipFile(fileobj=raw) if is_gzip else raw  # type: ignore[assignment]
            told_mib = 0
            while block := source.read(BLOCK_BYTES):
                yield block
                mib = raw.tell() // MIB
                if mib > told_mib:
                    told_mib = mib
                    tell(Progress(mib, total, note))
    except (EOFError, zlib.error, gzip.BadGzipFile) as fault:
        raise UnreadableExport(f"{path} is packed and cannot be unpacked: {fault}") from fault
    except OSError as error:
        raise UnreadableExport(f"{path} cannot be read: {error.strerror or error}") from error
