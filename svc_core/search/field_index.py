"""Word search in lists: the tokens of a row, the tokens of a question, and whether they match.

Where rows have names, those that are named so come first (`svc_core.search.row_names`).

Rule 1: a row is found by its stemmed terms and by its words as written; names, which are not
        inflected, are found by their words alone. There is no fuzzy matching.
Rule 2: tokens of the first field, the heading, count twice (BM25F: fields have weights).
Rule 3: a row matches a question when it holds more than half of the question's weight, or is named
        so. A word weighs more the fewer rows hold it; one that no row holds weighs as much as one
        of one row.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Generic, TypeVar

from attrs import field, frozen

from svc_core.base.unset import Maybe
from svc_core.search.row_names import LEVELS, RowNames, name_tokens, name_weights
from svc_core.text.language import guess
from svc_core.text.query import SYNONYM_FACTOR, Query, without_exclusions
from svc_core.text.words import (
    LENGTH_MAX,
    has_run,
    raw_words,
    split_words,
    stop_words,
    term_of,
    terms,
    word_parts,
)
from svc_core.wire.constraints import Doc, Example, Ge, Le

T = TypeVar("T")
Run = tuple[str, ...]

TOKENS_MAX = 16  # tokens of one question, and as many synonyms: a cursor carries their weights
CUT = 0.5  # the part of a question's weight that a matching row must exceed
WEIGHT = 1_000  # weights of tokens are handed to the store in thousandths
_HEADING = "^"
_WHOLE = 0.4  # the part of a term's weight that only the word as written earns
_SHORT = 3  # a question of so many words is in no language: none of them is a stop word
_NONE = frozenset[str]()


@frozen
class TokenQuery:
    """A parsed question: its tokens with their share of a term's weight, and their synonyms.

    Rows must hold one of `phrases`, as runs of words side by side, and none of `exclusions`. Where
    rows have headings of these `levels`, a heading counts twice. `names` are the tokens of rows
    that are named so, with their weights.
    """

    tokens: Mapping[str, float]
    synonyms: Mapping[str, float] = field(factory=dict)
    phrases: tuple[Run, ...] = ()
    exclusions: tuple[Run, ...] = ()
    levels: Sequence[int | str] = ("",)
    names: Mapping[str, int] = field(factory=dict)

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

    @cached_property
    def store_tokens(self) -> dict[str, int]:
        """The weights that the store searches by: of each token, of it in a heading, of names.

        Of rows whose headings hold the same words the more prominent comes first.
        """
        headings = {
            heading: self.weights[token] + int(heading[1:2] if self.query.names else 0)
            for heading, token in self.headings.items()
        }
        return {**self.query.names, **self.weights, **headings}

    @cached_property
    def headings(self) -> dict[str, str]:
        """The tokens of a heading that has a word of the question, each with that word."""
        return {
            each: token
            for token in self.weights
            for each in heading_tokens(token, self.query.levels)
        }

    @property
    def threshold(self) -> float:
        """The weight that the tokens of a matching row must exceed, not counting headings."""
        return CUT * sum(self.weights.get(token, 0) for token in self.query.tokens)

    @property
    def weight_max(self) -> float:
        """The weight of a row that holds every token of the question, for a score from 0 to 1."""
        return (1 + bool(self.query.levels)) * self.threshold / CUT


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
    stored terms by field instead, for rows that have them; headings then count once. `names` says
    by what a row is known, where it has names, and `levels` how prominent it may be.
    """

    fields: Callable[[T], Mapping[str, Iterable[str]]]
    is_names: bool = False
    bare: Callable[[str], str] = str
    terms: Callable[[T], Mapping[str, Sequence[str]]] | None = None
    names: Callable[[T], RowNames] | None = None
    levels: Sequence[int] = LEVELS

    def __call__(self, row: T) -> str:
        """The distinct tokens of a row, separated by blanks, as a collection indexes them."""
        return " ".join(dict.fromkeys(token for run in self._fields(row).values() for token in run))

    def tokens(self, row: T) -> frozenset[str]:
        """The distinct tokens of a row."""
        return frozenset(token for run in self._fields(row).values() for token in run)

    def word_tokens(self, word: str) -> dict[str, float]:
        """The tokens of rows that hold a folded word, each with its share of the word's weight."""
        if self.is_names:
            return {word[:LENGTH_MAX]: 1.0}
        shares: dict[str, float] = {}
        forms = terms(word, whole=True, stops=_NONE)
        for form in forms:
            rest = 0.0 if self.terms or term_of(form) == form else _WHOLE
            shares |= {form: rest / len(forms)} if rest else {}
            shares[term_of(form)] = (1 - rest) / len(forms)
        return shares

    @property
    def heading_levels(self) -> Sequence[int | str]:
        """How prominent a row with a heading may be; none where headings count once."""
        return () if self.terms is not None else self.levels if self.names else ("",)

    def query(self, question: str) -> TokenQuery:
        """The question parsed for these rows; without tokens where it has no word.

        No word of a short question is a stop word: those that rows leave out only raise the rank.
        """
        wanted = without_exclusions(question)
        words, left_out = _cut_words(wanted), self._stops(wanted)
        is_short = len(words) <= _SHORT
        stops = {term_of(word): 1.0 for word in words if word in left_out and is_short}
        literal = Query.of(question, whole=True, stops=_NONE)
        query = Query.of(question, whole=self.is_names, stops=left_out if is_short else None)
        if self.is_names:
            bare = set(split_words(self.bare(wanted)))
            core = [word for word in query.factors if word in bare]
            tokens = dict.fromkeys(core or query.factors or words, 1.0)
        else:
            stems = dict.fromkeys(query.factors, 1.0)
            tokens = (stems if self.terms else _shares(query, literal)) or stops
        singles = (run[0] for _, runs in query.synonyms for run in runs if len(run) == 1)
        synonyms = dict.fromkeys(singles, SYNONYM_FACTOR) | stops
        return TokenQuery(
            _first_tokens(tokens),
            _first_tokens({term: synonyms[term] for term in synonyms if term not in tokens}),
            literal.phrases,
            literal.exclusions,
            self.heading_levels,
            {} if self.names is None else name_weights(wanted, self.bare),
        )

    def _stops(self, question: str) -> frozenset[str]:
        """The words that rows may leave out: stored terms leave out those of their language."""
        if self.is_names:
            return _NONE
        return stop_words("en") | (_NONE if self.terms is None else stop_words(guess(question)))

    def rank(self, row: T, question: WeightedQuery) -> int:
        """The weight of a row's tokens, equal to the rank that the store gives it."""
        return sum(_hits(self._fields(row), question).values())

    def match(self, row: T, question: WeightedQuery) -> Match | None:
        """Why a row matches a question; None where it does not."""
        fields = self._fields(row)
        hits = _hits(fields, question)
        words = {token: hits[token] for token in hits if token not in question.query.names}
        total = sum(weight for token, weight in words.items() if token in question.weights)
        is_named = len(words) < len(hits)
        is_match = is_named or total > question.threshold
        if not (is_match and self._has_phrases(row, question.query)):
            return None
        weights = Counter[str]()
        for token, weight in words.items():
            weights[question.headings.get(token, token)] += weight
        ranking = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
        return Match(
            1.0 if is_named else round(min(1.0, sum(words.values()) / question.weight_max), 6),
            tuple(MatchedTerm(term, weight / WEIGHT) for term, weight in ranking),
            tuple(name for name, tokens in fields.items() if not hits.keys().isdisjoint(tokens)),
        )

    def _has_phrases(self, row: T, query: TokenQuery) -> bool:
        if not query.phrases and not query.exclusions:
            return True
        texts = [
            terms(text, whole=True, stops=_NONE)
            for parts in self.fields(row).values()
            for text in parts
        ]
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
            names = None if self.names is None else self.names(row)
            level = names.prominence if names else ""
            fields[heading] += [f"{_HEADING}{level}{token}" for token in fields[heading]]
            if names:
                named = name_tokens(names, heading, self.bare)
                fields |= {name: [*fields.get(name, ()), *named[name]] for name in named}
        return fields

    def _tokens(self, text: str) -> list[str]:
        whole = terms(text, whole=True)
        whole += [part[:LENGTH_MAX] for word in raw_words(text) for part in word_parts(word)]
        words = _cut_words(text) if self.is_names else map(term_of, whole)
        return [*words, *whole]


def heading_tokens(token: str, levels: Sequence[int | str]) -> list[str]:
    """The tokens of rows of these levels whose heading holds this one."""
    return [f"{_HEADING}{level}{token}" for level in levels]


def _hits(fields: Mapping[str, Iterable[str]], question: WeightedQuery) -> dict[str, int]:
    row_tokens = {token for tokens in fields.values() for token in tokens}
    return {token: weight for token, weight in question.store_tokens.items() if token in row_tokens}


def _shares(stems: Query, literal: Query) -> dict[str, float]:
    """The shares of a question's terms, split with the words as written where these are longer."""
    shares = {}
    for term in stems.factors:
        longer = [word for word in literal.factors if word != term and term_of(word) == term]
        shares[term] = 1 - _WHOLE if longer else 1.0
        shares |= dict.fromkeys(longer, _WHOLE / max(1, len(longer)))
    return shares


def _cut_words(text: str) -> list[str]:
    return [word[:LENGTH_MAX] for word in split_words(text)]


def _first_tokens(tokens: Mapping[str, float]) -> dict[str, float]:
    return dict(list(tokens.items())[:TOKENS_MAX])
