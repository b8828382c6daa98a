"""An export cut into lines, with bounded memory whatever it holds.

Rule 1: a line that is longer than a record's may be keeps one byte too many, so that it is seen to
        be too long, and the rest of it is passed over.
Rule 2: at most 512 lines, or 4 MiB and one block, are held at a time.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from svc_core.ledger.records import LINE_BYTES_MAX

LINES_MAX: Final = 512
"""Lines handed on at a time: what verification joins for one comparison."""
_BYTES_MAX: Final = 4 << 20
_KEPT: Final = LINE_BYTES_MAX + 1


def chunks(blocks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """The lines of an export, without their LF, from its bytes in blocks of any size.

    A last line without LF is a line. Read files in blocks of 64 KiB to 1 MiB, and not line by line:
    a file need not have line ends.
    """
    lines: list[bytes] = []
    rest, held = b"", 0
    for block in blocks:
        first, *others = block.split(b"\n")
        rest += first[: _KEPT - len(rest)]
        held += len(block)
        if others:
            lines += (rest, *(line[:_KEPT] for line in others[:-1]))
            rest = others[-1][:_KEPT]
        while len(lines) >= LINES_MAX or (lines and held >= _BYTES_MAX):
            yield lines[:LINES_MAX]
            del lines[:LINES_MAX]
            held = sum(map(len, lines))
    if rest:
        lines.append(rest)
    if lines:
        yield lines
