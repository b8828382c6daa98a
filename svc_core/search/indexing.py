"""Search indexes: the texts of rows with their terms, counts and vectors, kept beside the rows.

Rule 1: an index belongs to one tenant or is shared by all. Nothing of one index counts in another,
        so no score depends on the rows of other tenants.
Rule 2: a text is written, counted and removed in the unit of work that does so to its row.
Rule 3: a text that was written waits for its vector (`IndexDue`); so does a whole index that must
        be built again. A worker resumes where the last one stopped.
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
from svc_core.search.vector_likeness import Vector
from svc_core.text.evidence import TEXT_MAX, term_lines

FORM: Final = 2
"""The form of indexed texts; 2 has the tags of signals. An index of another form is rebuilt."""
WHOLE_INDEX: Final = "all"
"""The id of the marker that waits for a whole index."""
NEVER: Final = 2**62
"""The order of a marker that waits for nothing: behind all that wait."""


@frozen
class IndexedText:
    """The indexed text of a row of some kind; `terms` is made by
    `svc_core.text.evidence.term_lines`.

    `report_id` and `profile_id` name the report that the row belongs to; None for shared rows.
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
    """The vector of an indexed text."""

    kind: str = "report"
    profile_id: ProfileId | None = None


@frozen
class IndexDue:
    """A text that waits for a vector, or under `WHOLE_INDEX` an index that waits to be rebuilt.

    For an index, `after` is the position up to which it is rebuilt, from the newest row on, for
    vectors of `model` and texts of `form`. Once it `is_done`, it waits for nothing.
    """

    id: str
    at: int = 0
    after: tuple[int, str] | None = None
    model: str = ""
    is_done: bool = False
    form: int = 1


@frozen(eq=False)
class Index:
    """The collections of one index, which are shared or have rows of their own for each tenant."""

    texts: Collection[IndexedText]
    vectors: Collection[IndexedVector]
    due: Collection[IndexDue]
    corpus: Corpus

    @classmethod
    def of(cls, scope: Scope, name: str) -> "Index":
        """The index whose collections are named `<name>_texts`, `<name>_vectors` and so on."""
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
        """All collections of the index; the first three have rows by the id of a text."""
        return (self.texts, self.vectors, self.due, self.corpus.state, self.corpus.counts)

    async def write(
        self, ctx: Context, texts: Iterable[IndexedText], old_ids: Iterable[str]
    ) -> None:
        """Write these texts, and remove those with `old_ids` that are not among them."""
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


def text_row(
    kind: str, id_: str, words: tuple[str, str], at: datetime, **owner: str
) -> IndexedText:
    """The indexed text of a row, with its terms; `owner` holds its report and profile id."""
    title, text = words[0], words[1].strip()[:TEXT_MAX]
    terms = term_lines(title, text, owner.get("language"))
    return IndexedText(id_, kind, title, text, at, terms, **owner)
