"""Finds boilerplate: sentences that a source puts under its items whatever they report.

Rule 1: a sentence belongs to a template when two fifths of its runs of three words, numbers aside,
        stand under three items of its source with differing headlines. Of 869 items of 33 feeds
        this removes alerts, notices of a fire brigade and the offers of a show, and no news.
"""

import re
from collections import Counter
from collections.abc import Iterable

from svc_core.text.evidence import EvidenceTexts

SHARE_MIN = 0.4
ITEMS_MIN = 3
COMPARED_MAX = 100  # items of one source; a template shows in a handful
_RUN = 3
_WORD = re.compile(r"[\W\d_]*(\d)[\d\W_]*|[^\W\d_]+")

_Run = tuple[str, ...]


class Templates:
    """The templates of the sources of some items."""

    def __init__(self, items: Iterable[EvidenceTexts]) -> None:
        """Take items in a fixed order, because only the first ones of a source are compared."""
        self._texts: dict[str, dict[str, str]] = {}
        for item in items:
            texts = self._texts.setdefault(item.source_id, {})
            if len(texts) < COMPARED_MAX:
                texts.setdefault(item.title, item.text)
        self._counts: dict[str, Counter[_Run]] = {}

    def match(self, text: str, source_id: str) -> bool:
        """Whether a sentence belongs to a template of its source."""
        if source_id not in self._counts:
            texts = self._texts.get(source_id, {})
            runs_of_texts = (run for body in texts.values() for run in _runs(body))
            self._counts[source_id] = Counter(runs_of_texts)
        counts, runs = self._counts[source_id], _runs(text)
        return sum(counts[run] >= ITEMS_MIN for run in runs) >= SHARE_MIN * len(runs)


def _runs(text: str) -> set[_Run]:
    """The runs of three words in a text; all numbers count as the same word."""
    words = ["#" if match[1] else match[0] for match in _WORD.finditer(text.casefold())]
    return {tuple(words[start : start + _RUN]) for start in range(max(len(words) - _RUN, 0) + 1)}
