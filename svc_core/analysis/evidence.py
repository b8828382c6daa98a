"""What a report is made from: one item of news or observation, and its cached reading.

Rule 1: an `Evidence` is exactly what was stored; nothing in this package alters its words.
Rule 2: everything derived from it (words, sentences) is a function of its title and text alone.
"""

import re
from datetime import datetime

from attrs import field, frozen

from svc_core.analysis.concepts import concepts
from svc_core.analysis.language import guess
from svc_core.analysis.sentences import headline, sentences
from svc_core.analysis.tokens import tokens


@frozen
class Evidence:
    """One stored item. `published_at` and `retrieved_at` are aware UTC; `text` is plain text."""

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

    @property
    def at(self) -> datetime:
        """When it was published, or, where the source gives no date, when it was retrieved."""
        return self.published_at or self.retrieved_at

    @property
    def tongue(self) -> str | None:
        """The primary subtag of its language, stated or guessed."""
        return guess(f"{self.title} {self.text}", self.language)

    @property
    def publisher(self) -> str:
        """What makes two items independent of each other: the publisher's domain, else its id."""
        return self.source_domain.casefold() or self.source_id


@frozen
class Reading:
    """An item read once: its sentences and its words, with language-neutral concepts beside them.

    `title_terms`, `lead_terms` and `body_terms` are the words of the headline, of the first
    sentence and of all the sentences, in order; `concept_terms` pairs with the same three places.
    """

    evidence: Evidence
    headline: str
    sentences: tuple[str, ...]
    title_terms: tuple[str, ...] = field(repr=False)
    lead_terms: tuple[str, ...] = field(repr=False)
    body_terms: tuple[str, ...] = field(repr=False)
    title_concepts: tuple[str, ...] = field(repr=False)
    lead_concepts: tuple[str, ...] = field(repr=False)
    body_concepts: tuple[str, ...] = field(repr=False)


def read(evidence: Evidence) -> Reading:
    """The reading of one item."""
    body = sentences(evidence.text)
    title = tokens(headline(evidence.title))
    lead = tokens(body[0]) if body else []
    rest = [word for sentence in body[1:] for word in tokens(sentence)]
    return Reading(
        evidence=evidence,
        headline=headline(evidence.title),
        sentences=tuple(body),
        title_terms=tuple(title),
        lead_terms=tuple(lead),
        body_terms=(*lead, *rest),
        title_concepts=tuple(concepts(title)),
        lead_concepts=tuple(concepts(lead)),
        body_concepts=tuple(concepts([*lead, *rest])),
    )


_DIGEST = re.compile(
    r"\b(?:(?:morning|evening|daily|weekly|(?:mon|tues|wednes|thurs|fri|satur|sun)day) briefing"
    r"|newsletter|(?:pictures?|photos?) of the (?:day|week)|week in pictures|news quiz"
    r"|(?:news|weekly) round-?up|top (?:\w+ )?stories|presseschau|revue de presse)\b",
    re.IGNORECASE,
)


def is_digest(evidence: Evidence) -> bool:
    """Whether an item tells many stories at once, so that its words join what has no bearing."""
    return bool(_DIGEST.search(evidence.title))
