"""One ranking over the rows of many kinds: how well each row answers a question, and why.

Rule 1: case, accents, marks and words in capitals make no difference, and the words that every
        question has weigh little (`STOP_FACTOR`).
Rule 2: a row that is named as the question, or a run of its words, comes first, the more so the
        more of the question's weight the run has (`svc_core.search.row_names`).
Rule 3: other rows come by the share of the question's weight that they hold. A word weighs more
        the fewer rows of all kinds hold it. Nothing is cut off: the caller judges the share.
Rule 4: where a caller knows how near rows are in meaning, that is added (`MEANING`).
Rule 5: of equal rows the kind that is declared first comes first, then the order of its list.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from itertools import islice, product
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, Final

from attrs import evolve, field, frozen

from svc_core.operation.context import Context
from svc_core.operation.ports import Collection
from svc_core.search.corpus import POSTINGS_MAX, holders, rarest
from svc_core.search.field_index import FieldIndex, heading_tokens
from svc_core.search.lists import Listing
from svc_core.search.row_names import NAMES, Named, name_bonuses, run_tokens
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import guess
from svc_core.text.query import without_exclusions
from svc_core.text.synonyms import english_words
from svc_core.text.words import split_words, stop_words

UNIT: Final = 1_000
"""The weight of a whole question: of a row that holds all of its words outside of its heading."""
_RADIX: Final = 2 * UNIT  # more than the words of a question weigh, roundings included
WHOLE: Final = UNIT * _RADIX + UNIT  # the rank of a row that holds the whole question
_UNKNOWN: Final = UNIT**4  # the rank of a row before it is judged: that of a name
WORDS_MAX: Final = 24
RUN_MAX: Final = 6  # words of a name that is looked for within a question
STOP_FACTOR: Final = 0.2
SENSES, SENSE_FACTOR = 2, 0.5
"""English meanings of each word of a question in another language, the best, and their factor."""
HEADING_PART: Final = 2  # a word in a heading weighs half as much once more (ADR 56)
NAME_BONUS: Final = 64  # of a name whose tier is not known yet
COUNTED_MAX: Final = 1_000  # rows of one kind that are counted for a word, or at all
COMMON_COST: Final = POSTINGS_MAX // 3  # of a word that more rows hold, among all postings
MEANING: Final = 0.5  # of a row that is as near in meaning as rows are
SPARE: Final = 10  # rows of each kind that are considered, and judged, beside those of the answer

JsonRow = Mapping[str, Any]


@frozen(eq=False, slots=False)
class SearchKind:
    """A kind of rows that is searched, as the room of its rows declares it.

    `listing` says how its rows are indexed and shown; of a kind without, a caller gives some rows
    to `rank_rows`, whose words are those of their titles and details. The operation that `shows`
    one takes its id. `titles` are the members that name a row, the first that is there, and
    `details` those that tell more of it, as paths with dots. `vectors` are those of its rows by the
    same ids, where it has some.
    """

    name: str
    listing: Listing[Any] | None
    shows: str
    titles: str
    details: str
    prefix: str = ""
    vectors: Collection[Any] | None = None

    @cached_property
    def index(self) -> FieldIndex[Any]:
        """How its rows are searched by words."""
        words = self.listing.words if self.listing else None
        return words or FieldIndex(lambda row: {"title": [self.title(row)], "": [self.detail(row)]})

    def title(self, row: JsonRow) -> str:
        """What names a row, in one line."""
        return next(filter(None, _texts(row, self.titles)), "")

    def detail(self, row: JsonRow) -> str:
        """What tells more of a row, in one line."""
        return " · ".join(filter(None, _texts(row, self.details)))[:160]


Kinds = Sequence[SearchKind]


@frozen
class RankedRow:
    """A row that may be among the best, by the place of its kind.

    Of its `rank`, that of the store, the part above `_RADIX` is the weight of its words, headings
    and names, and the part below it that of its words. `row` is as lists show it, where known, and
    `near` how near it is in meaning, from 0 to 1.
    """

    rank: int
    place: int
    order: int
    id: str
    raw: bytes = b""
    row: JsonRow = field(factory=dict)
    named: Named = "none"
    near: float = 0.0

    @property
    def key(self) -> tuple[float, int, int, int, str]:
        """The place in the order of all rows."""
        return -self.score, -self.rank, self.place, -self.order, self.id

    @property
    def score(self) -> float:
        """What it is worth: 1 for all words of the question, more for headings, names, meaning."""
        return self.rank // _RADIX / UNIT + MEANING * self.near

    @property
    def share(self) -> float:
        """The share of the question's weight that its words hold, from 0 to 1."""
        return min(1.0, self.rank % _RADIX / UNIT)


@frozen
class RowQuestion:
    """A question as all kinds of rows understand it: its words, folded, and the factor of each."""

    sequence: tuple[str, ...]
    words: Mapping[str, float]

    @classmethod
    def of(cls, text: str) -> "RowQuestion":
        """The question of a text."""
        words = split_words(without_exclusions(text).lower())[:WORDS_MAX]
        language = guess(" ".join(words)) or "en"
        stops = stop_words(language)
        senses = (e for w in words if w not in stops for e in english_words(w, language)[:SENSES])
        own = {w: STOP_FACTOR if w in stops else 1.0 for w in words}
        return cls(tuple(words), dict.fromkeys(islice(senses, WORDS_MAX), SENSE_FACTOR) | own)

    def runs(self, size_max: int) -> Iterable[tuple[str, ...]]:
        """The runs of its words that may be names, of so many words at most."""
        for start, size in product(range(len(self.sequence)), range(1, size_max + 1)):
            run = self.sequence[start : start + size]
            if len(run) == size and max(self.words[word] for word in run) == 1.0:
                yield run


@frozen
class _NameQuery:
    """The tokens of rows that are named as a question says: those of itself, with their weights,
    and those of the runs of its words, each with the run and its share of the question's weight.
    """

    whole: Mapping[str, int]
    runs: Mapping[str, tuple[str, float]]

    @classmethod
    def of(
        cls, question: RowQuestion, shares: Mapping[str, float], index: FieldIndex[Any]
    ) -> "_NameQuery":
        """The tokens for the rows of an index; without names there are none."""
        if index.names is None:
            return cls({}, {})
        text, runs = " ".join(question.sequence), dict[str, tuple[str, float]]()
        for run in question.runs(RUN_MAX if any(index.levels) else 1):
            words, share = " ".join(run), sum(shares[word] for word in dict.fromkeys(run))
            for token in run_tokens(split_words(index.bare(words))):
                runs[token] = max(runs.get(token, ("", 0.0)), (words, share), key=itemgetter(1))
        bonuses = name_bonuses(text, index.bare, index.levels, is_whole=True)
        return cls({token: round(bonus * UNIT) for token, bonus in bonuses.items()}, runs)

    def matches(self, tokens: Set[str], index: FieldIndex[Any]) -> dict[str, int]:
        """The weights of those tokens by which a row with all of these is named."""
        weights = {token: self.whole[token] for token in self.whole.keys() & tokens}
        for run, share in {self.runs[token] for token in self.runs.keys() & tokens}:
            bonuses = name_bonuses(run, index.bare, index.levels, is_whole=False)
            for token in bonuses.keys() & tokens:
                weights[token] = max(weights.get(token, 0), round(share * bonuses[token] * UNIT))
        return weights


@frozen
class _KindQuery:
    """The question for the rows of one kind: the weights of their tokens by what these are.

    The store seeks candidates by the tokens `sought`; it `is_whole` where these have every word.
    """

    kind: SearchKind
    words: Mapping[str, int]
    headings: Mapping[str, int]
    names: _NameQuery
    sought: Mapping[str, int]
    is_whole: bool

    def judge(self, hit: RankedRow) -> RankedRow:
        """A candidate with its exact rank; that of a row without a name is exact already."""
        value, share = divmod(hit.rank, _RADIX)
        if self.is_whole and value <= 2 * share:
            return hit
        listing = self.kind.listing
        row = hit.row if listing is None else listing.texts.decode(hit.raw)
        tokens = self.kind.index.tokens(row)
        share = sum(self.words[token] for token in self.words.keys() & tokens)
        value = sum(self.headings[token] for token in self.headings.keys() & tokens)
        names = self.names.matches(tokens, self.kind.index)
        best = max(names, key=lambda token: (names[token], token), default="")
        rank = (share + value + sum(names.values())) * _RADIX + share
        return evolve(hit, rank=rank, named=NAMES[best[:1]])


Near = Mapping[str, Mapping[str, float]]
"""How near rows are to a question in meaning, from 0 to 1, by the name of their kind and the id."""


async def rank_rows(
    ctx: Context,
    kinds: Kinds,
    question: str,
    limit: int,
    *,
    rows: Mapping[str, Sequence[bytes]],
    near: Near = MappingProxyType({}),
) -> list[RankedRow]:
    """The rows of these kinds that answer a question best, the best first.

    `rows` are the public rows of kinds without a listing, by the kind's name.
    """
    parsed = RowQuestion.of(question)
    counts = await _counts(ctx, kinds, parsed)
    queries, hits = _queries(kinds, parsed, counts), list[RankedRow]()
    for place, query in enumerate(queries):
        values = near.get(query.kind.name, {})
        for at, row in enumerate(map(json.loads, rows.get(query.kind.name, ()))):
            head = _UNKNOWN, place, -at, row["id"]
            hits.append(query.judge(RankedRow(*head, row=row, near=values.get(row["id"], 0.0))))
        hits += await _stored(ctx, query, place, limit, values)
    hits = sorted(hits, key=attrgetter("key"))[: limit + SPARE]
    hits = [hit for hit in (queries[hit.place].judge(hit) for hit in hits) if hit.score]
    return await _shown(ctx, kinds, sorted(hits, key=attrgetter("key"))[:limit])


Counts = Mapping[tuple[int, str], int]
"""How many rows of a kind, by its place, hold a word; `""` is every row."""


async def _counts(ctx: Context, kinds: Kinds, question: RowQuestion) -> Counts:
    counts: dict[tuple[int, str], int] = {}
    for place, kind in enumerate(kinds):
        if kind.listing is not None:
            texts, forms = kind.listing.texts, kind.index.word_tokens
            counts[place, ""] = await ctx.tx.documents.count(texts, limit=COUNTED_MAX)
            words = question.words if counts[place, ""] else ()
            tokens = {word: token for word in words for token in list(forms(word))[:1]}
            numbers = await holders(ctx, texts, {*tokens.values()}, COUNTED_MAX)
            counts |= {(place, word): numbers[token] for word, token in tokens.items()}
    return counts


def _queries(kinds: Kinds, question: RowQuestion, counts: Counts) -> list[_KindQuery]:
    """The question for each kind, with words weighed by how many rows of all kinds hold them."""
    sums = {w: sum(n for (_, of), n in counts.items() if of == w) for w in ("", *question.words)}
    table = Frequencies(sums[""], {word: max(1, n) for word, n in sums.items()}, base=None)
    weights = {word: table.idf(word) * factor for word, factor in question.words.items()}
    whole = sum(weights.values()) or 1.0
    shares = {word: weight / whole for word, weight in weights.items()}
    sought, queries = _sought(counts), list[_KindQuery]()
    for at, kind in enumerate(kinds):
        index, words = kind.index, dict[str, int]()
        runs = _NameQuery.of(question, shares, index)
        for word, share in shares.items():
            for token, part in index.word_tokens(word).items():
                words[token] = words.get(token, 0) + max(1, round(share * part * UNIT))
        tokens = {token: words[token] for w in sought[at] for token in index.word_tokens(w)}
        in_headings = {token: heading_tokens(token, index.heading_levels) for token in words}
        headings = {h: words[token] // HEADING_PART for token in words for h in in_headings[token]}
        found = {run: round(part * NAME_BONUS * UNIT) for run, (_, part) in runs.runs.items()}
        values = {h: headings[h] for token in tokens for h in in_headings[token]}
        values |= {**found, **runs.whole}
        seekers = {token: max(1, weight) * _RADIX for token, weight in values.items()}
        seekers |= {token: weight * _RADIX + weight for token, weight in tokens.items()}
        is_whole = {word for word in shares if counts.get((at, word))} <= sought[at]
        queries.append(_KindQuery(kind, words, headings, runs, seekers, is_whole))
    return queries


def _sought(counts: Counts) -> Mapping[int, set[str]]:
    """The words by which rows of each kind are sought: the rarest, `POSTINGS_MAX` in all.

    A word of no row costs nothing, and a common one tells rows apart no more than it would cost.
    """
    costs = {
        key: n if n < COUNTED_MAX else COMMON_COST for key, n in counts.items() if key[1] and n
    }
    sought = defaultdict[int, set[str]](set)
    for place, word in rarest(costs):
        sought[place].add(word)
    return sought


async def _stored(
    ctx: Context, query: _KindQuery, place: int, limit: int, near: Mapping[str, float]
) -> list[RankedRow]:
    """The stored rows of a kind that may be among the best, by their words and by meaning."""
    if query.kind.listing is None:
        return []
    documents, texts, size = ctx.tx.documents, query.kind.listing.texts, limit + SPARE
    page = await documents.search(texts, query.sought, limit=size)
    nearest = sorted(near, key=lambda id_: (-near[id_], id_))[:size]
    rows = (await documents.get_many(texts, nearest)).values()
    pairs = {row.id: (_UNKNOWN, row) for row in rows}
    pairs |= {row.id: (rank, row) for rank, row in zip(page.ranks, page.rows, strict=True)}
    hits = (
        RankedRow(rank, place, row.order, row.id, row.raw, near=near.get(row.id, 0.0))
        for rank, row in pairs.values()
    )
    return [query.judge(hit) if hit.rank == _UNKNOWN else hit for hit in hits]


async def _shown(ctx: Context, kinds: Kinds, hits: Sequence[RankedRow]) -> list[RankedRow]:
    """The rows as lists show them, but for those that are gone meanwhile."""
    rows = {hit.key: hit.row for hit in hits}
    for place, kind in enumerate(kinds):
        keys = {hit.id: hit.key for hit in hits if hit.place == place}
        if keys and kind.listing is not None:
            stored = await ctx.tx.documents.get_many(kind.listing.collection, [*keys])
            raws = await kind.listing.complete(ctx, [row.raw for row in stored.values()])
            found = zip(stored, raws, strict=True)
            rows |= {keys[id_]: json.loads(raw or b"{}") for id_, raw in found}
    return [evolve(hit, row=rows[hit.key]) for hit in hits if rows[hit.key]]


def _texts(row: JsonRow, paths: str) -> Iterator[str]:
    """The members of a row at these paths, each in one line."""
    for path in paths.split():
        part: Any = row
        for name in path.split("."):
            part = part.get(name) if isinstance(part, Mapping) else None
        text = ", ".join(map(str, part)) if isinstance(part, list) else str(part or "")
        yield " ".join(text.split())
