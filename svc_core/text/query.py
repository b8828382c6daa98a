"""Search queries: the terms of a subject, their synonyms, and phrases that raise or exclude."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from attrs import evolve, field, frozen

from svc_core.text.country_names import Run, country_synonyms
from svc_core.text.language import guess
from svc_core.text.words import terms

SYNONYM_FACTOR = 0.5  # the weight of a synonym where candidates are sought
NAME_FACTOR = 1.75  # the weight of a capitalised word of a subject (ADR 24)

_QUOTATION = re.compile(r'"([^"]+)"|“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]')
_EXCLUSION = re.compile(r'(?:^|(?<=\s))-(?:"([^"]+)"|([^\W\d_][\w-]*))')
_LIST_BREAK = re.compile(r"[;\n]+")
_PARTS_MAX = 12  # subjects that one topic may list; each is searched by itself
_SENTENCE_ENDS = ".!?:"
_OPENERS = "\"'“«„(["


@frozen
class Query:
    """A search query. A `Run` is one or more terms that stand side by side.

    `factors` are the terms of the subject, each with a factor on its weight; `synonyms` are runs of
    them with the runs that mean the same; `phrases` raise the score of an item that has them; an
    item that has one of `exclusions` is dropped. `parts` are the queries of a topic with several.
    """

    factors: Mapping[str, float]
    synonyms: tuple[tuple[Run, tuple[Run, ...]], ...] = field(default=(), repr=False)
    phrases: tuple[Run, ...] = ()
    exclusions: tuple[Run, ...] = ()
    parts: "tuple[Query, ...]" = field(default=(), repr=False)

    @property
    def terms(self) -> Mapping[str, float]:
        """Every term of which a candidate has at least one, with a factor on its weight."""
        equivalents = (term for _, runs in self.synonyms for run in runs for term in run)
        phrase_terms = (term for run in self.phrases for term in run)
        return dict.fromkeys([*self.factors, *phrase_terms, *equivalents], SYNONYM_FACTOR) | dict(
            self.factors
        )

    @classmethod
    def of(
        cls,
        topic: str,
        keywords: Iterable[str] = (),
        language: str | None = None,
        *,
        whole: bool = False,
        stops: frozenset[str] | None = None,
    ) -> "Query":
        """The query for a subject in words; `language` applies where the words do not show theirs.

        `-word` and `-"some words"` exclude; words in quotation marks and keywords raise. Subjects
        on lines of their own or between semicolons are searched one by one. With `whole`, words
        are not cut to terms; `stops` are not sought, in place of the stop words of the language.
        """
        subject = without_exclusions(topic)
        subtag = guess(subject) or language
        terms_of = partial(terms, language=subtag, whole=whole, stops=stops)
        factors = dict.fromkeys(terms_of(subject), 1.0)
        names = (term for term in terms_of(_names(subject)) if term in factors)
        factors |= dict.fromkeys(names, NAME_FACTOR)
        boosts = [_group_text(match) for match in _QUOTATION.finditer(subject)] + list(keywords)
        phrases = _runs(map(terms_of, boosts))
        return cls(
            factors,
            () if whole else tuple(country_synonyms(terms_of(subject))),
            phrases,
            _runs(terms_of(_group_text(match)) for match in _EXCLUSION.finditer(topic)),
            () if whole else _parts(subject, phrases, subtag),
        )


def without_exclusions(topic: str) -> str:
    """What a topic asks for, without what it excludes."""
    return _EXCLUSION.sub(" ", topic)


def _parts(subject: str, phrases: Iterable[Run], language: str | None) -> tuple[Query, ...]:
    """The queries of a list of subjects, each with the phrases that share a term with it."""
    subjects = [part for part in _LIST_BREAK.split(subject) if terms(part, language)][:_PARTS_MAX]
    queries = [Query.of(part, (), language) for part in subjects if len(subjects) > 1]
    return tuple(
        evolve(
            part, phrases=tuple(run for run in phrases if not part.factors.keys().isdisjoint(run))
        )
        for part in queries
    )


def _names(subject: str) -> str:
    """The words in capitals that do not begin a sentence."""
    bare = [word.lstrip(_OPENERS) for word in subject.split()]
    return " ".join(
        word
        for before, word in pairwise(bare)
        if word[:1].isupper() and before[-1:] not in _SENTENCE_ENDS
    )


def _group_text(match: re.Match[str]) -> str:
    return str(next(filter(None, match.groups())))


def _runs(phrases: Iterable[Sequence[str]]) -> tuple[Run, ...]:
    return tuple(dict.fromkeys(tuple(run) for run in phrases if run))
