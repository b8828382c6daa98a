"""Checks on appends to a ledger that every backend makes, and the parser of stored designators."""

from collections.abc import Sequence
from itertools import pairwise
from json import loads
from typing import Any

from svc_core.operation.ports import LEDGER_LEVELS, LedgerHead, LedgerNode, SealedLine


def check_append(
    lines: Sequence[SealedLine], nodes: Sequence[LedgerNode], head: LedgerHead, expect: int
) -> None:
    """Check that lines, nodes and head are one append to a ledger of size `expect`.

    Raises:
        AssertionError: numbers have a gap, record times decrease, or the nodes are not exactly
            those that the lines complete.
    """
    if [line.seq for line in lines] != list(range(expect, head.size)):
        raise AssertionError(f"the lines do not lead from {expect} to {head.size}")
    if any(later.recorded_at < earlier.recorded_at for earlier, later in pairwise(lines)):
        raise AssertionError("record times fall")
    expected = [
        (level, number)
        for level in LEDGER_LEVELS[1:]
        for number in range(expect >> level, head.size >> level)
    ]
    if sorted((node.level, node.number) for node in nodes) != expected:
        raise AssertionError(f"these lines complete {expected}")


def check_time(last: str, lines: Sequence[SealedLine]) -> None:
    """Check that no line is older than the last stored line.

    Raises:
        AssertionError: record times decrease.
    """
    if lines and lines[0].recorded_at < last:
        raise AssertionError("record times fall")


def check_level(level: int) -> None:
    """Check that hashes of this level of the Merkle tree are stored.

    Raises:
        AssertionError: only the levels of `LEDGER_LEVELS` are.
    """
    if level not in LEDGER_LEVELS:
        raise AssertionError(f"hashes of level {level} are not kept")


def target_in(line: bytes) -> bytes:
    """The identifier of the record that a line acts on, by its place in the head; else empty."""
    start, end = line.find(b'"target":"') + 10, line.find(b',"payload":')
    return line[start : start + 28] if 10 <= start < end + 10 else b""


def keys_in(text: Any) -> tuple[str, ...]:
    """The designators in a stored JSON list; none if the text is damaged."""
    try:
        keys = loads(text or "[]")
    except (TypeError, ValueError):
        return ()
    return tuple(map(str, keys)) if isinstance(keys, list) else ()
