"""Word search in lists: the tokens of a row, the tokens of a question, and whether they match.

Where rows have names, the row of that very name comes first: by its name, a code, another name, or
a name that begins so; then come rows that hold the words.

Rule 1: a row is found by its stemmed terms and by its words as written; names, which are not
        inflected, are found by their words alone. There is no fuzzy matching.
Rule 2: tokens of the first field, the heading, count twice (BM25F: fields have weights).
Rule 3: a row matches a question when it holds more than half of the question's weight, or is named
        so. A word weighs more the fewer rows hold it; one that no row holds weighs as much as one
        of one row.
Rule 4: what names a row weighs more than all words together, in the order above; of rows that are
        named alike the one of a weightier kind, or of which more is known, comes first.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Generic, TypeVar

from attrs import field, frozen

from svc_core.base.unset import Maybe
from svc_core.text.query import SYNONYM_FACTOR, Query
from svc_core.text.words import (
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

# What names a row, by the sign before its token: the words of its name in one, as written and in
# the order of the alphabet; a code; other names likewise; how a name begins, and what is left.
# Together all words of a question weigh less than the least of them.
_NAME, _CODE, _ALIAS, _START = "=", "#", "~", ">"
_NAME_WEIGHT, _CODE_WEIGHT, _ALIAS_WEIGHT, _START_WEIGHT = 10**8, 10**8, 10**7, 10**6
_STARTS_MAX, _REST_MAX = 4, 3  # words that begin a name, and words that are told apart after them
PROMINENCE_MAX = 2


@frozen
class RowNames:
    """By what a row is known: its name, others, codes of registers, and its `prominence`.

    That is 0 for kinds that only carry the names of others, up to `PROMINENCE_MAX` for rows of
    which much is known.
    """

    name: str
    aliases: Iterable[str] = ()
    codes: Iterable[str] = ()
    prominence: int = 1


@frozen
class TokenQuery:
    """A parsed question: its tokens with their share of a term's weight, and their synonyms.

    Rows must hold one of `phrases`, as runs of words side by side, and none of `exclusions`. Where
    it `is_headed`, a heading counts twice. `names` are the tokens of rows that are named so, with
    their weights.
    """

    tokens: Mapping[str, float]
    synonyms: Mapping[str, float] = field(factory=dict)
    phrases: tuple[Run, ...] = ()
    exclusions: tuple[Run, ...] = ()
    is_headed: bool = True
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

    @property
    def store_tokens(self) -> dict[str, int]:
        """The weights that the store searches by: of each token, of it in a heading, of names."""
        if not self.query.is_headed:
            return dict(self.weights)
        headings = {_HEADING + token: n for token, n in self.weights.items()}
        return {**self.query.names, **self.weights, **headings}

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
    stored terms by field instead, for rows that have them; headings then count once. `names` says
    by what a row is known, where it has names.
    """

    fields: Callable[[T], Mapping[str, Iterable[str]]]
    is_names: bool = False
    bare: Callable[[str], str] = str
    terms: Callable[[T], Mapping[str, Sequence[str]]] | None = None
    names: Callable[[T], RowNames] | None = None

    def __call__(self, row: T) -> str:
        """The distinct tokens of a row, separated by blanks, as a collection indexes them."""
        return " ".join(dict.fromkeys(token for run in self._fields(row).values() for token in run))

    def query(self, question: str) -> TokenQuery:
        """The question parsed for these rows; without tokens where it has no word."""
        is_short = len(raw_words(question)) <= _SHORT
        stops = self._stops or (stop_words("en") if is_short else None)
        literal = Query.of(question, whole=True, stops=stops)
        names = {} if self.names is None else _name_weights(self.bare(question))
        if self.is_names:
            bare = set(split_words(self.bare(question)))
            core = [word for word in literal.factors if word in bare]
            tokens = dict.fromkeys(core or literal.factors or split_words(question), 1.0)
            return TokenQuery(
                _first_tokens(tokens), {}, literal.phrases, literal.exclusions, names=names
            )
        query = Query.of(question, stops=stops)
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
            _first_tokens(tokens),
            _first_tokens(synonyms),
            literal.phrases,
            literal.exclusions,
            names=names,
        )

    @property
    def _stops(self) -> frozenset[str] | None:
        """The words that names leave out, which are none; None where the language says."""
        return frozenset() if self.is_names else None

    def rank(self, row: T, question: WeightedQuery) -> int:
        """The weight of a row's tokens, equal to the rank that the store gives it."""
        return sum(_hits(self._fields(row), question).values())

    def match(self, row: T, question: WeightedQuery) -> Match | None:
        """Why a row matches a question; None where it does not."""
        fields = self._fields(row)
        hits = _hits(fields, question)
        words = {token: hits[token] for token in hits if token not in question.query.names}
        total = sum(weight for token, weight in words.items() if token in question.weights)
        is_named = any(not token.startswith(_START) for token in hits.keys() - words.keys())
        if not (is_named or total > question.threshold):
            return None
        if not self._has_phrases(row, question.query):
            return None
        weights: dict[str, int] = {}
        for token, weight in words.items():
            bare = token.removeprefix(_HEADING)
            weights[bare] = weights.get(bare, 0) + weight
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
            terms(text, whole=True, stops=self._stops)
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
            fields[heading] += [_HEADING + token for token in fields[heading]]
        if self.names is not None:
            names = self.names(row)
            for field_name, tokens in _name_tokens(names, self.bare).items():
                fields[field_name] = [*fields.get(field_name, ()), *tokens]
        return fields

    def _tokens(self, text: str) -> list[str]:
        whole = terms(text, whole=True)
        parts = [part for word in raw_words(text) for part in word_parts(word)]
        return [*(split_words(text) if self.is_names else map(term_of, whole)), *whole, *parts]


def _name_tokens(names: RowNames, bare: Callable[[str], str]) -> Mapping[str, list[str]]:
    """The tokens by which a row is found by name, by the field that they are told of."""
    words = split_words(bare(names.name))
    starts = range(1, min(_STARTS_MAX, len(words) - 1) + 1) if names.prominence else ()
    aliases = chain.from_iterable(_forms(split_words(bare(alias))) for alias in names.aliases)
    return {
        "name": [
            *(f"{_NAME}{names.prominence}{form}" for form in _forms(words)),
            *(
                f"{_START}{min(len(words) - size, _REST_MAX)}{''.join(words[:size])}"
                for size in starts
            ),
        ],
        "aliases": [f"{_ALIAS}{names.prominence}{form}" for form in aliases],
        "designators": [_CODE + _compact(code) for code in names.codes],
    }


def _name_weights(question: str) -> dict[str, int]:
    """The tokens of rows that are named as a question says, with their weights."""
    words = split_words(question)
    weights = {f"{_CODE}{''.join(words)}": _CODE_WEIGHT}
    for sign, weight in ((_NAME, _NAME_WEIGHT), (_ALIAS, _ALIAS_WEIGHT)):
        for form, share in reversed([*zip(_forms(words), (1, 10), strict=False)]):
            for prominence in range(PROMINENCE_MAX + 1):
                factor = PROMINENCE_MAX + 2 + prominence
                weights[f"{sign}{prominence}{form}"] = factor * weight // share
    for rest in range(1, _REST_MAX + 1):
        weights[f"{_START}{rest}{''.join(words)}"] = (_REST_MAX + 1 - rest) * _START_WEIGHT
    return weights


def _forms(words: Sequence[str]) -> tuple[str, ...]:
    """A name in one word, as it is written and with its words in the order of the alphabet."""
    return tuple(dict.fromkeys(("".join(words), "".join(sorted(words))))) if words else ()


def _compact(code: str) -> str:
    return "".join(split_words(code))


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
