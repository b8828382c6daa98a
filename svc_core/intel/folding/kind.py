"""Declares a kind of row: how its ids are made, how it is folded, what is written beside it.

A kind without a collection has contributions and no rows.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from attrs import field, frozen

from svc_core.base import ids
from svc_core.formats.model import Record
from svc_core.intel.folding.contributions import Contribution, Members
from svc_core.intel.folding.model import Source
from svc_core.intel.folding.rules import Rules, fold_contributions, live_contributions
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection


@frozen
class RowChange:
    """A row before and after a write, None for none, and the words that its kind made of it."""

    before: Any
    after: Any
    words: Any = None


Finish = Callable[[Members, Sequence[Contribution]], Members | None]
Follow = Callable[[Context, Sequence[RowChange]], Awaitable[None]]
Listen = Callable[[Context, Sequence[Contribution]], Awaitable[None]]
Settle = Callable[[Context, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
State = Callable[[Source, str, Mapping[str, Any], datetime], tuple[Members, Any]]
RowPredicate = Callable[[Sequence[str], Mapping[str, Any], Mapping[str, Any]], bool]


def _never(*_: Any) -> bool:
    return False


def _nothing(_: Contribution) -> Any:
    return ()


@frozen(eq=False)
class RowKind:
    """One kind of row, with everything in which kinds differ.

    Ids: they begin with `prefix`. Rows of a kind that `is_joined` may have several keys: the id is
    made of a key of the first of `schemes` that the row has. A row has at most one of the names
    that `exclusive_names` gives with their schemes, and `shared_name` is one that joins nothing
    where two such rows have it. `identify` makes an id of a key, `locate` of a source and a record,
    where neither is the usual id derived from kind and key. What a source says of a row with many
    keys is stored once where the kind `is_keyed_by_row`, else by key.

    Reading: `state` makes the members and words of what a source says now, where these depend on
    the source and the time; `lapse` keeps members of what a source says no more.

    Fold: `rules`, then `finish`, which turns the folded members into those of a row, or None for
    no row. `own_members` are members that no source states and that a new fold keeps.
    `source_context` is what rows take from their source; `earlier` is the member of which the
    reading before the newest is kept.

    Writing: `settle` sees all rows of a unit as they are stored and as they are to be, and may
    change those that bear on each other. `follows` write, in the same unit, what follows from
    written rows; `listen` what follows from contributions to a kind without rows. `words` makes
    the words of a row. By the members that differ, and the row before and after, a change that
    `is_quiet` is written without a change record, and one that `is_idle` not at all.
    """

    resource: str
    prefix: str
    rules: Rules = field(factory=Rules)
    collection: Collection[Any] | None = None
    own_members: tuple[str, ...] = ()
    is_joined: bool = False
    schemes: tuple[str, ...] = ()
    exclusive_names: Callable[[Contribution], Iterable[tuple[str, str]]] = _nothing
    shared_name: Callable[[Contribution], str | None] = _nothing
    is_keyed_by_row: bool = False
    state: State | None = None
    lapse: Callable[[Contribution], Members] = _nothing
    finish: Finish | None = None
    settle: Settle | None = None
    is_quiet: RowPredicate = _never
    earlier: str = ""
    follows: tuple[Follow, ...] = ()
    listen: Listen | None = None
    identify: Callable[[str], str] | None = None
    locate: Callable[[Source, Record], str] | None = None
    source_context: Callable[[Source], list[Any]] | None = None
    words: Callable[[Mapping[str, Any], Any], Any] | None = None
    is_idle: RowPredicate = _never

    def id_of_key(self, key: str) -> str:
        """The id of the row with a key."""
        if self.identify is not None:
            return self.identify(key)
        return ids.derived_id(self.prefix, self.resource, "", key)

    def row_id(self, source: Source, record: Record) -> str:
        """The id of the row that a source's record is about."""
        return self.id_of_key(record.key) if self.locate is None else self.locate(source, record)

    def row_members(self, row: str, contributions: Sequence[Contribution]) -> dict[str, Any] | None:
        """The members of the row that contributions make; None where they make none.

        A row that may have several keys lists the ids of its other keys in `mergedIds`.
        """
        members = fold_contributions(self.rules, contributions)
        if members is None:
            return None
        if self.is_joined:
            claims = live_contributions(contributions)
            names = {name for claim in claims for name in claim.names if name not in claim.apart}
            members["mergedIds"] = sorted(names - {row})
        return members if self.finish is None else self.finish(members, contributions)

    def names(self, record: Record) -> tuple[str, ...]:
        """The row ids that the keys of a record give, that of the strongest key first.

        Empty for a kind whose rows have one key each.
        """
        if not self.is_joined:
            return ()
        keys = dict.fromkeys((record.key, *record.other_keys))
        return tuple(map(self.id_of_key, sorted(keys, key=self.strength)))

    def strength(self, key: str) -> int:
        """The rank of a key's scheme: 0 for the strongest."""
        scheme = key.partition(":")[0]
        return self.schemes.index(scheme) if scheme in self.schemes else len(self.schemes)

    def context(self, source: Source) -> list[Any]:
        """What rows of this kind take from the source itself, as part of the reading's digest."""
        return [] if self.source_context is None else self.source_context(source)
