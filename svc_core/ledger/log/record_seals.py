"""Seals drafts into records: assigns number, time and hashes, and links each to the one before.

Rule 1: a record's seal is SHA-256(0x00 || head), which is its leaf hash in the tree as well: one
        hash serves the chain and the tree, so that the two cannot disagree.
Rule 2: a head holds the seal before it and the hash of its payload. The first one holds the genesis
        of its ledger, so that no line fits into another ledger.
Rule 3: record time rises with every batch, whatever the clock does; within a batch it is one
        instant, so that each record time stands for exactly one prefix of the log.
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
    SealedRecord,
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
    """The hash that the first record of `ledger` holds as `prev`, where others hold a seal."""
    return sha256(_GENESIS + ledger.encode("ascii")).hexdigest()


def seal_of(head: bytes) -> str:
    """Compute the seal of a head: SHA-256(0x00 || head), in hex."""
    return sha256(b"\x00" + head).hexdigest()


def payload_hash(content: bytes) -> str:
    """Compute the hash of a payload's canonical bytes, in hex."""
    return sha256(content).hexdigest()


def record_id(kind: Kind, payload_hash: str) -> str:
    """Derive the identifier of a record from its kind and payload hash."""
    return f"{KIND_PREFIX[kind]}_{payload_hash[:ID_DIGITS]}"


@frozen
class TreeHead:
    """The state of a ledger that an append continues: size, last seal, time and tree frontier.

    `seal` is that of the last record, or the genesis of an empty ledger, which has no
    `recorded_at`. `host` is the host name of the service when the ledger began; checkpoints carry
    it from then on.
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
        """Encode the head for storage; `decode` reads it."""
        frontier = [hash_.hex() for hash_ in self.frontier]
        return canonical.dumps({**asdict(self), "frontier": frontier})

    @classmethod
    def decode(cls, data: bytes) -> Self:
        """Decode a stored head.

        Raises:
            ValueError: these are not the bytes of a head.
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


_record = SealedRecord._make


class Batch(NamedTuple):
    """Records that continue a ledger, in every form that a store needs.

    `lines` are without LF, `seals` are the leaf hashes (32 bytes), `nodes` the completed inner
    nodes that the store keeps, and `head` is the ledger's new head.
    """

    records: tuple[SealedRecord, ...]
    lines: tuple[bytes, ...]
    seals: tuple[bytes, ...]
    nodes: tuple[LedgerNode, ...]
    head: TreeHead


def next_time(head: TreeHead, now: str) -> str:
    """Return the record time of an append: `now`, or else a microsecond after the last one."""
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
    records: list[SealedRecord] = []
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
