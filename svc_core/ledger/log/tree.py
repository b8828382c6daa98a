"""The Merkle tree over the seals, as RFC 9162, 2.1 (and RFC 6962) define it.

Rule 1: a seal is a leaf hash already; a node is SHA-256(0x01 || left || right), and the root of
        nothing is the SHA-256 of nothing.
Rule 2: nothing is duplicated: a ragged edge is split at the largest power of two below its size.
Rule 3: a log that only grows needs its frontier alone: the roots of the complete subtrees that make
        up its size, largest first, one for each bit that is set.
"""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, NamedTuple

from svc_core.operation.ports import LEDGER_LEVELS, LedgerNode

Hash = bytes
"""32 bytes."""
Frontier = tuple[Hash, ...]

EMPTY_ROOT: Final[Hash] = sha256(b"").digest()
HASH_BYTES: Final = 32
KEPT_LEVELS: Final = LEDGER_LEVELS[1:]
"""The levels above the leaves whose complete nodes a store keeps: those of the tlog tiles."""


class TreeGrowth(NamedTuple):
    """A tree after leaves were appended, with the nodes of `KEPT_LEVELS` that they completed."""

    size: int
    frontier: Frontier
    nodes: tuple[LedgerNode, ...]


def node(left: Hash, right: Hash) -> Hash:
    """The hash of two children."""
    return sha256(b"\x01" + left + right).digest()


def grow(frontier: Frontier, size: int, leaves: Iterable[Hash]) -> TreeGrowth:
    """Append `leaves` to a tree of `size`, level by level; each node is hashed once.

    Raises:
        ValueError: the frontier is not one of that size.
    """
    if size < 0 or len(frontier) != size.bit_count():
        raise ValueError(f"A tree of {size} leaves has a frontier of {size.bit_count()} hashes.")
    row = list(leaves)
    total = size + len(row)
    edge: list[Hash] = []
    nodes: list[LedgerNode] = []
    peaks = list(frontier)
    level = 0
    while peaks or row:
        start = size >> level
        if level in KEPT_LEVELS:
            nodes += [LedgerNode(level, start + offset, hash_) for offset, hash_ in enumerate(row)]
        if start & 1:
            row.insert(0, peaks.pop())
        if len(row) & 1:
            edge.append(row.pop())
        row = [sha256(b"\x01" + a + b).digest() for a, b in zip(row[::2], row[1::2], strict=True)]
        level += 1
    return TreeGrowth(total, tuple(reversed(edge)), tuple(nodes))


def extend(frontier: Frontier, size: int, leaves: Iterable[Hash]) -> Frontier:
    """The frontier after `leaves` were appended to a tree of `size`.

    Raises:
        ValueError: the frontier is not one of that size.
    """
    return grow(frontier, size, leaves).frontier


def root(frontier: Frontier) -> Hash:
    """The root of the tree that has this frontier."""
    if not frontier:
        return EMPTY_ROOT
    value = frontier[-1]
    for left in frontier[-2::-1]:
        value = node(left, value)
    return value
