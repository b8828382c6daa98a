"""Rows of a list that are sought by words: which tokens stand for a row, and what a question asks.

Rule 1: a row is found by the terms of the engine and by its words as they are written; names, which
        nobody inflects, by their words alone. Nothing is guessed.
Rule 2: what stands in the first field, the heading, counts twice (BM25F: fields have weights).
Rule 3: a row is about a question where it holds more than half of what was asked, as that weighs: a
        word that few rows hold weighs more, one that no row holds as much as one of one row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Generic, TypeVar

from attrs import field, frozen

from svc_core.base.unset import Maybe
from svc_core.text.query import OTHER, Query
from svc_core.text.words import cut, terms, words
from svc_core.wire.constraints import Doc, Example, Ge, Le

T = TypeVar("T")
Run = tuple[str, ...]

TOKENS_MAX = 16  # of one question, and of what means the same: a cursor carries their weights
CUT = 0.5  # of the weight of what was asked
WEIGHT = 1_000  # weights of tokens are handed to the store in thousandths
_HEADING = "^"
_WHOLE = 0.4  # of a term's weight is that of the word as it was written


@frozen
class TokenQuery:
    """A question: tokens with their shares of a term's weight, and those of what means the same.

    Rows must hold one of `phrases`, as runs of words side by side, and none of `exclusions`. Where
    it `is_headed`, a heading counts twice.
    """

    tokens: Mapping[str, float]
    synonyms: Mapping[str, float] = field(factory=dict)
    phrases: tuple[Run, ...] = ()
    exclusions: tuple[Run, ...] = ()
    is_headed: bool = True

    @property
    def shares(self) -> dict[str, float]:
        """All its tokens."""
        return {**self.synonyms, **self.tokens}


@frozen
class WeightedQuery:
    """A question with the weights of its tokens, which depend on how many rows hold each.

    Tokens without a weight are not asked for. One that `is_common` has none that tells rows apart.
    """

    query: TokenQuery
    weights: Mapping[str, int]
    is_common: bool = False

    @property
    def store_tokens(self) -> dict[str, int]:
        """What a store looks for: the tokens, and each of them in a heading."""
        if not self.query.is_headed:
            return dict(self.weights)
        return {**self.weights, **{_HEADING + token: n for token, n in self.weights.items()}}

    @property
    def threshold(self) -> float:
        """What the tokens of a row that is about the question weigh more than, headings aside."""
        return CUT * sum(self.weights.get(token, 0) for token in self.query.tokens)

    @property
    def weight_max(self) -> float:
        """What the tokens of a row that holds all that was asked weigh."""
        return (1 + self.query.is_headed) * self.threshold / CUT


@frozen
class MatchedTerm:
    """A term of the question that a row holds."""

    term: Annotated[str, Doc("As it was compared."), Example("strike")]
    weight: Annotated[float, Doc("What holding it weighs; rare ones weigh more."), Example(4.7)]


@frozen
class Match:
    """Why a row was found."""

    score: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("The share of what was asked that it holds; its heading counts twice."),
    ]
    terms: Annotated[tuple[MatchedTerm, ...], Doc("The terms that it holds, weightiest first.")]
    fields: Annotated[tuple[str, ...], Doc("Where they stand."), Example(["name"])]


Matched = Annotated[
    Maybe[Match | None], Doc("With `include=match` alone: why it was found; null without `q`.")
]


@frozen(eq=False)
class Indexed(Generic[T]):
    """How rows are found by words: their texts by the names of fields, the first the heading.

    Of names, what `bare` leaves out is not asked for beside other words: legal forms. Of rows whose
    terms are `terms`, by the same fields, words are compared as those and headings count once.
    """

    fields: Callable[[T], Mapping[str, Iterable[str]]]
    is_names: bool = False
    bare: Callable[[str], str] = str
    terms: Callable[[T], Mapping[str, Sequence[str]]] | None = None

    def __call__(self, row: T) -> str:
        """The tokens of a row, as a collection keeps them."""
        return " ".join(dict.fromkeys(token for run in self._fields(row).values() for token in run))

    def query(self, question: str) -> TokenQuery:
        """What a question asks of these rows; nothing where it has no word."""
        literal = Query.of(question, whole=True)
        if self.is_names:
            bare = set(words(self.bare(question)))
            core = [word for word in literal.asked if word in bare]
            tokens = dict.fromkeys(core or literal.asked or words(question), 1.0)
            return TokenQuery(_first_tokens(tokens), {}, literal.phrases, literal.excluded)
        query = Query.of(question)
        singles = dict.fromkeys(run[0] for _, runs in query.others for run in runs if len(run) == 1)
        synonyms = dict.fromkeys((term for term in singles if term not in query.asked), OTHER)
        if self.terms is not None:
            tokens = dict.fromkeys(query.asked, 1.0)
            return TokenQuery(
                _first_tokens(tokens),
                _first_tokens(synonyms),
                literal.phrases,
                literal.excluded,
                False,
            )
        tokens = dict(_shares(query.asked, literal.asked))
        return TokenQuery(
            _first_tokens(tokens), _first_tokens(synonyms), literal.phrases, literal.excluded
        )

    def rank(self, row: T, question: WeightedQuery) -> int:
        """What a row weighs, as the store ranks it."""
        return sum(_hits(self._fields(row), question).values())

    def match(self, row: T, question: WeightedQuery) -> Match | None:
        """Why a row is about a question; None where it is not."""
        fields = self._fields(row)
        hits = _hits(fields, question)
        total = sum(weight for token, weight in hits.items() if token in question.weights)
        if total <= question.threshold or not self._has_phrases(row, question.query):
            return None
        weights: dict[str, int] = {}
        for token, weight in hits.items():
            bare = token.removeprefix(_HEADING)
            weights[bare] = weights.get(bare, 0) + weight
        ranking = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
        return Match(
            round(min(1.0, sum(hits.values()) / question.weight_max), 6),
            tuple(MatchedTerm(term, weight / WEIGHT) for term, weight in ranking),
            tuple(name for name, tokens in fields.items() if not hits.keys().isdisjoint(tokens)),
        )

    def _has_phrases(self, row: T, query: TokenQuery) -> bool:
        if not query.phrases and not query.exclusions:
            return True
        texts = [terms(text, whole=True) for parts in self.fields(row).values() for text in parts]
        return not any(_contains(texts, run) for run in query.exclusions) and (
            not query.phrases or any(_contains(texts, run) for run in query.phrases)
        )

    def _fields(self, row: T) -> Mapping[str, Sequence[str]]:
        """The tokens of each field."""
        if self.terms is not None:
            return self.terms(row)
        fields = {
            name: [token for text in texts for token in self._tokens(text)]
            for name, texts in self.fields(row).items()
        }
        for heading in list(fields)[:1]:
            fields[heading] += [_HEADING + token for token in fields[heading]]
        return fields

    def _tokens(self, text: str) -> list[str]:
        whole = terms(text, whole=True)
        return [*(words(text) if self.is_names else map(cut, whole)), *whole]


def _hits(fields: Mapping[str, Iterable[str]], question: WeightedQuery) -> dict[str, int]:
    row_tokens = {token for tokens in fields.values() for token in tokens}
    return {token: weight for token, weight in question.store_tokens.items() if token in row_tokens}


def _shares(
    stems: Mapping[str, float], literals: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """The terms of a question, and its words as they were written where they are longer."""
    for term in stems:
        longer = [word for word in literals if word != term and cut(word) == term]
        yield term, 1 - _WHOLE if longer else 1.0
        yield from ((word, _WHOLE / len(longer)) for word in longer)


def _first_tokens(tokens: Mapping[str, float]) -> dict[str, float]:
    return dict(list(tokens.items())[:TOKENS_MAX])


def _contains(texts: Iterable[Sequence[str]], run: Run) -> bool:
    """Whether words stand side by side in one of the texts, stop words between them aside."""
    return any(
        tuple(text[at : at + len(run)]) == run
        for text in texts
        for at in range(len(text) - len(run) + 1)
    )
