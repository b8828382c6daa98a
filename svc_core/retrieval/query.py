"""What is asked: the terms of a subject and how much each weighs."""

from collections.abc import Iterable, Mapping

from attrs import frozen

from svc_core.text.language import guess
from svc_core.text.words import terms


@frozen
class Query:
    """A question: its terms, each with a factor on its weight (1 for a plain word)."""

    terms: Mapping[str, float]

    @classmethod
    def of(cls, topic: str, keywords: Iterable[str] = (), language: str | None = None) -> "Query":
        """The query of a subject put in words; `language` where the words do not tell theirs."""
        asked = terms(topic, guess(topic) or language)
        alone = [term for keyword in keywords for term in terms(keyword, language)]
        return cls(dict.fromkeys([*asked, *alone], 1.0))
