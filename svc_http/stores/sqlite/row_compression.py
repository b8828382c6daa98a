"""Compresses the bytes of rows in a SQLite file, each alone, so that each can be read alone.

A row is too short to hold much that repeats in it: what repeats stands in the other rows. So the
compressor begins with a preset dictionary (RFC 1950, 2.2): a text in which it finds the members,
their order and the usual values of most rows. It is made of what is stored of the made-up documents
of every format, and stands in `row_words.txt`. Behind it comes the identifier of the row, which its
bytes repeat and which has a column of its own.

Rule 1: `row_words.txt` never changes, as rows that were compressed with it could not be read any
        more. A better text gets a file and a mark of its own.
Rule 2: bytes without a mark are what they are, so rows may be compressed one after another.
Rule 3: expanding a page of rows takes up to a tenth of a millisecond, so that short ones which were
        read last are held expanded, for pages that are read again and again.
"""

import zlib
from functools import lru_cache
from pkgutil import get_data
from typing import Final

_WORDS: Final = get_data(__package__, "row_words.txt") or b""
_MARK: Final = b"\x01"
"""The first byte of a compressed row: JSON never begins with it."""
_RAW: Final = -zlib.MAX_WBITS
"""Without header and checksum: a file of SQLite has neither for a row."""

_SHORT_MAX: Final = 1_024
_ROWS_HELD: Final = 4_096
"""Rows that are held expanded, of at most so many bytes compressed: about 6 MB, 30 at most."""

# A small state (memLevel) is copied for each row in a third of the time, and rows are as short.
_primed = zlib.compressobj(wbits=_RAW, memLevel=6, zdict=_WORDS)


def compress_row(raw: bytes, id_: str) -> bytes:
    """The compressed form of the bytes of the row `id_`: 25 µs for a kilobyte."""
    compressor = _primed.copy()  # reading the dictionary takes four times as long
    compressor.compress(id_.encode())
    compressor.flush(zlib.Z_SYNC_FLUSH)  # what comes next begins at a byte
    return _MARK + compressor.compress(raw) + compressor.flush()


def expand_row(body: bytes, id_: str) -> bytes:
    """The bytes of the row `id_`, whether they are compressed or not: 4 µs for a kilobyte."""
    if not body.startswith(_MARK):
        return body
    return (_expand if len(body) > _SHORT_MAX else _expand_short)(body, id_)


def _expand(body: bytes, id_: str) -> bytes:
    context = id_.encode()
    size = len(context)
    # Stored as it is (RFC 1951, 3.2.4), the identifier takes its place behind the dictionary.
    head = b"\0" + size.to_bytes(2, "little") + (size ^ 0xFFFF).to_bytes(2, "little")
    stream = zlib.decompressobj(_RAW, _WORDS)
    return stream.decompress(head + context + body[1:])[size:]


_expand_short = lru_cache(maxsize=_ROWS_HELD)(_expand)
