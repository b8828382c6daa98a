"""The tone of an English item, by a list of words. Other languages have no value, not zero.

Rule 1: a word counts with its strength, more after "very", less after "slightly", and turned round
and weakened after a negation up to three words before it.
Rule 2: the headline weighs double. The sum is squeezed into -1..1, so that long texts do not shout.
"""

import re
from collections.abc import Mapping
from functools import cache

from attrs import frozen

from svc_core.text.language import primary

NEUTRAL_BELOW = 0.2  # |value| under this is neutral: about one mild word in a headline
_REACH = 3
_SQUEEZE = 15.0  # x / sqrt(x² + 15): one strong word in the text alone is about 0.6

_WORD = re.compile(r"[a-z]+(?:[-'’][a-z]+)*")
_APOSTROPHES = str.maketrans("", "", "'’")


@frozen
class Sentiment:
    """`label` is positive, neutral or negative; `value` is -1..1, to three places."""

    label: str
    value: float


def sentiment(title: str, text: str = "", language: str | None = "en") -> Sentiment | None:
    """The tone of an item, or `None` where `language` (BCP 47) is unknown or not English."""
    if language is None or primary(language) != "en":
        return None
    total = 2.0 * _sum(title) + _sum(text)
    value = round(total / float(total * total + _SQUEEZE) ** 0.5, 3) + 0.0
    if abs(value) < NEUTRAL_BELOW:
        return Sentiment("neutral", value)
    return Sentiment("positive" if value > 0 else "negative", value)


def _sum(text: str) -> float:
    strengths = _strengths()
    words = [word.translate(_APOSTROPHES) for word in _WORD.findall(text.casefold())]
    return sum(
        strengths[word] * _factor(words[max(0, at - _REACH) : at])
        for at, word in enumerate(words)
        if word in strengths
    )


def _factor(before: list[str]) -> float:
    from svc_core.analysis._valence import NEGATIONS, STRONGER, WEAKER  # noqa: PLC0415 - late

    factor = 1.0
    if before and before[-1] in STRONGER:
        factor = 1.5
    elif before and before[-1] in WEAKER:
        factor = 0.5
    return factor * (-0.6 if NEGATIONS & set(before) else 1.0)


@cache
def _strengths() -> Mapping[str, float]:
    from svc_core.analysis._valence import NEGATIVE, POSITIVE  # noqa: PLC0415 - read on first use

    good = {word: float(size) for size, words in POSITIVE.items() for word in words.split()}
    bad = {word: -float(size) for size, words in NEGATIVE.items() for word in words.split()}
    return {**good, **bad}
