"""Exports of a ledger as files: read in blocks, packed or not, from the beginning each time.

Rule 1: a file that begins like gzip is unpacked while it is read; nothing is held but one block.
Rule 2: what is wrong with a file is said once, as `UnreadableExport`, with the file's name.
"""

import gzip
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

from svc_core.ledger.local_operations import UnreadableExport
from svc_core.operation.host import Progress, Tell, silent

BLOCK_BYTES: Final = 256 * 1024
"""Read at a time: enough for a few hundred lines."""

MIB: Final = 1024 * 1024

_GZIP: Final = b"\x1f\x8b"


def opener(path: Path, note: str, tell: Tell = silent) -> Callable[[], Iterator[bytes]]:
    """What opens the file anew on each call, as blocks of its unpacked bytes.

    Files of more than a MiB tell how many MiB of them were read.

    Raises:
        UnreadableExport: there is no such file, while it is opened or read.
    """
    return lambda: _blocks(path, note, tell)


def _blocks(path: Path, note: str, tell: Tell) -> Iterator[bytes]:
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
