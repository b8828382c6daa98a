"""Search queries: the terms of a subject, their synonyms, and phrases that raise or exclude."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from attrs import evolve, field, frozen

from svc_core.text.country_names import Run, country_synonyms
from svc_core.text.language import guess, primary
from svc_core.text.office_holders import holder_of
from svc_core.text.sentences import capitalises_nouns, is_possessed
from svc_core.text.synonyms import compound_parts
from svc_core.text.wording import frame
from svc_core.text.words import split_words, term_of, terms

SYNONYM_FACTOR = 0.5  # the weight of a synonym where candidates are sought
NAME_FACTOR = 1.75  # the weight of a capitalised word of a subject (ADR 24)
_PART_FACTOR = 0.5  # the weight of a part of a compound (ADR 52)

_QUOTATION = re.compile(r'"([^"]+)"|“([^“”]+)”|«([^«»]+)»|„([^„“”]+)[“”]')
_EXCLUSION = re.compile(r'(?:^|(?<=\s))-(?:"([^"]+)"|([^\W\d_][\w-]*))')
_LIST_BREAK = re.compile(r"[;\n]+")
_PARTS_MAX = 12  # subjects that one topic may list: each is ranked by itself, in 0.1 s or less
_SENTENCE_ENDS = ".!?:"
_OPENERS = "\"'“«„(["


@frozen
class Query:
    """A search query. A `Run` is one or more terms that stand side by side.

    `factors` are the terms of the subject, each with a factor on its weight; `synonyms` are runs of
    them with the runs that mean the same; `phrases` raise the score of an item that has them; an
    item that has one of `exclusions` is dropped. `parts` are the queries of a topic with several
    subjects; where it is no `is_list`, it may as well have one. `text` is the topic as written, in
    `language` where that is known; `names` are the terms of who holds its offices.
    """

    factors: Mapping[str, float]
    synonyms: tuple[tuple[Run, tuple[Run, ...]], ...] = field(default=(), repr=False)
    phrases: tuple[Run, ...] = ()
    exclusions: tuple[Run, ...] = ()
    parts: "tuple[Query, ...]" = field(default=(), repr=False)
    is_list: bool = False
    text: str = ""
    language: str | None = None
    names: tuple[str, ...] = ()

    @property
    def terms(self) -> Mapping[str, float]:
        """Every term of which a candidate has at least one, with a factor on its weight."""
        equivalents = (term for _, runs in self.synonyms for run in runs for term in run)
        phrase_terms = (term for run in self.phrases for term in run)
        factors = {**self.factors, **dict.fromkeys(self.names, NAME_FACTOR)}
        return dict.fromkeys([*factors, *phrase_terms, *equivalents], SYNONYM_FACTOR) | factors

    @property
    def part_texts(self) -> tuple[str, ...]:
        """Its parts and theirs, as they were written."""
        return tuple(text for part in self.parts for text in (part.text, *part.part_texts))

    @classmethod
    def of(
        cls,
        topic: str,
        keywords: Sequence[str] = (),
        language: str | None = None,
        *,
        whole: bool = False,
        stops: frozenset[str] | None = None,
        parts_max: int = _PARTS_MAX,
    ) -> "Query":
        """The query for a subject in words; `language` applies where the words do not show theirs.

        `-word` and `-"some words"` exclude; words in quotation marks and keywords raise. Subjects
        on lines of their own or between semicolons are searched one by one. With `whole`, words
        are not cut to terms; `stops` are not sought, in place of the stop words of the language.
        Of more than `parts_max` subjects, those of parts included, the last ones are searched as
        one.
        """
        subject = without_exclusions(topic)
        subtag = guess(subject) or (language and primary(language))
        terms_of = partial(terms, language=subtag, whole=whole, stops=stops)
        factors = dict.fromkeys(terms_of(subject), 1.0)
        names = (term for term in terms_of(_names(subject)) if term in factors)
        factors |= dict.fromkeys(names, NAME_FACTOR)
        compounds = (w for w in split_words(subject) if term_of(w) in factors and not whole)
        elements = (term_of(part) for w in compounds for part in compound_parts(w, subtag or ""))
        factors |= dict.fromkeys(elements, _PART_FACTOR) | factors
        quoted = (match[match.lastindex or 0] for match in _QUOTATION.finditer(subject))
        phrases = _runs(map(terms_of, (*quoted, *keywords)))
        is_list = _LIST_BREAK.search(subject) is not None
        subjects = (
            _LIST_BREAK.split(subject) if is_list else _subjects(subject, keywords, factors, subtag)
        )
        subjects = [text for text in map(str.strip, subjects) if terms_of(text)]
        if len(subjects) > parts_max:
            subjects = [*subjects[: parts_max - 1], " ".join(subjects[parts_max - 1 :])]
        parts = [
            cls.of(text, (), subtag, parts_max=parts_max // len(subjects))
            for text in subjects
            if len(subjects) > 1 and not whole
        ]
        return cls(
            factors,
            () if whole else tuple(country_synonyms(terms_of(subject))),
            phrases,
            _runs(terms_of(match[match.lastindex or 0]) for match in _EXCLUSION.finditer(topic)),
            tuple(part.with_phrases(phrases) for part in parts),
            is_list and bool(parts),
            " ".join(subject.split()),
            subtag,
        )

    def with_holders(self, texts: Sequence[str]) -> "Query":
        """This query with the names of those who hold the offices that it describes.

        `texts` are those of items, which say who that is. The name is sought in place of the
        description, which means the same.
        """
        if self.parts:
            parts = tuple(part.with_holders(texts) for part in self.parts)
            return evolve(self, parts=parts, names=tuple(n for part in parts for n in part.names))
        if self.names or not (holder := holder_of(self.text, self.language, texts)):
            return self
        terms_, name = holder
        run = tuple(term for term in terms_ if term in self.factors)
        factors = {t: f for t, f in self.factors.items() if t not in run} | {name: NAME_FACTOR}
        synonyms = *(pair for pair in self.synonyms if not {*pair[0]} <= {*run}), ((name,), (run,))
        return evolve(self, factors=factors, synonyms=synonyms, names=(name,))

    def with_phrases(self, phrases: Iterable[Run]) -> "Query":
        """This part of a query, with those of its phrases that share a term with it."""
        runs = (run for run in phrases if not self.factors.keys().isdisjoint(run))
        return evolve(self, phrases=tuple(runs))


def without_exclusions(topic: str) -> str:
    """What a topic asks for, without what it excludes."""
    return _EXCLUSION.sub(" ", topic)


def _subjects(
    subject: str, keywords: Sequence[str], factors: Mapping[str, float], language: str | None
) -> list[str]:
    """The subjects that a topic may list, by commas, "and" and as keywords.

    A name alone goes on with what was said of a name ("Votes in France, Spain and Peru"), and a
    noun alone with what is said of one next ("Fires and floods in Chile"). What is another's goes
    on with that ("the quake and its aftermath"). What stands before a colon goes with each
    ("Spain: votes and floods").
    """
    conjunction = re.escape(frame(language or "en")["and"])
    break_ = re.compile(rf"(, (?:{conjunction} )?| {conjunction} )")
    if any(break_.search(quotation[0]) for quotation in _QUOTATION.finditer(subject)):
        return [subject, *keywords]
    pieces = break_.split(" ".join(subject.split()))
    names = {term for term, factor in factors.items() if factor == NAME_FACTOR}
    if capitalises_nouns(language):
        names = {term for run, _ in country_synonyms([*names]) for term in run}
    kinds = "".join(
        "o" if is_possessed(piece, language) else _kind({*terms(piece, language)}, names)
        for piece in pieces[::2]
    )
    spans = (match.span() for match in re.finditer("(?:(?<!n)n*sp*|.)o*", kinds))
    texts = ["".join(pieces[2 * start : 2 * end - 1]) for start, end in spans]
    head, colon, _ = texts[0].rpartition(": ")
    return [texts[0], *(f"{head}{colon}{text}" for text in texts[1:]), *keywords]


def _kind(row: set[str], names: set[str]) -> str:
    """What a part of a topic is: `p` a name alone, `s` something of a name, `n` a noun alone."""
    if row & names:
        return "p" if row <= names else "s"
    return "n" if len(row) == 1 else "-"


def _names(subject: str) -> str:
    """The words in capitals that do not begin a sentence."""
    bare = [word.lstrip(_OPENERS) for word in subject.split()]
    return " ".join(
        word
        for before, word in pairwise(bare)
        if word[:1].isupper() and before[-1:] not in _SENTENCE_ENDS
    )


def _runs(phrases: Iterable[Sequence[str]]) -> tuple[Run, ...]:
    return tuple(dict.fromkeys(tuple(run) for run in phrases if run))
