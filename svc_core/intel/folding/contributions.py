"""What a source says of a row, as it is kept: the contributions that rows are folded from."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any

import attrs
from attrs import field, frozen

from svc_core import wire
from svc_core.operation.ports import Collection, Record

Members = dict[str, Any]
"""Of a row, in wire names."""

PAIRS = frozenset({"merge", "distinct"})
KEY_CHARS = 100  # a longer key is told by the row that it gives


@frozen
class Contribution:
    """What one source says under one key, in its newest reading.

    `said` are members of the row in wire names; `stamp` is when the source changed them by its own
    word, `read_at` when these words were first read. `since` is the earliest stamp that was read.
    `names` are the ids that the row has by its key and by the other keys that the source gives;
    they are kept where rows may have several; those that are `apart` are the names of other rows.
    `earlier` is what it said of one member before, where that is shown. `ref` leads back to the
    record at its source. One that is `gone` was withdrawn by its source at `stamp`, and says
    nothing. What the operator says of two entities has the format `merge` or `distinct`.
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
        """What the operator says of the two entities of `names`; None of what sources say."""
        return self.format if self.format in PAIRS else None

    @property
    def ended_listings(self) -> Sequence[Mapping[str, Any]]:
        """Its listings, where its list dropped it."""
        return self.said.get("sanctions") or () if self.gone else ()

    @property
    def stated_at(self) -> datetime:
        """When it was said: by the source's own word, else when it was first read."""
        return self.stamp or self.read_at


def ended_source(source: str) -> str:
    """Under which what ended of a source is kept: it is not among what the source says now."""
    return f"{source}:ended"


CONTRIBUTIONS: Collection[Contribution] = Collection(
    name="contributions",
    model=Contribution,
    prefix="",
    # Of a source they stand in the order of their keys, which is mostly that of its documents.
    order=lambda _: 0,
    scope="global",
    keys={
        "row": lambda c: c.row,
        "source": lambda c: ended_source(c.source) if c.ended_listings else c.source,
    },
    facets={"name": lambda c: c.names if len(c.names) > 1 else ()},
)


@frozen(eq=False)
class PreparedContribution:
    """A contribution with its stored form, which is made before the transaction."""

    contribution: Contribution
    record: Record = field(repr=False)


def prepare_contribution(claim: Contribution, words: bytes | None = None) -> PreparedContribution:
    """A contribution that is ready to be kept; `words` is the JSON of the rest of it."""
    if words is None:
        return PreparedContribution(claim, CONTRIBUTIONS.record(claim))
    members = {wire.camel(name): getattr(claim, name) for name in _LATE_MEMBERS}
    raw = words[:-1] + b"," + wire.dumps(members)[1:]
    return PreparedContribution(claim, CONTRIBUTIONS.record(claim, raw))


_LATE_MEMBERS = ("digest", "read_at", "stamp", "since", "earlier")
"""Members of a contribution that are known later than its words."""


@frozen(eq=False)
class _PreparedCollection(Collection[Any]):
    def record(self, value: PreparedContribution, _: bytes | None = None) -> Record:
        return value.record


PREPARED_CONTRIBUTIONS: Collection[Any] = _PreparedCollection(
    **{member.name: getattr(CONTRIBUTIONS, member.name) for member in attrs.fields(Collection)}
)
"""The contributions, for values whose stored form is made."""


@frozen
class MergedRow:
    """A row that was taken up by another."""

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
    """The id of what a source says under a key that gives `row`.

    Pages have several addresses, so that items go by their rows.
    """
    name = row if resource == "newsItem" or len(key) > KEY_CHARS else key
    return f"{source}:{resource}:{name}"


def words_digest(words: bytes, context: Any) -> int:
    """63 bits that tell readings apart."""
    hasher = sha256(words)
    if context:
        hasher.update(wire.dumps(context))
    return int.from_bytes(hasher.digest()[:8], "big") >> 1
