"""A kind of row: its ids, how it is folded, and what is written beside it.

A kind without a collection is kept as contributions alone.
"""

from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
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
class Written:
    """A row as it was and as it is; None where there is none. `words` are what its kind makes."""

    before: Any
    after: Any
    words: Any = None


Finish = Callable[[Members, Sequence[Contribution]], Members | None]
Follow = Callable[[Context, Sequence[Written]], Awaitable[None]]
Listen = Callable[[Context, Sequence[Contribution]], Awaitable[None]]
Settle = Callable[[Context, Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
RowPredicate = Callable[[Sequence[str], Mapping[str, Any], Mapping[str, Any]], bool]


def _never(*_: Any) -> bool:
    return False


def _as_stored(raw: bytes) -> bytes:
    return raw


@frozen(eq=False)
class RowKind:
    """One kind of row. Its ids begin with `prefix`; `own_members` are members that no source says.

    A row that is `is_joined` may have several keys; its id is made of one of the first scheme of
    `schemes` that it has, and it has one key alone of each that is `exclusive`. `finish` makes what
    is folded a row, or None where it makes none. `settle` is given rows as they are stored and as
    they are to be, before they are written, and gives those that stand otherwise to others; each of
    `follows` writes in the same unit what follows from rows that were written, `listen` what follows
    from contributions to a kind without rows. A row that is `is_quiet`, by the members that differ and
    as it was and is, is written and told nobody. `earlier` is a member of which the reading before
    the newest is kept.

    `identify` makes the id of a row of its key, where that is no id derived from kind and key;
    `locate` makes it of a record and its source. `source_context` is what rows carry of their source, and
    `words` makes the words of a row that other contributions tell now. A reading that is `is_idle`, by
    the members that differ and as the row was and is, writes nothing. `complete` completes a row that
    was stored with fewer members.
    """

    resource: str
    prefix: str
    rules: Rules = field(factory=Rules)
    collection: Collection[Any] | None = None
    own_members: tuple[str, ...] = ()
    is_joined: bool = False
    schemes: tuple[str, ...] = ()
    exclusive: Container[str] = ()
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
    complete: Callable[[bytes], bytes] = _as_stored

    def derived(self, key: str) -> str:
        """The id of the row with this key."""
        if self.identify is not None:
            return self.identify(key)
        return ids.derived_id(self.prefix, self.resource, "", key)

    def row_id(self, source: Source, record: Record) -> str:
        """The id of the row that a record of a source tells of."""
        return self.derived(record.key) if self.locate is None else self.locate(source, record)

    def row_members(self, row: str, contributions: Sequence[Contribution]) -> dict[str, Any] | None:
        """The members of the row that these make; None where they make none.

        `mergedIds` of one that is joined are the ids that it has by its other keys.
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
        """The ids that the row of a record has by each of its keys, where it may have several.

        That of the strongest is the first.
        """
        if not self.is_joined:
            return ()
        keys = dict.fromkeys((record.key, *record.also))
        return tuple(map(self.derived, sorted(keys, key=self.strength)))

    def strength(self, key: str) -> int:
        """How far behind the strongest a key is."""
        scheme = key.partition(":")[0]
        return self.schemes.index(scheme) if scheme in self.schemes else len(self.schemes)

    def context(self, source: Source) -> list[Any]:
        """What its rows carry of their source itself."""
        return [] if self.source_context is None else self.source_context(source)
