"""One stored item of news or observation, and what is derived from its text.

Rule 1: an `Evidence` is exactly what was stored; nothing in this package alters its words.
Rule 2: everything derived from it (terms, sentences) is a function of its title and text alone.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, pairwise
from math import inf

from attrs import Factory, define, field, frozen

from svc_core.text.containment import TextWords
from svc_core.text.language import guess
from svc_core.text.sentences import clean_headline, line_parts, split_sentences
from svc_core.text.words import has_run, terms

TEXT_MAX = 6_000  # characters of a text that are read: a long article; the lead tells what it is
LEAD_TERMS = 60  # terms of the text that tell what it is about: about 400 characters
TITLE, LEAD, REST = 3, 2, 1  # how often a term counts by where it stands


@frozen
class EvidenceTexts:
    """One stored item. `published_at` and `retrieved_at` are aware UTC; `text` is plain text.

    `story` is the key of the story that it was assigned to when it was stored; None before that.
    `terms` are those of its three places as `term_lines` gives them; None where they were not
    stored.
    """

    id: str
    title: str
    text: str
    url: str
    source_id: str
    source_name: str
    source_domain: str
    published_at: datetime | None
    retrieved_at: datetime
    language: str | None = None
    topics: tuple[str, ...] = ()
    story: str | None = None
    terms: str | None = field(default=None, repr=False)

    @property
    def at(self) -> datetime:
        """When it was published, or, where the source gives no date, when it was retrieved."""
        return self.published_at or self.retrieved_at

    @property
    def primary_language(self) -> str | None:
        """The primary subtag of its language, stated or guessed."""
        return guess(f"{self.title} {self.text}", self.language)

    @cached_property
    def words(self) -> TextWords:
        """What is compared of it with a sentence that may cite it."""
        return TextWords.of(f"{self.title} {self.text}")

    @cached_property
    def _passages(self) -> Sequence[TextWords]:
        """Its headline with each two sentences of its text that follow one another."""
        lines = self.text[:TEXT_MAX].splitlines()
        parts = [*chain.from_iterable(map(line_parts, lines)), ""]
        return [TextWords.of(f"{self.title} {' '.join(pair)}") for pair in pairwise(["", *parts])]

    def says(self, claim: TextWords) -> bool:
        """Whether it holds a sentence in one place: words strewn over a text do not say it."""
        return self.words.holds(claim) and (
            claim.line in self.words.line or any(part.holds(claim) for part in self._passages)
        )

    @property
    def publisher(self) -> str:
        """The domain of the publisher, else its id; items of two publishers are independent."""
        return self.source_domain.casefold() or self.source_id


@define(eq=False, slots=False)
class Reading:
    """The analysed text of an item: its headline and sentences, and its terms in three places.

    `title` are the terms of the headline, `lead` the first terms of the text, `rest` the others;
    `text` is the part of the item's that is read. `is_form` says that the item is a filled-in form
    of its source, such as a bulletin or a rating, and no report of an event.
    """

    evidence: EvidenceTexts
    title: tuple[str, ...] = field(repr=False)
    lead: tuple[str, ...] = field(repr=False)
    rest: tuple[str, ...] = field(repr=False)
    text: str = field(
        default=Factory(lambda self: self.evidence.text[:TEXT_MAX], takes_self=True), repr=False
    )
    is_form: bool = False

    @cached_property
    def language(self) -> str | None:
        """The primary subtag of its language, stated or guessed."""
        return self.evidence.primary_language

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How often each term occurs, weighted by the places where it stands."""
        counts: dict[str, int] = {}
        for place, weight in ((self.title, TITLE), (self.lead, LEAD), (self.rest, REST)):
            for term in place:
                counts[term] = counts.get(term, 0) + weight
        return counts

    @cached_property
    def length(self) -> int:
        """The weighted number of terms: the sum of `counts`."""
        return TITLE * len(self.title) + LEAD * len(self.lead) + REST * len(self.rest)

    def holds(self, run: Sequence[str]) -> bool:
        """Whether the terms of `run` stand side by side, stop words between them not counted."""
        if any(term not in self.counts for term in run):
            return False
        return len(run) == 1 or has_run((self.title, self.lead + self.rest), run)

    @cached_property
    def headline(self) -> str:
        """Its title as a reader would quote it."""
        return clean_headline(self.evidence.title)

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of its text, as a reader would quote them."""
        title, language = self.evidence.title, self.language
        return tuple(split_sentences(self.text, title=title, language=language))


@frozen
class ScoredItem:
    """An item and its relevance to the query.

    `sureness` are the log-odds that it is about the query, where its story is the most relevant;
    `head` is the share of the query that its headline and lead hold, `subjects` are those of the
    query that it was found for, the one that it matches best first.
    """

    reading: Reading
    score: float
    sureness: float = inf
    head: float = 0.0
    subjects: tuple[str, ...] = ("",)

    @property
    def evidence(self) -> EvidenceTexts:
        """The item itself."""
        return self.reading.evidence


def term_lines(title: str, text: str, language: str | None) -> str:
    """The terms of a headline, of the lead and of the rest of a text, on one line each.

    `language` is the BCP 47 tag that both are in, where it is known.
    """
    subtag = guess(f"{title} {text}", language)
    body = terms(text[:TEXT_MAX], subtag)
    groups = terms(clean_headline(title), subtag), body[:LEAD_TERMS], body[LEAD_TERMS:]
    return "\n".join(map(" ".join, groups))


def reading_of(evidence: EvidenceTexts) -> Reading:
    """The reading of one item."""
    lines = evidence.terms
    if lines is None:
        lines = term_lines(evidence.title, evidence.text, evidence.language)
    title, lead, rest = lines.split("\n")
    return Reading(evidence, tuple(title.split()), tuple(lead.split()), tuple(rest.split()))


def readings(evidence: Iterable[EvidenceTexts]) -> list[Reading]:
    """The readings of some items, by id; of items with the same id the first by title and text."""
    unique: dict[str, EvidenceTexts] = {}
    for item in sorted(evidence, key=lambda item: (item.id, item.title, item.text)):
        unique.setdefault(item.id, item)
    return [reading_of(item) for item in unique.values()]
