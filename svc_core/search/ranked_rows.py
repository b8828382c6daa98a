"""One ranking over the rows of many kinds: how well each row answers a question, and why.

Rule 1: case, accents, marks and words in capitals make no difference, and the words that every
        question has weigh little (`STOP_FACTOR`).
Rule 2: a row that is named as the question, or a run of its words, comes first, the more so the
        more of the question's weight the run has (`svc_core.search.row_names`).
Rule 3: other rows come by the share of the question's weight that they hold. A word weighs more
        the fewer rows of all kinds hold it. Nothing is cut off: the caller judges the share.
Rule 4: of equal rows the kind that is declared first comes first, then the order of its list.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any, Final

from attrs import evolve, frozen

from svc_core.operation.context import Context
from svc_core.search.field_index import FieldIndex
from svc_core.search.lists import Listing
from svc_core.search.row_names import Named, RowNames, name_bonuses, name_of_token
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import guess
from svc_core.text.query import without_exclusions
from svc_core.text.words import split_words, stop_words

UNIT: Final = 1_000_000
"""The weight of a whole question: of a row that holds all of its words outside of its heading."""
WORDS_MAX: Final = 24
RUN_MAX: Final = 6  # words of a name that is looked for within a question
STOP_FACTOR: Final = 0.2
COUNTED_MAX: Final = 1_000  # rows that are counted for one word; more are all as common
TOTAL_MAX: Final = 10_000  # rows of one kind that are counted
CANDIDATES_MAX: Final = 50  # of one kind
DETAIL_MAX: Final = 160  # characters: one line

JsonRow = Mapping[str, Any]


@frozen(eq=False, slots=False)
class SearchKind:
    """A kind of rows that is searched, as the room of its rows declares it.

    `listing` says how its rows are indexed and shown; of a kind without, a caller gives some rows
    to `rank_rows`, whose words are those of their titles and details. `shows` is the operation
    that shows one, which takes its id as its `item`. `titles` are the members that name a row, the
    first that is there, and `details` those that tell more of it, as paths with dots. Its id has
    the `prefix`, where it is one of the service, and stands in `member`.
    """

    name: str
    listing: Listing[Any] | None
    shows: str
    item: str
    titles: str
    details: str
    prefix: str = ""
    member: str = "id"

    @property
    def index(self) -> FieldIndex[Any]:
        """How its rows are searched by words."""
        return self.listing.words if self.listing and self.listing.words else self._shown_words

    @cached_property
    def _shown_words(self) -> FieldIndex[Any]:
        return FieldIndex(
            lambda row: {"title": [self.title(row)], "detail": [self.detail(row)]},
            names=lambda row: RowNames(self.title(row), prominence=0),
        )

    def title(self, row: JsonRow) -> str:
        """What names a row, in one line."""
        return next(filter(None, (_text(row, path) for path in self.titles.split())), "")

    def detail(self, row: JsonRow) -> str:
        """What tells more of a row, in one line."""
        texts = filter(None, (_text(row, path) for path in self.details.split()))
        return " · ".join(texts)[:DETAIL_MAX]


@frozen
class RankedRow:
    """A row of an answer: what ranks it, how it is named, and the share of the question it holds.

    `raw` is the public row.
    """

    kind: SearchKind
    id: str
    rank: int
    named: Named
    share: float
    raw: bytes


@frozen
class RowQuestion:
    """A question as all kinds of rows understand it: its words, folded, each with its factor."""

    words: Mapping[str, float]
    sequence: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> "RowQuestion":
        """The question of a text."""
        words = split_words(without_exclusions(text).lower())[:WORDS_MAX]
        stops = stop_words(guess(" ".join(words)))
        factors = {word: STOP_FACTOR if word in stops else 1.0 for word in words}
        return cls(factors, tuple(words))

    def runs(self) -> Iterable[tuple[str, ...]]:
        """The runs of its words that may be names, the longest first; itself is one of them."""
        words, size = self.sequence, len(self.sequence)
        if size > RUN_MAX:
            yield words
        for length in range(min(size, RUN_MAX), 0, -1):
            for start in range(size - length + 1):
                run = words[start : start + length]
                if length == size or max(self.words[word] for word in run) == 1.0:
                    yield run


@frozen
class _KindQuery:
    """The question for the rows of one kind: the weights of their tokens by what these are."""

    kind: SearchKind
    words: Mapping[str, int]
    headings: Mapping[str, int]
    names: Mapping[str, int]

    def judge(self, row: Any) -> tuple[int, Named, int]:
        """The rank of a row, how it is named, and the weight of its words."""
        tokens = self.kind.index.tokens(row)
        words = sum(weight for token, weight in self.words.items() if token in tokens)
        headings = sum(weight for token, weight in self.headings.items() if token in tokens)
        names = {token: weight for token, weight in self.names.items() if token in tokens}
        best = max(names, key=lambda token: (names[token], token), default="")
        rank = words + headings + sum(names.values())
        return rank, name_of_token(best), words


async def rank_rows(
    ctx: Context,
    kinds: Sequence[SearchKind],
    question: str,
    limit: int,
    rows: Mapping[str, Sequence[bytes]],
) -> list[RankedRow]:
    """The rows of these kinds that answer a question best, the best first.

    `rows` are the public rows of kinds without a listing, by the kind's name.
    """
    parsed = RowQuestion.of(question)
    if not parsed.sequence:
        return []
    weights = await _weights(ctx, kinds, parsed)
    best: list[tuple[tuple[int, int, int, str], RankedRow]] = []
    for place, kind in enumerate(kinds):
        query = _kind_query(kind, parsed, weights)
        for order, id_, raw, words in await _candidates(ctx, query, limit, rows):
            rank, named, share = query.judge(words)
            if rank:
                row = RankedRow(kind, id_, rank, named, min(1.0, share / UNIT), raw)
                best.append(((-rank, place, -order, id_), row))
    best.sort(key=itemgetter(0))
    return await _complete(ctx, [row for _, row in best[:limit]])


async def _weights(
    ctx: Context, kinds: Sequence[SearchKind], question: RowQuestion
) -> Mapping[str, float]:
    """The share of each word in the weight of the question, by how many rows of all hold it."""
    total, counts = 0, dict.fromkeys(question.words, 0)
    count = ctx.tx.documents.count
    for kind in kinds:
        if kind.listing is not None:
            texts = kind.listing.texts
            total += await count(texts, limit=TOTAL_MAX)
            for word in question.words:
                for token in list(kind.index.word_tokens(word))[:1]:
                    counts[word] += await count(texts, limit=COUNTED_MAX, words=(token,))
    counts = {word: max(1, number) for word, number in counts.items()}
    table = Frequencies(max(total, *counts.values()), counts, base=None)
    weights = {word: table.idf(word) * factor for word, factor in question.words.items()}
    whole = sum(weights.values())
    return {word: weight / whole for word, weight in weights.items()}


def _kind_query(kind: SearchKind, question: RowQuestion, shares: Mapping[str, float]) -> _KindQuery:
    index = kind.index
    words: dict[str, int] = {}
    for word, share in shares.items():
        for token, part in index.word_tokens(word).items():
            words[token] = words.get(token, 0) + max(1, round(share * part * UNIT))
    headings = {
        heading: weight
        for token, weight in words.items()
        for heading in index.heading_tokens(token)
    }
    names: dict[str, int] = {}
    if index.names is not None:
        for run in question.runs():
            share = sum(shares[word] for word in dict.fromkeys(run))
            is_whole = len(run) == len(question.sequence)
            for token, bonus in name_bonuses(" ".join(run), index.bare, is_whole=is_whole).items():
                names[token] = max(names.get(token, 0), 1, round(share * bonus * UNIT))
    return _KindQuery(kind, words, headings, names)


async def _candidates(
    ctx: Context, query: _KindQuery, limit: int, rows: Mapping[str, Sequence[bytes]]
) -> list[tuple[int, str, bytes, Any]]:
    """The rows of a kind that may be among the best: order, id, bytes, and what has the words."""
    kind = query.kind
    if kind.listing is None:
        public = [(raw, json.loads(raw)) for raw in rows.get(kind.name, ())]
        return [(-place, row[kind.member], raw, row) for place, (raw, row) in enumerate(public)]
    tokens = {**query.words, **query.headings, **query.names}
    texts = kind.listing.texts
    page = await ctx.tx.documents.search(texts, tokens, limit=min(limit, CANDIDATES_MAX))
    return [(row.order, row.id, row.raw, texts.decode(row.raw)) for row in page.rows]


async def _complete(ctx: Context, rows: Sequence[RankedRow]) -> list[RankedRow]:
    """The rows as their lists show them; those that are gone meanwhile are left out."""
    public = {(row.kind.name, row.id): row.raw for row in rows if row.kind.listing is None}
    for kind in {row.kind for row in rows}:
        if kind.listing is not None:
            ids = [row.id for row in rows if row.kind is kind]
            stored = await ctx.tx.documents.get_many(kind.listing.collection, ids)
            raws = await kind.listing.complete(ctx, [row.raw for row in stored.values()])
            public |= {(kind.name, id_): raw for id_, raw in zip(stored, raws, strict=True)}
    return [
        evolve(row, raw=public[row.kind.name, row.id])
        for row in rows
        if (row.kind.name, row.id) in public
    ]


def _text(row: JsonRow, path: str) -> str:
    part: Any = row
    for name in path.split("."):
        part = part.get(name) if isinstance(part, Mapping) else None
    text = ", ".join(map(str, part)) if isinstance(part, list) else str(part or "")
    return " ".join(text.split())
