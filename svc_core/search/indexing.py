"""Indexes for retrieval: the words of reports and signals, kept and counted beside their rows.

Rule 1: an index is a tenant's own (its reports and their signals) or everybody's (the signals of
        sources). Nothing of one counts in another, so that no score depends on others' rows.
Rule 2: words are written, counted and removed in the unit of work that does so to their row.
Rule 3: what was written waits for its vector (`IndexDue`), and so does a whole index whose rows
        are older than it is; a worker goes on where the last one ended.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal

from attrs import field, frozen

from svc_core.intel.signals.model import Signal
from svc_core.operation.context import Context
from svc_core.operation.members import ProfileId, ReportId, micros
from svc_core.operation.ports import Collection, Scope
from svc_core.reports.model import ReportFacets, ReportRow
from svc_core.search import corpus
from svc_core.search.corpus import Corpus, TermCounts, TermState
from svc_core.search.embeddings import Vector
from svc_core.text.evidence import TEXT_MAX, places

Kind = Literal["report", "signal"]
KINDS: Final[tuple[Kind, ...]] = ("report", "signal")

FORM: Final = 2
"""Of what is indexed: 2 has the tags of signals. What is in another form is indexed anew."""
ALL: Final = "all"
"""The row that waits for a whole index."""
NEVER: Final = 2**62
"""Where what waits for nothing stands: behind everything that does."""
_OF_REPORT_MAX: Final = 64
"""Rows of one report: itself and its signals, of which it has at most 50."""


@frozen
class IndexedText:
    """The words of a report or a signal; `terms` as `svc_core.text.evidence.places` makes them.

    `report_id` and `profile_id` are whose it is; None for a signal of sources.
    """

    id: str
    kind: Kind
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

    kind: Kind = "report"
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

    @property
    def collections(self) -> tuple[Collection[Any], ...]:
        """All that it is kept in."""
        return (self.texts, self.vectors, self.due, self.corpus.state, self.corpus.counts)


def _index(name: str, scope: Scope) -> Index:
    made: Any = partial(Collection, prefix="", scope=scope)
    keys = {"kind": lambda row: row.kind, "profile": lambda row: row.profile_id}
    return Index(
        made(
            name=f"{name}_texts",
            model=IndexedText,
            order=lambda text: micros(text.occurred_at),
            keys={**keys, "report": lambda text: text.report_id},
            search=lambda text: " ".join(dict.fromkeys(text.terms.split())),
        ),
        made(
            name=f"{name}_vectors",
            model=IndexedVector,
            order=lambda vector: micros(vector.taken_at),
            keys=keys,
        ),
        made(
            name=f"{name}_due",
            model=IndexDue,
            order=lambda due: NEVER if due.is_done else due.at,
        ),
        Corpus(
            made(name=f"{name}_terms", model=TermState, order=lambda _: 0),
            made(name=f"{name}_term_counts", model=TermCounts, order=lambda _: 0),
        ),
    )


OWN: Final = _index("knowledge", "tenant")
"""A tenant's: its reports and their signals."""
SHARED: Final = _index("signal", "global")
"""Everybody's: the signals of sources."""
COLLECTIONS: Final = (*OWN.collections, *SHARED.collections)


# -- writing (in the unit that writes the rows) ------------------------------------------------


async def index_report(ctx: Context, row: ReportRow, facets: ReportFacets) -> None:
    """Index a report and its signals in place of what was indexed of it before."""
    gone = await ids_of(ctx, [row.id])
    await _put(ctx, OWN, list(_texts(row, facets)), gone)


async def forget_reports(ctx: Context, ids: Sequence[str]) -> None:
    """Remove reports and their signals."""
    await _put(ctx, OWN, (), await ids_of(ctx, ids))


async def index_signals(ctx: Context, signals: Iterable[Signal]) -> None:
    """Index signals of sources; a dismissed one is removed."""
    told = {one.id: one for one in signals}
    texts = [
        _text("signal", one.id, (one.title, _tagged(one.summary or "", one.tags)), one.detected_at)
        for one in told.values()
        if one.status != "dismissed"
    ]
    await _put(ctx, SHARED, texts, told)


async def ids_of(ctx: Context, reports: Sequence[str]) -> list[str]:
    """What is indexed of some reports."""
    most = _OF_REPORT_MAX * len(reports)
    held = ctx.every(OWN.texts, most, where={"report": tuple(reports)})
    return [row.id async for row in held]


async def _put(
    ctx: Context, index: Index, texts: Sequence[IndexedText], gone: Iterable[str]
) -> None:
    """Write these texts, and remove those of `gone` that are not among them."""
    told = {one.id: one for one in texts}
    before = await ctx.find_many(index.texts, [*told, *gone])
    changes = []
    for id_ in dict.fromkeys([*told, *gone]):
        old, new = before.get(id_), told.get(id_)
        if old == new:
            continue
        terms = (None if one is None else one.terms for one in (old, new))
        changes.append(corpus.Change(id_, *terms))
        if new is None:
            for beside in index.collections[:3]:
                await ctx.tx.documents.delete(beside, id_)
        else:
            await ctx.save(index.texts, id_, new)
            await ctx.save(index.due, id_, IndexDue(id_, micros(ctx.now)))
    await corpus.count(ctx, changes, index.corpus)


# -- what is indexed ---------------------------------------------------------------------------


def _texts(row: ReportRow, facets: ReportFacets) -> Iterator[IndexedText]:
    whose = {"report_id": row.id, "profile_id": row.profile_id, "language": row.language}
    told = facets.text.removeprefix(row.title)
    yield _text("report", row.id, (row.title, told), row.period.end, **whose)
    for one in facets.signals or ():
        words = one.title, _tagged(one.summary, one.tags)
        yield _text("signal", one.id, words, one.last_reported_at, **whose)


def _tagged(summary: str, tags: Sequence[str]) -> str:
    """What a signal says, and what it is about in the words of its tags."""
    return f"{summary}\n{', '.join(tags)}".strip()


def _text(kind: Kind, id_: str, told: tuple[str, str], at: datetime, **whose: str) -> IndexedText:
    title, text = told[0], told[1].strip()[:TEXT_MAX]
    terms = places(title, text, whose.get("language"))
    return IndexedText(id_, kind, title, text, at, terms, **whose)
