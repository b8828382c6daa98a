"""Word search in lists: the tokens of a row, the tokens of a question, and whether they match.

Rule 1: a row is found by its stemmed terms and by its words as written; names, which are not
        inflected, are found by their words alone. There is no fuzzy matching.
Rule 2: tokens of the first field, the heading, count twice (BM25F: fields have weights).
Rule 3: a row matches a question when it holds more than half of the question's weight. A word
        weighs more the fewer rows hold it; one that no row holds weighs as much as one of one row.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Generic, TypeVar

from attrs import field, frozen

from svc_core.base.unset import Maybe
from svc_core.text.query import SYNONYM_FACTOR, Query
from svc_core.text.words import has_run, split_words, term_of, terms
from svc_core.wire.constraints import Doc, Example, Ge, Le

T = TypeVar("T")
Run = tuple[str, ...]

TOKENS_MAX = 16  # tokens of one question, and as many synonyms: a cursor carries their weights
CUT = 0.5  # the part of a question's weight that a matching row must exceed
WEIGHT = 1_000  # weights of tokens are handed to the store in thousandths
_HEADING = "^"
_WHOLE = 0.4  # the part of a term's weight that only the word as written earns


@frozen
class TokenQuery:
    """A parsed question: its tokens with their share of a term's weight, and their synonyms.

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
        """The shares of all tokens and synonyms."""
        return {**self.synonyms, **self.tokens}


@frozen
class WeightedQuery:
    """A question with the weights of its tokens, which depend on how many rows hold each token.

    Tokens without a weight are not searched. Where the question `is_common`, very many rows hold
    every token, so that rank would not distinguish rows.
    """

    query: TokenQuery
    weights: Mapping[str, int]
    is_common: bool = False

    @property
    def store_tokens(self) -> dict[str, int]:
        """The weights that the store searches by: of each token, and of it in a heading."""
        if not self.query.is_headed:
            return dict(self.weights)
        return {**self.weights, **{_HEADING + token: n for token, n in self.weights.items()}}

    @property
    def threshold(self) -> float:
        """The weight that the tokens of a matching row must exceed, not counting headings."""
        return CUT * sum(self.weights.get(token, 0) for token in self.query.tokens)

    @property
    def weight_max(self) -> float:
        """The weight of a row that holds every token of the question, for a score from 0 to 1."""
        return (1 + self.query.is_headed) * self.threshold / CUT


@frozen
class MatchedTerm:
    """A term of the question that a row holds."""

    term: Annotated[str, Example("strike")]
    """As it was compared."""
    weight: Annotated[float, Example(4.7)]
    """What holding it weighs; rare ones weigh more."""


@frozen
class Match:
    """Why a row was found."""

    score: Annotated[float, Ge(0), Le(1)]
    """The share of what was asked that it holds; its heading counts twice."""
    terms: tuple[MatchedTerm, ...]
    """The terms that it holds, weightiest first."""
    fields: Annotated[tuple[str, ...], Example(["name"])]
    """Where they stand."""


MatchMember = Annotated[
    Maybe[Match | None], Doc("With `include=match` alone: why it was found; null without `q`.")
]


@frozen(eq=False)
class FieldIndex(Generic[T]):
    """Declares how the rows of a collection are searched by words.

    `fields` gives the texts of a row by field, the heading first. Where the rows are names,
    `bare` strips words that are not searched beside others, such as legal forms. `terms` gives
    stored terms by field instead, for rows that have them; headings then count once.
    """

    fields: Callable[[T], Mapping[str, Iterable[str]]]
    is_names: bool = False
    bare: Callable[[str], str] = str
    terms: Callable[[T], Mapping[str, Sequence[str]]] | None = None

    def __call__(self, row: T) -> str:
        """The distinct tokens of a row, separated by blanks, as a collection indexes them."""
        return " ".join(dict.fromkeys(token for run in self._fields(row).values() for token in run))

    def query(self, question: str) -> TokenQuery:
        """The question parsed for these rows; without tokens where it has no word."""
        literal = Query.of(question, whole=True)
        if self.is_names:
            bare = set(split_words(self.bare(question)))
            core = [word for word in literal.factors if word in bare]
            tokens = dict.fromkeys(core or literal.factors or split_words(question), 1.0)
            return TokenQuery(_first_tokens(tokens), {}, literal.phrases, literal.exclusions)
        query = Query.of(question)
        singles = dict.fromkeys(
            run[0] for _, runs in query.synonyms for run in runs if len(run) == 1
        )
        synonyms = dict.fromkeys(
            (term for term in singles if term not in query.factors), SYNONYM_FACTOR
        )
        if self.terms is not None:
            tokens = dict.fromkeys(query.factors, 1.0)
            return TokenQuery(
                _first_tokens(tokens),
                _first_tokens(synonyms),
                literal.phrases,
                literal.exclusions,
                False,
            )
        tokens = dict(_shares(query.factors, literal.factors))
        return TokenQuery(
            _first_tokens(tokens), _first_tokens(synonyms), literal.phrases, literal.exclusions
        )

    def rank(self, row: T, question: WeightedQuery) -> int:
        """The weight of a row's tokens, equal to the rank that the store gives it."""
        return sum(_hits(self._fields(row), question).values())

    def match(self, row: T, question: WeightedQuery) -> Match | None:
        """Why a row matches a question; None where it does not."""
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
        return not any(has_run(texts, run) for run in query.exclusions) and (
            not query.phrases or any(has_run(texts, run) for run in query.phrases)
        )

    def _fields(self, row: T) -> Mapping[str, Sequence[str]]:
        """The tokens of a row by field."""
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
        return [*(split_words(text) if self.is_names else map(term_of, whole)), *whole]


def _hits(fields: Mapping[str, Iterable[str]], question: WeightedQuery) -> dict[str, int]:
    row_tokens = {token for tokens in fields.values() for token in tokens}
    return {token: weight for token, weight in question.store_tokens.items() if token in row_tokens}


def _shares(
    stems: Mapping[str, float], literals: Mapping[str, float]
) -> Iterator[tuple[str, float]]:
    """The shares of a question's terms, split with the words as written where these are longer."""
    for term in stems:
        longer = [word for word in literals if word != term and term_of(word) == term]
        yield term, 1 - _WHOLE if longer else 1.0
        yield from ((word, _WHOLE / len(longer)) for word in longer)


def _first_tokens(tokens: Mapping[str, float]) -> dict[str, float]:
    return dict(list(tokens.items())[:TOKENS_MAX])
