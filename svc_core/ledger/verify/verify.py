"""Verification of a log: a fast pass, and a diagnosis when anything is irregular.

Lines are handed over in order and without LF, as sequences of any length. What cannot wait in a
loop, because its lines come from storage, drives `Sweep` and `Diagnosis` by itself:

    sweep = Sweep(terms)                       # terms = gather(...)
    feed it chunks until it returns False or there are no more
    verdict = sweep.finish()                   # None: feed all chunks to Diagnosis(terms) and
    verdict = diagnosis.finish()               # ask that one

What the levels prove: `integrity` that nothing changed since it was sealed, in this order, with
record times that do not run backwards, under this ledger's genesis, that payloads are missing only
where a record erases them, and that every anchor is reproduced. `strict` that besides every line is
one that may be sealed: grammar, identifiers, targets, intervals, canonical payloads within their
limits.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from typing import Unpack

from svc_core.ledger.verify import ndjson
from svc_core.ledger.verify.anchors import Evidence, gather
from svc_core.ledger.verify.diagnosis import Diagnosis
from svc_core.ledger.verify.sweep import RUN_LINES_MAX, Sweep
from svc_core.ledger.verify.terms import Terms
from svc_core.ledger.verify.verdict import Verdict

Chunks = Iterable[list[bytes]]


def verify(
    lines: Collection[bytes] | Callable[[], Iterable[bytes]], **given: Unpack[Evidence]
) -> Verdict:
    """The verdict over lines without LF, or over those that a function opens anew on each call.

    Whatever lines, checkpoints and receipts hold, the outcome is a verdict.

    Raises:
        ValueError: `vkey` is no key.
    """
    opener = lines if callable(lines) else lambda: lines
    return judge(gather(**given), lambda: _runs(opener()))


def verify_export(blocks: Callable[[], Iterable[bytes]], **given: Unpack[Evidence]) -> Verdict:
    """The verdict over an export, opened anew on each call as blocks of its bytes.

    The memory it takes does not depend on what is in the file; see `ndjson` and `register`.

    Raises:
        ValueError: `vkey` is no key.
    """
    return judge(gather(**given), lambda: ndjson.chunks(blocks()))


def judge(terms: Terms, chunks: Callable[[], Chunks]) -> Verdict:
    """Both passes over lines that can be opened again."""
    sweep = Sweep(terms)
    for lines in chunks():
        if not sweep.feed(lines):
            break
    verdict = sweep.finish()
    if verdict is not None:
        return verdict
    diagnosis = Diagnosis(terms)
    for lines in chunks():
        diagnosis.feed(lines)
    return diagnosis.finish()


def _runs(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    rest = iter(lines)
    while run := list(islice(rest, RUN_LINES_MAX)):
        yield run
