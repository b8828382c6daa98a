"""Contributions: what each source says of a row, by source and key. Rows are folded of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.operation.ports import Collection, IndexedRow, Layout

Members = dict[str, Any]
"""The members of a row, by their wire names."""

PAIRS = frozenset({"merge", "distinct"})
KEY_CHARS = 100  # the id of a contribution with a longer key is made of its row instead


@frozen
class Contribution:
    """What one source says of one row under one key, by its newest reading (a claim, for short).

    `said` are members of the row by wire name. `stamp` is when the source changed them by its own
    account, `since` the earliest stamp read so far, `read_at` when these words were first read.
    `names` are the row ids that its key and the source's other keys give, kept only for kinds
    whose rows may have several keys; those in `apart` were refused, as they belong to other rows.
    `earlier` is the reading before the newest of one member, where that is shown. `ref` leads back
    to the record at its source. A claim that is `gone` was withdrawn by its source at `stamp` and
    says nothing. The operator's statements on two entities have the format `merge` or `distinct`.
    """

    id: str
    row: str
    source: str
    resource: str
    format: str
    key: str
    digest: int
    said: Mapping[str, Any]
    ref: Mapping[str, Any]
    read_at: datetime
    stamp: datetime | None = None
    since: datetime | None = None
    names: tuple[str, ...] = ()
    gone: bool = False
    raw: Any = None
    earlier: Any = None
    apart: tuple[str, ...] = ()

    @property
    def pair(self) -> str | None:
        """`merge` or `distinct` for a statement of the operator; None for what sources say."""
        return self.format if self.format in PAIRS else None

    @property
    def ended_listings(self) -> Sequence[Mapping[str, Any]]:
        """Its sanctions listings that ended, as its list dropped it; else nothing."""
        return self.said.get("sanctions") or () if self.gone else ()

    @property
    def stated_at(self) -> datetime:
        """When it was said: the source's own stamp, else when it was first read."""
        return self.stamp or self.read_at


def ended_source(source: str) -> str:
    """The source key of ended listings, which are not among what the source says now."""
    return f"{source}:ended"


CONTRIBUTIONS: Collection[Contribution] = Collection(
    name="contributions",
    model=Contribution,
    prefix="",
    # Of a source they stand in the order of their keys, which is mostly that of its documents.
    order=lambda _: 0,
    scope="global",
    layout=Layout(is_compressed=True, is_filtered=True, distinctive=("row",)),
    keys={
        "row": lambda c: c.row,
        "source": lambda c: ended_source(c.source) if c.ended_listings else c.source,
    },
    facets={"name": lambda c: c.names if len(c.names) > 1 else ()},
)


@frozen(eq=False)
class PreparedContribution:
    """A contribution with its stored form, encoded before the transaction begins."""

    contribution: Contribution
    record: IndexedRow = field(repr=False)


def prepare_contribution(claim: Contribution, words: bytes | None = None) -> PreparedContribution:
    """Encodes a contribution for storage.

    `words` is the JSON of all but its late members, where a reading has made that already.
    """
    if words is None:
        return PreparedContribution(claim, CONTRIBUTIONS.record(claim))
    members = {wire.camel(name): getattr(claim, name) for name in _LATE_MEMBERS}
    raw = words[:-1] + b"," + wire.to_bytes(members)[1:]
    return PreparedContribution(claim, CONTRIBUTIONS.record(claim, raw))


_LATE_MEMBERS = ("digest", "read_at", "stamp", "since", "earlier")
"""Members of a contribution that are known only after its record is encoded."""


@frozen(eq=False)
class _PreparedCollection(Collection[Any]):
    def record(self, value: PreparedContribution, _: bytes | None = None) -> IndexedRow:
        return value.record


PREPARED_CONTRIBUTIONS: Collection[Any] = _PreparedCollection(
    **{member.name: getattr(CONTRIBUTIONS, member.name) for member in attrs.fields(Collection)}
)
"""The collection of contributions, for writing values that are encoded already."""


@frozen
class MergedRow:
    """The id of a row that was merged into another, so that the old id keeps answering."""

    id: str
    into: str


MERGED_ROWS: Collection[MergedRow] = Collection(
    name="merged_rows",
    model=MergedRow,
    prefix="",
    order=lambda _: 0,
    scope="global",
    keys={"into": lambda row: row.into},
)


def contribution_id(source: str, resource: str, key: str, row: str) -> str:
    """The id of what a source says of `row` under a key; a long key is replaced by the row."""
    return f"{source}:{resource}:{row if len(key) > KEY_CHARS else key}"


def words_digest(words: bytes, context: Any) -> int:
    """A 63-bit digest by which a repeated reading is recognised."""
    hasher = sha256(words)
    if context:
        hasher.update(wire.to_bytes(context))
    return int.from_bytes(hasher.digest()[:8], "big") >> 1
