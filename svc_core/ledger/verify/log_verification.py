"""Verifies a log in two passes: a fast sweep, and a diagnosis if anything is irregular.

Lines are passed in order and without LF, as sequences of any length. A caller whose lines come from
storage, asynchronously, drives the `PASSES` itself, as `_run_passes` does.

What the levels prove: `integrity` that nothing changed since it was sealed, in this order, with
record times that do not run backwards, under this ledger's genesis, that payloads are missing only
where a record erases them, and that every anchor is reproduced. `strict` that besides every line is
one that may be sealed: grammar, identifiers, targets, intervals, canonical payloads within their
limits.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Final, Unpack

from svc_core.ledger.records import LINE_BYTES_MAX
from svc_core.ledger.verify.anchors import Anchors, LogEvidence, gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.outcome import VerificationOutcome
from svc_core.ledger.verify.sweep import RUN_LINES_MAX, Sweep

Chunks = Iterable[list[bytes]]

PASSES: Final[tuple[type[Sweep] | type[Diagnosis], ...]] = (Sweep, Diagnosis)
"""Each pass is fed all lines until it returns False; the first outcome that is not None counts."""

_BYTES_MAX: Final = 4 << 20
_LINE_KEPT: Final = LINE_BYTES_MAX + 1


def verify_log(
    lines: Collection[bytes] | Callable[[], Iterable[bytes]], **evidence: Unpack[LogEvidence]
) -> VerificationOutcome:
    """Verify lines without LF, or those that a function opens anew on each call.

    Damage of any kind is reported in the outcome and never raised.

    Raises:
        ValueError: `vkey` is no key.
    """
    opener = lines if callable(lines) else lambda: lines
    return _run_passes(gather(**evidence), lambda: _runs(opener()))


def verify_export(
    blocks: Callable[[], Iterable[bytes]], **evidence: Unpack[LogEvidence]
) -> VerificationOutcome:
    """Verify an export file, which `blocks` opens anew on each call as blocks of its bytes.

    The memory it takes does not depend on what is in the file; see `chunks` and `references`.

    Raises:
        ValueError: `vkey` is no key.
    """
    return _run_passes(gather(**evidence), lambda: line_chunks(blocks()))


def _run_passes(anchors: Anchors, opener: Callable[[], Chunks]) -> VerificationOutcome:
    """Run the passes over lines that can be opened again; return the first outcome."""
    for make in PASSES:
        verifier = make(anchors)
        for lines in opener():
            if not verifier.feed(lines):
                break
        outcome = verifier.finish()
        if outcome is not None:
            return outcome
    raise AssertionError("a diagnosis always comes to an outcome")


def _runs(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(lines)
    while run := list(islice(rest, RUN_LINES_MAX)):
        yield run


def line_chunks(blocks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Split an export into runs of lines without LF, from blocks of any size.

    A last line without LF is a line. One that is longer than a record's may be keeps one byte too
    many, so that it is seen to be too long, and the rest of it is passed over. At most 512 lines,
    or 4 MiB and one block, are held at a time. Read files in blocks of 64 KiB to 1 MiB, and not
    line by line: a file need not have line ends.
    """
    lines: list[bytes] = []
    rest, held_bytes = b"", 0
    for block in blocks:
        first, *rest_lines = block.split(b"\n")
        rest += first[: _LINE_KEPT - len(rest)]
        held_bytes += len(block)
        if rest_lines:
            lines += (rest, *(line[:_LINE_KEPT] for line in rest_lines[:-1]))
            rest = rest_lines[-1][:_LINE_KEPT]
        while len(lines) >= RUN_LINES_MAX or (lines and held_bytes >= _BYTES_MAX):
            yield lines[:RUN_LINES_MAX]
            del lines[:RUN_LINES_MAX]
            held_bytes = sum(map(len, lines))
    if rest:
        lines.append(rest)
    if lines:
        yield lines
