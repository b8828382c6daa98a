"""The Merkle tree over the seals of a log, as RFC 9162, 2.1 (and RFC 6962) define it.

Rule 1: a seal is a leaf hash already; a node is SHA-256(0x01 || left || right), and the root of
        nothing is the SHA-256 of nothing.
Rule 2: nothing is duplicated: a ragged edge is split at the largest power of two below its size.
Rule 3: a log that only grows needs its frontier alone: the roots of the complete subtrees that make
        up its size, largest first, one for each bit that is set.
"""

# How the tree is built, and why a few hashes are enough to let it grow.
#
# The leaves are the seals in order. RFC 9162 splits n leaves at the largest power of two below n:
# the left half is a perfect subtree, the right half is split again in the same way. For 7 leaves:
#
#              root
#            /      \
#         [0,4)     [4,7)          frontier of size 7 = 0b111:
#         /  \      /   \          roots of [0,4), [4,6), [6,7)
#      [0,2)[2,4) [4,6)  6
#
# The perfect subtrees at the split points are the frontier: one for each 1 bit of the size, largest
# first. A subtree that is complete never changes again, because leaves are only added at the right.
# So the frontier (at most 63 hashes) is all that an append needs of the past, and folding it from
# the right gives the root.
#
# Adding leaves is adding to a binary number. At each level, the new nodes come behind the frontier
# hash of that level, if the bit of the old size is set (`start & 1`); pairs become nodes of the
# next level; a single node that remains is the new frontier hash. Each inner node is thus hashed
# once, when its last leaf arrives.
#
# Why two prefixes: a leaf is SHA-256(0x00 || head), a node SHA-256(0x01 || left || right). Without
# them, the 64 bytes under a node could be presented as a leaf (second preimage). Why no leaf is
# duplicated to fill up a level, as in Bitcoin's tree: two lists of leaves could then have one root
# (CVE-2012-2459).
#
# What is stored: leaves, and complete nodes of every eighth level (`KEPT_LEVELS`), as the tlog
# tiles demand. Levels in between are computed from at most 255 hashes when a proof needs them.

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
    """The new size and frontier of a tree after an append, and the nodes that a store must add."""

    size: int
    frontier: Frontier
    nodes: tuple[LedgerNode, ...]


def node(left: Hash, right: Hash) -> Hash:
    """Hash two children into their parent node."""
    return sha256(b"\x01" + left + right).digest()


def grow(frontier: Frontier, size: int, leaves: Iterable[Hash]) -> TreeGrowth:
    """Append `leaves` to a tree of `size`, level by level; each node is hashed once.

    Raises:
        ValueError: the frontier does not have as many hashes as the size has 1 bits.
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
    """Return the frontier of a tree of `size` after `leaves` are appended.

    Raises:
        ValueError: the frontier does not have as many hashes as the size has 1 bits.
    """
    return grow(frontier, size, leaves).frontier


def root(frontier: Frontier) -> Hash:
    """Compute the root hash of the tree with this frontier."""
    if not frontier:
        return EMPTY_ROOT
    value = frontier[-1]
    for left in frontier[-2::-1]:
        value = node(left, value)
    return value
