"""Cuts the excerpt of a text that holds most terms of a question, with highlights."""

from collections.abc import Collection, Sequence

from svc_core.knowledge.rows import Excerpt, Highlight
from svc_core.text.words import spans

EXCERPT_MAX = 400
"""Characters: a paragraph."""
_BEFORE = EXCERPT_MAX // 3
"""Characters before the first match, as far as the sentence or a word begins there."""

_Span = tuple[int, int, str]


def excerpt(text: str, terms: Collection[str]) -> Excerpt:
    """The window of a text that holds most of these terms; its beginning where it holds none.

    Among windows with equally many terms it is the one with more matches, then the first.
    """
    hits = [span for span in spans(text) if span[2] in terms]
    start = _start(text, _best(hits))
    end = _end(text, start)
    runs = [(low - start, high - start) for low, high, _ in hits if start <= low and high <= end]
    return Excerpt(text[start:end], tuple(Highlight(*span) for span in _merge_runs(runs)))


def _best(hits: Sequence[_Span]) -> int:
    """The position of the first match in the best window."""
    best, begin, after = (0, 0), 0, 0
    for at, (start, _, _) in enumerate(hits):
        while after < len(hits) and hits[after][1] <= start + EXCERPT_MAX - _BEFORE:
            after += 1
        score = len({term for _, _, term in hits[at:after]}), after - at
        if score > best:
            best, begin = score, start
    return begin


def _start(text: str, match: int) -> int:
    """The position where the window begins: at a sentence or a word."""
    if match <= _BEFORE or len(text) <= EXCERPT_MAX:
        return 0
    before = text[match - _BEFORE : match]
    sentence = max(before.rfind(". "), before.rfind("\n")) + 1
    at = match - _BEFORE + (sentence or before.find(" ") + 1)
    return at + len(text[at:match]) - len(text[at:match].lstrip())


def _end(text: str, start: int) -> int:
    """The position where the window ends: after a sentence, else after a word."""
    least, end = start + EXCERPT_MAX // 2, min(len(text), start + EXCERPT_MAX)
    if end < len(text):
        sentence = max(text.rfind(". ", least, end) + 1, text.rfind("\n", least, end))
        end = sentence or max(text.rfind(" ", least, end), least)
    return start + len(text[start:end].rstrip())


def _merge_runs(runs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The runs with overlapping ones merged, as terms of two characters overlap."""
    disjoint: list[tuple[int, int]] = []
    for start, end in runs:
        if disjoint and start < disjoint[-1][1]:
            disjoint[-1] = disjoint[-1][0], end
        else:
            disjoint.append((start, end))
    return disjoint
