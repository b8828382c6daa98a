"""What is asked: the terms of a subject, what means the same, what raises and what excludes."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from attrs import evolve, field, frozen

from svc_core.text.demonyms import Run, same
from svc_core.text.language import guess
from svc_core.text.words import terms

OTHER = 0.5  # what is not asked itself counts as so many where candidates are sought
NAME = 1.75  # a capitalised word of a subject counts as so many (ADR 24)

_QUOTED = re.compile(r'"([^"]+)"|“([^”]+)”|«([^»]+)»|„([^“”]+)[“”]')
_EXCLUDED = re.compile(r'(?:^|(?<=\s))-(?:"([^"]+)"|([^\W\d_][\w-]*))')
_LISTED = re.compile(r"[;\n]+")
_PARTS_MAX = 12  # subjects that one topic lists: each is looked for by itself
_SENTENCE_ENDS = ".!?:"
_OPENERS = "\"'“«„(["


@frozen
class Query:
    """A question. A `Run` is one or more terms that stand side by side.

    `asked` are the terms of the subject, each with a factor on its weight; `others` are runs of
    them with the runs that mean the same; `phrases` raise the score of what holds them; what holds
    one of `excluded` is not looked at. `parts` are the questions of a topic that lists several.
    """

    asked: Mapping[str, float]
    others: tuple[tuple[Run, tuple[Run, ...]], ...] = field(default=(), repr=False)
    phrases: tuple[Run, ...] = ()
    excluded: tuple[Run, ...] = ()
    parts: "tuple[Query, ...]" = field(default=(), repr=False)

    @property
    def terms(self) -> Mapping[str, float]:
        """Every term of which what is sought holds at least one, with a factor on its weight."""
        named = (term for _, runs in self.others for run in runs for term in run)
        raising = (term for run in self.phrases for term in run)
        return dict.fromkeys([*self.asked, *raising, *named], OTHER) | dict(self.asked)

    @classmethod
    def of(
        cls,
        topic: str,
        keywords: Iterable[str] = (),
        language: str | None = None,
        *,
        whole: bool = False,
    ) -> "Query":
        """The query of a subject put in words; `language` where the words do not tell theirs.

        `-word` and `-"some words"` exclude; words in quotation marks and keywords raise. Subjects
        that semicolons or lines part are looked for each by itself. The words of a `whole` reading
        are not cut.
        """
        subject = _EXCLUDED.sub(" ", topic)
        tongue = guess(subject) or language
        read = partial(terms, language=tongue, whole=whole)
        asked = dict.fromkeys(read(subject), 1.0)
        asked |= dict.fromkeys((t for t in read(_names(subject)) if t in asked), NAME)
        raising = [_either(found) for found in _QUOTED.finditer(subject)] + list(keywords)
        phrases = _runs(map(read, raising))
        return cls(
            asked,
            () if whole else tuple(same(read(subject))),
            phrases,
            _runs(read(_either(found)) for found in _EXCLUDED.finditer(topic)),
            () if whole else _parts(subject, phrases, tongue),
        )


def _parts(subject: str, phrases: Iterable[Run], language: str | None) -> tuple[Query, ...]:
    """The questions of a list, each with the phrases that share a term with it."""
    listed = [part for part in _LISTED.split(subject) if terms(part, language)][:_PARTS_MAX]
    asked = [Query.of(part, (), language) for part in listed if len(listed) > 1]
    return tuple(
        evolve(part, phrases=tuple(run for run in phrases if not part.asked.keys().isdisjoint(run)))
        for part in asked
    )


def _names(subject: str) -> str:
    """The words in capitals that do not begin a sentence."""
    bare = [word.lstrip(_OPENERS) for word in subject.split()]
    return " ".join(
        word
        for before, word in pairwise(bare)
        if word[:1].isupper() and before[-1:] not in _SENTENCE_ENDS
    )


def _either(found: re.Match[str]) -> str:
    return str(next(filter(None, found.groups())))


def _runs(phrases: Iterable[Sequence[str]]) -> tuple[Run, ...]:
    return tuple(dict.fromkeys(tuple(run) for run in phrases if run))
