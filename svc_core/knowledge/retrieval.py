"""Retrieves the rows that answer a question best, by their words and by their meaning.

Rule 1: an answer reads at most `CANDIDATES_MAX` rows by words and `BYTES_MAX` of their bytes, and
        as many vectors as the model compares, the newest, however large the store is. The public
        reports of other tenants share a part of that.
Rule 2: the score of words depends on the row, the question and the frequencies of its index; the
        score of meaning on the row and the question alone.
Rule 3: both rankings are fused by ranks alone (reciprocal rank fusion, Cormack 2009), as scores of
        words and of meaning have no common scale.
"""

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeVar

from attrs import define, field, frozen

from svc_core.base.unset import Unset, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.intel.signals.model import SIGNALS
from svc_core.intel.signals.signal_index import SIGNAL_INDEX
from svc_core.knowledge.excerpts import excerpt
from svc_core.knowledge.rows import (
    KINDS,
    KnowledgeQuery,
    KnowledgeRow,
    Mode,
    RetrievalBounds,
    RetrievalLinks,
    RetrievalPeriod,
    RetrievalScores,
)
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, Filters
from svc_core.operation.units import WorkContext
from svc_core.reports import publications, recordings
from svc_core.reports.model import REPORTS
from svc_core.reports.report_index import REPORT_INDEX
from svc_core.search import corpus
from svc_core.search.corpus import Corpus
from svc_core.search.indexing import Index, IndexedText, IndexedVector
from svc_core.search.vector_likeness import Embedder, NotEmbedded, Vector, cosines_by_id
from svc_core.text.evidence import EvidenceTexts, Reading, reading_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import answer_shares
from svc_core.text.words import spans

T = TypeVar("T")

CANDIDATES_MAX: Final = 200
BYTES_MAX: Final = 4 * 1024 * 1024
MODEL_SECONDS, READ_SECONDS = 5.0, 5.0
"""How long an answer waits for the model, after which words alone answer, and for the rows."""
FUSION: Final = 60
DIGITS: Final = 6  # of scores


class TimeLimit(Protocol):
    """A function that runs work with a time limit; the host lends it."""

    async def __call__(self, work: Awaitable[T], seconds: float) -> T:
        """The result of the work.

        Raises:
            TimeoutError: the work did not end in time, and was cancelled.
        """


@frozen
class Retrieval:
    """The rows of an answer, the best first, and how they were found."""

    rows: tuple[KnowledgeRow, ...]
    mode: Mode


async def retrieve(ctx: WorkContext, query: KnowledgeQuery) -> Retrieval:
    """The rows that answer a question best.

    Raises:
        Problem: INVALID_PARAMETER where meaning alone is asked for and there is no model;
            SERVICE_UNAVAILABLE where that model, or the store, does not answer in time.
    """
    meaning = None if query.mode == "lexical" else await meaning_of(ctx, query)
    mode = query.mode if meaning is not None else "lexical"
    search = _Search(query, Query.of(query.query), meaning)
    try:
        pool = await within(ctx, READ_SECONDS, _pool_of(ctx, search))
    except TimeoutError as late:
        raise Problem(problem.SERVICE_UNAVAILABLE, "The rows could not be read in time.") from late
    return Retrieval(await ctx.work.aside(lambda: _rows(pool, search)), mode)


def retrieval_bounds(query: KnowledgeQuery) -> RetrievalBounds:
    """The bounds of an answer: the most that it reads, and the longest that it takes."""
    milliseconds = round(1_000 * (MODEL_SECONDS + READ_SECONDS))
    return RetrievalBounds(query.limit, CANDIDATES_MAX, BYTES_MAX, milliseconds)


async def within(ctx: CallContext, seconds: float, work: Awaitable[T]) -> T:
    """The result of some work.

    Raises:
        TimeoutError: it was not there in time, where the host lends a limit (`TimeLimit`).
    """
    limit: TimeLimit | None = ctx.host.providers.get(TimeLimit)
    return await (work if limit is None else limit(work, seconds))


@frozen
class Meaning:
    """The meaning of a question: its vector by a model."""

    embedder: Embedder
    vector: bytes


async def meaning_of(ctx: CallContext, query: KnowledgeQuery) -> Meaning | None:
    """The meaning of a question; None where words have to do."""
    embedder: Embedder | None = ctx.host.providers.get(Embedder)
    if embedder is None:
        if query.mode == "semantic":
            detail = "/mode: semantic needs a model of meaning, and none is configured here"
            raise Problem(problem.INVALID_PARAMETER, detail)
        return None
    try:
        vector = await within(ctx, MODEL_SECONDS, embedder.embed_query(query.query))
    except (NotEmbedded, TimeoutError) as failure:  # whoever asked the model has told of it
        if query.mode == "semantic":
            detail = "The model of meaning gives no answer now."
            raise Problem(problem.SERVICE_UNAVAILABLE, detail) from failure
        return None
    return Meaning(embedder, vector)


# -- finding -----------------------------------------------------------------------------------


@frozen
class _Search:
    """A question as it was sent, as parsed words, and as a vector where there is a model."""

    request: KnowledgeQuery
    query: Query
    meaning: Meaning | None


@frozen
class _Place:
    """An index of one tenant; that of another tenant is read for its public `profiles` alone.

    The private rows of other tenants must count in no score, so words in their public rows are
    weighed by the frequencies of the shared index.
    """

    index: Index
    ctx: Context
    profiles: tuple[str, ...] = ()

    @property
    def corpus(self) -> Corpus:
        """The corpus whose frequencies weigh the words of this index."""
        return SIGNAL_INDEX.corpus if self.profiles else self.index.corpus


async def _places(ctx: Context, query: KnowledgeQuery) -> list[_Place]:
    """The indexes that may hold rows for a question."""
    ids = or_default(query.profile_ids, None)
    places = [_Place(REPORT_INDEX, ctx)]
    if ids is None and "signal" in query.kinds:
        places.append(_Place(SIGNAL_INDEX, ctx))
    for guest, profiles in await publications.publishers(ctx):
        matches = tuple(id_ for id_ in profiles if ids is None or id_ in ids)
        if matches and guest.tx.tenant != ctx.actor.tenant:
            places.append(_Place(REPORT_INDEX, guest, matches))
    return places


@define
class _Pool:
    """The candidates of an answer.

    `texts` are by id, each with the frequencies of its index and whether it is another tenant's;
    `by_words` are the ids found by words, `near` the cosines of those found by meaning.
    """

    texts: dict[str, tuple[IndexedText, Frequencies, bool]] = field(factory=dict)
    vectors: list[IndexedVector] = field(factory=list)
    by_words: set[str] = field(factory=set)
    near: Mapping[str, float] = field(factory=dict)


async def _pool_of(ctx: WorkContext, search: _Search) -> _Pool:
    work, tenant, meaning = ctx.work, ctx.actor.tenant, search.meaning
    pool = await work.read(tenant, partial(_look, search=search))
    if meaning is not None:
        pool.near = await work.aside(lambda: nearest_rows(meaning, pool.vectors))
        await work.read(tenant, partial(_complete, pool=pool, query=search.request))
    return pool


def _filters(place: _Place, query: KnowledgeQuery) -> Filters:
    keys: dict[str, tuple[str, ...]] = {}
    if place.index is REPORT_INDEX and set(query.kinds) != set(KINDS):
        keys["kind"] = query.kinds
    if place.profiles or not isinstance(query.profile_ids, Unset):
        keys["profile"] = place.profiles or or_default(query.profile_ids, ())
    period = or_default(query.period, RetrievalPeriod())
    start, end = or_default(period.start, None), or_default(period.end, None)
    return {
        "where": keys or None,
        "start": None if start is None else micros(start),
        "end": None if end is None else micros(end) - 1,
    }


async def _look(ctx: Context, search: _Search) -> _Pool:
    """The candidates by words, and the vectors, read on one snapshot of the store."""
    pool, query, places = _Pool(), search.request, await _places(ctx, search.request)
    guests = sum(bool(place.profiles) for place in places)
    for place in places:
        index, filters = place.index, _filters(place, query)
        shares = (len(places) - guests + bool(guests)) * (guests if place.profiles else 1)
        table = await corpus.term_frequencies(place.ctx, place.corpus)
        if query.mode != "semantic":
            limit = max(CANDIDATES_MAX // shares, 1)
            among: Any = {"texts": index.texts, "limit": limit, **filters}
            budget = BYTES_MAX // shares
            for row in await corpus.candidate_ids(place.ctx, search.query.terms, table, **among):
                budget -= len(row.raw)
                if budget >= 0:
                    text = index.texts.decode(row.raw)
                    pool.texts[row.id] = text, table, bool(place.profiles)
        if search.meaning is not None:
            limit = search.meaning.embedder.compared_max // shares
            pool.vectors += await newest_vectors(place.ctx, index.vectors, limit, **filters)
    await _leave_out(pool, places)
    pool.by_words = set(pool.texts)
    return pool


async def newest_vectors(ctx: Context, of: Collection[Any], limit: int, **among: Any) -> list[Any]:
    """So many vectors of those that came in last."""
    return [of.decode(row.raw) async for row in ctx.every(of, limit, **among)]


def nearest_rows(meaning: Meaning, vectors: Iterable[Vector]) -> dict[str, float]:
    """The cosines of the nearest rows, the nearest first; none that is usual for any text."""
    scores = cosines_by_id(meaning.embedder, meaning.vector, vectors)
    near = [id_ for id_, value in scores.items() if value >= sum(meaning.embedder.usual)]
    near.sort(key=lambda id_: (-scores[id_], id_))
    return {id_: scores[id_] for id_ in near[:CANDIDATES_MAX]}


async def _complete(ctx: Context, pool: _Pool, query: KnowledgeQuery) -> None:
    """Add the texts of rows that are near by meaning and were not found by words."""
    places = await _places(ctx, query)
    for place in places:
        missing = [id_ for id_ in pool.near if id_ not in pool.texts]
        texts = await place.ctx.find_many(place.index.texts, missing)
        table = await corpus.term_frequencies(place.ctx, place.corpus)
        pool.texts |= {id_: (text, table, bool(place.profiles)) for id_, text in texts.items()}
    await _leave_out(pool, places)


async def _leave_out(pool: _Pool, places: Sequence[_Place]) -> None:
    """Remove the reports that the caller may not read at this moment, and their signals."""
    owners = sorted({text.profile_id for text, *_ in pool.texts.values() if text.profile_id})
    leavers, public = await recordings.leaving(places[0].ctx, owners), set[str | None]()
    for place in places:
        ids = [id_ for id_ in owners if id_ in place.profiles]
        public |= (await publications.public_among(place.ctx, ids)).keys() if ids else set()
    for id_, (text, _, is_foreign) in list(pool.texts.items()):
        if text.profile_id in leavers or (is_foreign and text.profile_id not in public):
            del pool.texts[id_]


# -- ranking -----------------------------------------------------------------------------------


@frozen
class _Hit:
    text: IndexedText
    reading: Reading
    table: Frequencies
    lexical: float | None
    semantic: float | None


def _rows(pool: _Pool, search: _Search) -> tuple[KnowledgeRow, ...]:
    question, text = search.query, search.request.query
    # Of hits with equal scores the newer comes first.
    hits = sorted(
        _hits(pool, question), key=lambda hit: (-micros(hit.text.occurred_at), hit.text.id)
    )
    scores: dict[str, float] = {}
    for name in ("lexical", "semantic"):
        ranking = [hit for hit in hits if getattr(hit, name) is not None]
        ranking.sort(key=lambda hit: -getattr(hit, name))
        for rank, hit in enumerate(ranking, 1):
            scores[hit.text.id] = scores.get(hit.text.id, 0.0) + 1 / (FUSION + rank)
    best = [hit for hit in hits if hit.text.id in scores]
    best.sort(key=lambda hit: -scores[hit.text.id])
    terms = {term: term for term in question.terms}
    terms |= {term: text[start:end] for start, end, term in spans(text) if term in terms}
    return tuple(
        _row(hit, question, terms, scores[hit.text.id]) for hit in best[: search.request.limit]
    )


def _hits(pool: _Pool, question: Query) -> Iterable[_Hit]:
    for id_, (text, table, _) in pool.texts.items():
        reading = reading_of(_evidence(text))
        if any(reading.holds(run) for run in question.exclusions):
            continue
        ((share, *_),) = answer_shares(question, [reading], table)
        lexical = round(share, DIGITS) if share and id_ in pool.by_words else None
        near = pool.near.get(id_)
        yield _Hit(text, reading, table, lexical, None if near is None else round(near, DIGITS))


def _evidence(text: IndexedText) -> EvidenceTexts:
    at, blank = text.occurred_at, ("", "", "", "")
    head = text.id, text.title, text.text, *blank, at, at, text.language
    return EvidenceTexts(*head, terms=text.terms)


def _row(hit: _Hit, question: Query, terms: Mapping[str, str], score: float) -> KnowledgeRow:
    """One row of an answer; `terms` maps each stem of the question to the word as written."""
    text, weights = hit.text, question.terms
    matches = [term for term in terms if term in hit.reading.counts]
    matches.sort(key=lambda term: (-hit.table.idf(term) * weights[term], term))
    report = text.report_id and REPORTS.address(text.report_id)
    is_report = text.kind == "report"
    own = report if is_report else f"{report}/signals"
    return KnowledgeRow(
        kind="report" if is_report else "signal",
        id=text.id,
        title=text.title,
        excerpt=excerpt(text.text, terms),
        occurred_at=text.occurred_at,
        scores=RetrievalScores(hit.lexical, hit.semantic, round(score, DIGITS)),
        matched_terms=tuple(dict.fromkeys(terms[term] for term in matches)),
        links=RetrievalLinks(str(own if report else SIGNALS.address(text.id)), report or None),
    )
