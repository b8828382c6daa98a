"""Sealing: drafts become records, each bound to all before it.

Rule 1: a record's seal is SHA-256(0x00 || head), which is its leaf hash in the tree as well: one
        hash serves the chain and the tree, so that the two cannot disagree.
Rule 2: a head holds the seal before it and the hash of its payload. The first one holds the genesis
        of its ledger, so that no line fits into another ledger.
Rule 3: record time never stands still between batches and never runs backwards, whatever the clock
        does; within a batch it is one instant, so that each record time is one prefix of the log.
"""

from collections.abc import Iterable
from hashlib import sha256
from json import loads
from typing import Final, NamedTuple, Self

from attrs import asdict, field, frozen

from svc_core.base import canonical
from svc_core.ledger.log import tree
from svc_core.ledger.records import (
    DRAFT_MEMBERS,
    KIND_PREFIX,
    Draft,
    Kind,
    Record,
    encode_line,
    head_text,
    payload_bytes,
)
from svc_core.ledger.timestamps import successor
from svc_core.operation.ports import LedgerNode

_GENESIS: Final = b"svc.ledger.genesis.v1\n"
ID_DIGITS: Final = 24
"""Hex digits of the payload's hash in an identifier: 96 bits, which the payload's salt spreads."""
TAG_DIGITS: Final = 16


def genesis(ledger: str) -> str:
    """What the first record of `ledger` holds in the place of a seal before it."""
    return sha256(_GENESIS + ledger.encode("ascii")).hexdigest()


def seal_of(head: bytes) -> str:
    """The seal of a record with this head."""
    return sha256(b"\x00" + head).hexdigest()


def payload_hash(content: bytes) -> str:
    """The hash that a head holds of its payload's bytes."""
    return sha256(content).hexdigest()


def record_id(kind: Kind, payload_hash: str) -> str:
    """The identifier of the record of that kind and payload."""
    return f"{KIND_PREFIX[kind]}_{payload_hash[:ID_DIGITS]}"


@frozen
class TreeHead:
    """All of a ledger that is needed to append to it, and to vouch for what it holds.

    `seal` is the last one, or the genesis of an empty ledger, which has no `recorded_at`. `host` is
    that of the service when the ledger was made, and names it in checkpoints from then on.
    """

    ledger: str
    size: int
    seal: str
    recorded_at: str | None
    frontier: tree.Frontier = field(repr=False)
    host: str | None = None

    @classmethod
    def empty(cls, ledger: str, host: str | None = None) -> Self:
        """The head of a ledger without records."""
        return cls(ledger, 0, genesis(ledger), None, (), host)

    @property
    def root(self) -> bytes:
        """The root of the tree over all seals, 32 bytes."""
        return tree.root(self.frontier)

    @property
    def tag(self) -> str:
        """The opaque part of the ledger's entity tag: it changes with each append."""
        return f"{self.size}-{self.seal[:TAG_DIGITS]}"

    def encode(self) -> bytes:
        """The head as bytes to be stored; `decode` gives it back."""
        frontier = [hash_.hex() for hash_ in self.frontier]
        return canonical.dumps({**asdict(self), "frontier": frontier})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """The head of which these are the stored bytes.

        Raises:
            ValueError: they are not.
        """
        try:
            members = loads(data)
            frontier = tuple(bytes.fromhex(digits) for digits in members["frontier"])
            head = cls(**{**members, "frontier": frontier})
            is_whole = len(frontier) == head.size.bit_count() and head.size >= 0
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("These are no bytes of a ledger's head.") from error
        if not is_whole or any(len(hash_) != tree.HASH_BYTES for hash_ in frontier):
            raise ValueError("The frontier is not one of that size.")
        return head


_record = Record._make


class Batch(NamedTuple):
    """What one append seals.

    `lines` are without LF, `seals` their leaf hashes, `nodes` what the store keeps of the tree, and
    `head` the ledger's after it.
    """

    records: tuple[Record, ...]
    lines: tuple[bytes, ...]
    seals: tuple[bytes, ...]
    nodes: tuple[LedgerNode, ...]
    head: TreeHead


def next_time(head: TreeHead, now: str) -> str:
    """The record time of an append at `now`: later than all before, even if the clock went back."""
    if head.recorded_at is None or now > head.recorded_at:
        return now
    return successor(head.recorded_at)


def seal_batch(head: TreeHead, drafts: Iterable[Draft], now: str) -> Batch:
    """Seal `drafts` in their order at one record time; all or nothing.

    Raises:
        Problem: a payload cannot be sealed (`payload_bytes`).
        ValueError: a draft's members do not make a head of the grammar.
    """
    recorded_at = next_time(head, now)
    records: list[Record] = []
    lines: list[bytes] = []
    seals: list[bytes] = []
    prev, ledger = head.seal, head.ledger
    for seq, draft in enumerate(drafts, head.size):
        kind, op, target, author = draft.kind, draft.op, draft.target, draft.author
        start, end, content = draft.valid_from, draft.valid_to, draft.payload
        payload = payload_bytes(content)
        digest = sha256(payload).hexdigest()
        id_ = f"{KIND_PREFIX[kind]}_{digest[:ID_DIGITS]}"
        subject = draft.subject or id_
        # What is sealed is sealed for good: no head outside the grammar may come into being. All
        # of it but these members is written here.
        if not DRAFT_MEMBERS.fullmatch(f"{subject} {target} {start} {end} {kind} {op} {author}"):
            raise ValueError(f"Draft {seq - head.size} does not make a head of the grammar.")
        members = (seq, id_, kind, op, subject, target, recorded_at, start, end, author)
        text = head_text(*members, digest, prev, ledger).encode("ascii")
        leaf = sha256(b"\x00" + text).digest()
        seal = leaf.hex()
        lines.append(encode_line(text, payload, seal))
        seals.append(leaf)
        records.append(_record((*members, content, digest, prev, ledger, seal)))
        prev = seal
    if not records:
        return Batch((), (), (), (), head)
    growth = tree.grow(head.frontier, head.size, seals)
    next_head = TreeHead(head.ledger, growth.size, prev, recorded_at, growth.frontier, head.host)
    return Batch(tuple(records), tuple(lines), tuple(seals), growth.nodes, next_head)
