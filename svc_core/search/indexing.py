"""Indexes for retrieval: the words of rows, kept and counted beside them.

Rule 1: an index is a tenant's own or everybody's. Nothing of one counts in another, so that no
        score depends on others' rows.
Rule 2: words are written, counted and removed in the unit of work that does so to their row.
Rule 3: what was written waits for its vector (`IndexDue`), and so does a whole index whose rows
        are older than it is; a worker goes on where the last one ended.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import partial
from typing import Any, Final

from attrs import field, frozen

from svc_core.operation.context import Context
from svc_core.operation.members import ProfileId, ReportId, micros
from svc_core.operation.ports import Collection, Scope
from svc_core.search.corpus import Corpus, TermChange, count
from svc_core.search.embeddings import Vector
from svc_core.text.evidence import TEXT_MAX, places

FORM: Final = 2
"""Of what is indexed: 2 has the tags of signals. What is in another form is indexed anew."""
ALL: Final = "all"
"""The row that waits for a whole index."""
NEVER: Final = 2**62
"""Where what waits for nothing stands: behind everything that does."""


@frozen
class IndexedText:
    """The words of a row of some kind; `terms` as `svc_core.text.evidence.places` makes them.

    `report_id` and `profile_id` are whose it is; None where it is nobody's.
    """

    id: str
    kind: str
    title: str
    text: str = field(repr=False)
    occurred_at: datetime
    terms: str = field(repr=False)
    language: str | None = None
    report_id: ReportId | None = None
    profile_id: ProfileId | None = None


@frozen
class IndexedVector(Vector):
    """The vector of such words."""

    kind: str = "report"
    profile_id: ProfileId | None = None


@frozen
class IndexDue:
    """Words that wait for a vector, or under `ALL` an index that waits to be made anew.

    Of an index: `after` is the row up to which that was done, from the newest on, for the vectors
    of `model` and in the `form` of then; it waits for nothing once it `is_done`.
    """

    id: str
    at: int = 0
    after: tuple[int, str] | None = None
    model: str = ""
    is_done: bool = False
    form: int = 1


@frozen(eq=False)
class Index:
    """The collections of one index; of a tenant's own each tenant has the rows."""

    texts: Collection[IndexedText]
    vectors: Collection[IndexedVector]
    due: Collection[IndexDue]
    corpus: Corpus

    @classmethod
    def of(cls, scope: Scope, name: str) -> "Index":
        """The index whose collections have names that begin so."""
        table: Any = partial(Collection, prefix="", scope=scope)
        keys = {"kind": lambda row: row.kind, "profile": lambda row: row.profile_id}
        return cls(
            table(
                name=f"{name}_texts",
                model=IndexedText,
                order=lambda text: micros(text.occurred_at),
                keys={**keys, "report": lambda text: text.report_id},
                search=lambda text: " ".join(dict.fromkeys(text.terms.split())),
            ),
            table(
                name=f"{name}_vectors",
                model=IndexedVector,
                order=lambda vector: micros(vector.taken_at),
                keys=keys,
            ),
            table(
                name=f"{name}_due",
                model=IndexDue,
                order=lambda due: NEVER if due.is_done else due.at,
            ),
            Corpus.of(scope, f"{name}_"),
        )

    @property
    def collections(self) -> tuple[Collection[Any], ...]:
        """All that it is kept in."""
        return (self.texts, self.vectors, self.due, self.corpus.state, self.corpus.counts)

    async def write(
        self, ctx: Context, texts: Iterable[IndexedText], old_ids: Iterable[str]
    ) -> None:
        """Write these texts, and remove those of `old_ids` that are not among them."""
        after = {text.id: text for text in texts}
        ids = list(dict.fromkeys([*after, *old_ids]))
        before = await ctx.find_many(self.texts, ids)
        changes = []
        for id_ in ids:
            old, new = before.get(id_), after.get(id_)
            if old == new:
                continue
            changes.append(TermChange(id_, old.terms if old else None, new.terms if new else None))
            if new is None:
                for collection in self.collections[:3]:
                    await ctx.tx.documents.delete(collection, id_)
            else:
                await ctx.save(self.texts, id_, new)
                await ctx.save(self.due, id_, IndexDue(id_, micros(ctx.now)))
        await count(ctx, changes, self.corpus)


def indexed(kind: str, id_: str, words: tuple[str, str], at: datetime, **owner: str) -> IndexedText:
    """The title and text of a row, with their terms; `owner` are its members of those names."""
    title, text = words[0], words[1].strip()[:TEXT_MAX]
    terms = places(title, text, owner.get("language"))
    return IndexedText(id_, kind, title, text, at, terms, **owner)
