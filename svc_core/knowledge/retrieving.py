"""Rows that answer a question, by their words and by their meaning.

Rule 1: whatever the store holds, an answer looks at `CANDIDATES_MAX` rows by their words, at
        `BYTES_MAX` of them, and at as many vectors as the model compares, the newest. The public
        reports of all others share a part of that.
Rule 2: a score of words depends on the row, the question and the frequencies of its index; a score
        of meaning on the row and the question.
Rule 3: both rankings are fused by ranks alone (reciprocal rank fusion, Cormack 2009).
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from attrs import define, field, frozen

from svc_core.base.unset import Unset, given
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.intel.signals.indexing import SIGNAL_INDEX
from svc_core.intel.signals.model import SIGNALS
from svc_core.knowledge.excerpts import excerpt
from svc_core.knowledge.rows import (
    KINDS,
    KnowledgeQuery,
    KnowledgeRow,
    Mode,
    RetrievalBounds,
    RetrievalLinks,
    RetrievalScores,
)
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports.documents import Filters
from svc_core.operation.units import WorkContext
from svc_core.reports import publications, recordings
from svc_core.reports.indexing import REPORT_INDEX
from svc_core.reports.model import REPORTS
from svc_core.search import corpus
from svc_core.search.corpus import Corpus
from svc_core.search.embeddings import DOUBTED, Embedder, NotEmbedded, cosines
from svc_core.search.indexing import Index, IndexedText, IndexedVector
from svc_core.text.evidence import Evidence, Reading, read
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import answers
from svc_core.text.words import spans

T = TypeVar("T")

CANDIDATES_MAX: Final = 200
BYTES_MAX: Final = 4 * 1024 * 1024
MODEL_SECONDS, READ_SECONDS = 5.0, 5.0
"""The model is waited for so long, then words alone answer; the rows are."""
FUSION: Final = 60
DIGITS: Final = 6  # of scores


class TimeLimit(Protocol):
    """Something that ends work which takes too long."""

    async def __call__(self, work: Awaitable[T], seconds: float) -> T:
        """What the work gives.

        Raises:
            TimeoutError: it was not done in time, and is dropped.
        """


@frozen
class Retrieved:
    """The rows of an answer, the best first, and how they were found."""

    rows: tuple[KnowledgeRow, ...]
    mode: Mode


async def retrieve(ctx: WorkContext, wanted: KnowledgeQuery) -> Retrieved:
    """The rows that answer a question best.

    Raises:
        Problem: INVALID_PARAMETER where meaning alone is asked for and there is no model;
            SERVICE_UNAVAILABLE where that model, or the store, does not answer in time.
    """
    meant = None if wanted.mode == "lexical" else await _meant(ctx, wanted)
    mode = wanted.mode if meant is not None else "lexical"
    asked = _Asked(wanted, Query.of(wanted.query), meant)
    try:
        found = await _within(ctx, READ_SECONDS, _found(ctx, asked))
    except TimeoutError as late:
        raise Problem(problem.SERVICE_UNAVAILABLE, "The rows could not be read in time.") from late
    return Retrieved(await ctx.work.aside(lambda: _rows(found, asked)), mode)


def bounds(wanted: KnowledgeQuery) -> RetrievalBounds:
    """What an answer looks at, at most."""
    milliseconds = round(1_000 * (MODEL_SECONDS + READ_SECONDS))
    return RetrievalBounds(wanted.limit, CANDIDATES_MAX, BYTES_MAX, milliseconds)


async def _within(ctx: CallContext, seconds: float, work: Awaitable[T]) -> T:
    limit: TimeLimit | None = ctx.host.lends.get(TimeLimit)
    return await (work if limit is None else limit(work, seconds))


@frozen
class _Meant:
    """The vector of a question, by a model."""

    embedder: Embedder
    vector: bytes


async def _meant(ctx: CallContext, wanted: KnowledgeQuery) -> _Meant | None:
    """The meaning of a question; None where words have to do."""
    embedder: Embedder | None = ctx.host.lends.get(Embedder)
    if embedder is None:
        if wanted.mode == "semantic":
            detail = "/mode: semantic needs a model of meaning, and none is configured here"
            raise Problem(problem.INVALID_PARAMETER, detail)
        return None
    try:
        vectors = await _within(ctx, MODEL_SECONDS, embedder.embed([wanted.query]))
    except (NotEmbedded, TimeoutError) as failure:  # whoever asked the model has told of it
        if wanted.mode == "semantic":
            detail = "The model of meaning gives no answer now."
            raise Problem(problem.SERVICE_UNAVAILABLE, detail) from failure
        return None
    return _Meant(embedder, vectors[0])


# -- finding -----------------------------------------------------------------------------------


@frozen
class _Asked:
    """A question as it was sent, as words, and as its meaning."""

    wanted: KnowledgeQuery
    query: Query
    meant: _Meant | None


@frozen
class _Place:
    """An index as a tenant has it; that of another is read for its public `profiles` alone.

    What others have that is not public counts in no score, so theirs are weighed by the
    frequencies of everybody's index.
    """

    index: Index
    ctx: Context
    profiles: tuple[str, ...] = ()

    @property
    def corpus(self) -> Corpus:
        """What its words are counted in."""
        return SIGNAL_INDEX.corpus if self.profiles else self.index.corpus


async def _places(ctx: Context, wanted: KnowledgeQuery) -> list[_Place]:
    """Where rows may be."""
    ids = given(wanted.profile_ids, None)
    places = [_Place(REPORT_INDEX, ctx)]
    if ids is None and "signal" in wanted.kinds:
        places.append(_Place(SIGNAL_INDEX, ctx))
    for other, profiles in await publications.of_everybody(ctx):
        named = tuple(id_ for id_ in profiles if ids is None or id_ in ids)
        if named and other.tx.tenant != ctx.actor.tenant:
            places.append(_Place(REPORT_INDEX, other, named))
    return places


@define
class _Found:
    """Texts by id, each with the table of its index and whether it is another tenant's, and how
    near which come by meaning."""

    texts: dict[str, tuple[IndexedText, Frequencies, bool]] = field(factory=dict)
    vectors: list[IndexedVector] = field(factory=list)
    by_words: set[str] = field(factory=set)
    near: Mapping[str, float] = field(factory=dict)


async def _found(ctx: WorkContext, asked: _Asked) -> _Found:
    work, tenant, meant = ctx.work, ctx.actor.tenant, asked.meant
    found = await work.read(tenant, partial(_look, asked=asked))
    if meant is not None:
        found.near = await work.aside(lambda: _near(meant, found.vectors))
        await work.read(tenant, partial(_complete, found=found, wanted=asked.wanted))
    return found


def _filters(place: _Place, wanted: KnowledgeQuery) -> Filters:
    where: dict[str, tuple[str, ...]] = {}
    if place.index is REPORT_INDEX and set(wanted.kinds) != set(KINDS):
        where["kind"] = wanted.kinds
    if place.profiles or not isinstance(wanted.profile_ids, Unset):
        where["profile"] = place.profiles or given(wanted.profile_ids, ())
    period = given(wanted.period, None)
    start, end = (None, None) if period is None else (period.start, period.end)
    return {
        "where": where or None,
        "start": None if isinstance(start, Unset | None) else micros(start),
        "end": None if isinstance(end, Unset | None) else micros(end) - 1,
    }


async def _look(ctx: Context, asked: _Asked) -> _Found:
    """On one snapshot: the candidates by words, and the vectors."""
    found, wanted, places = _Found(), asked.wanted, await _places(ctx, asked.wanted)
    others = sum(bool(place.profiles) for place in places)
    for place in places:
        index, filters = place.index, _filters(place, wanted)
        shares = (len(places) - others + bool(others)) * (others if place.profiles else 1)
        table = await corpus.frequencies(place.ctx, place.corpus)
        if wanted.mode != "semantic":
            most = max(CANDIDATES_MAX // shares, 1)
            among: Any = {"texts": index.texts, "limit": most, **filters}
            left = BYTES_MAX // shares
            for row in await corpus.candidates(place.ctx, asked.query.terms, table, **among):
                left -= len(row.raw)
                if left >= 0:
                    text = index.texts.decode(row.raw)
                    found.texts[row.id] = text, table, bool(place.profiles)
        if asked.meant is not None:
            most = asked.meant.embedder.compared_max // shares
            vectors = place.ctx.every(index.vectors, most, **filters)
            found.vectors += [index.vectors.decode(row.raw) async for row in vectors]
    await _leave_out(found, places)
    found.by_words = set(found.texts)
    return found


def _near(asked: _Meant, vectors: Iterable[IndexedVector]) -> dict[str, float]:
    """The nearest, the nearest first."""
    held = cosines(asked.embedder, asked.vector, vectors)
    near = [id_ for id_, value in held.items() if value >= DOUBTED]
    near.sort(key=lambda id_: (-held[id_], id_))
    return {id_: held[id_] for id_ in near[:CANDIDATES_MAX]}


async def _complete(ctx: Context, found: _Found, wanted: KnowledgeQuery) -> None:
    """Read what is near and was not found by words."""
    places = await _places(ctx, wanted)
    for place in places:
        lacking = [id_ for id_ in found.near if id_ not in found.texts]
        texts = await place.ctx.find_many(place.index.texts, lacking)
        table = await corpus.frequencies(place.ctx, place.corpus)
        found.texts |= {id_: (text, table, bool(place.profiles)) for id_, text in texts.items()}
    await _leave_out(found, places)


async def _leave_out(found: _Found, places: Sequence[_Place]) -> None:
    """Leave out the reports that the caller may not read now, and their signals."""
    owners = sorted({text.profile_id for text, *_ in found.texts.values() if text.profile_id})
    gone, public = await recordings.leaving(places[0].ctx, owners), set[str | None]()
    for place in places:
        named = [id_ for id_ in owners if id_ in place.profiles]
        public |= (await publications.public(place.ctx, named)).keys() if named else set()
    for id_, (text, _, is_foreign) in list(found.texts.items()):
        if text.profile_id in gone or (is_foreign and text.profile_id not in public):
            del found.texts[id_]


# -- ranking -----------------------------------------------------------------------------------


@frozen
class _Hit:
    text: IndexedText
    reading: Reading
    table: Frequencies
    lexical: float | None
    semantic: float | None

    @property
    def place(self) -> tuple[int, str]:
        """Of hits that are as good, the newer comes first."""
        return -micros(self.text.occurred_at), self.text.id


def _rows(found: _Found, asked: _Asked) -> tuple[KnowledgeRow, ...]:
    question, text = asked.query, asked.wanted.query
    hits = list(_hits(found, question))
    fused: dict[str, float] = {}
    for name in ("lexical", "semantic"):
        ranked = [hit for hit in hits if getattr(hit, name) is not None]
        ranked.sort(key=lambda hit: (-getattr(hit, name), hit.place))
        for rank, hit in enumerate(ranked, 1):
            fused[hit.text.id] = fused.get(hit.text.id, 0.0) + 1 / (FUSION + rank)
    best = [hit for hit in hits if hit.text.id in fused]
    best.sort(key=lambda hit: (-fused[hit.text.id], hit.place))
    terms = {term: term for term in question.terms}
    terms |= {term: text[start:end] for start, end, term in spans(text) if term in terms}
    return tuple(
        _row(hit, question, terms, fused[hit.text.id]) for hit in best[: asked.wanted.limit]
    )


def _hits(found: _Found, question: Query) -> Iterable[_Hit]:
    for id_, (text, table, _) in found.texts.items():
        reading = read(_evidence(text))
        if any(reading.holds(run) for run in question.excluded):
            continue
        (share,) = answers(question, [reading], table)
        lexical = round(share, DIGITS) if share and id_ in found.by_words else None
        near = found.near.get(id_)
        yield _Hit(text, reading, table, lexical, None if near is None else round(near, DIGITS))


def _evidence(text: IndexedText) -> Evidence:
    at, nobody = text.occurred_at, ("", "", "", "")
    told = text.id, text.title, text.text, *nobody, at, at, text.language
    return Evidence(*told, terms=text.terms)


def _row(hit: _Hit, question: Query, terms: Mapping[str, str], fused: float) -> KnowledgeRow:
    """One row; `terms` are those of the question by how they are compared, as they are written."""
    text, asked = hit.text, question.terms
    matched = [term for term in terms if term in hit.reading.counts]
    matched.sort(key=lambda term: (-hit.table.idf(term) * asked[term], term))
    report = text.report_id and REPORTS.address(text.report_id)
    is_report = text.kind == "report"
    own = report if is_report else f"{report}/signals"
    return KnowledgeRow(
        kind="report" if is_report else "signal",
        id=text.id,
        title=text.title,
        excerpt=excerpt(text.text, terms),
        occurred_at=text.occurred_at,
        scores=RetrievalScores(hit.lexical, hit.semantic, round(fused, DIGITS)),
        matched_terms=tuple(dict.fromkeys(terms[term] for term in matched)),
        links=RetrievalLinks(str(own if report else SIGNALS.address(text.id)), report or None),
    )
