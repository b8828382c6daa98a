"""The tone of an English item. Other languages have no value, not zero.

Rule 1: a word of the lexicon counts with its valence, more after "very", less after "slightly",
        and turned round and weakened after a negation up to three words before it.
Rule 2: news of trade is good or bad by what moves which way: sales that rise, losses that widen, a
        figure against the one before. A linear model weighs these cues and the words.
Rule 3: other news is the mean of the lexicon and of a linear model that learnt from such news.
Rule 4: the headline weighs double.
"""

import math
import re
from collections.abc import Mapping
from functools import cache
from itertools import pairwise

from attrs import frozen

from svc_core import data
from svc_core.analysis import linear
from svc_core.text.language import primary

NEUTRAL_BELOW = 0.35  # chosen on the development halves, see ADR 27
_LEAD = 1_000  # characters
_REACH = 3  # words from a negation to what it turns round
_TURNED = -0.74  # of VADER
_STEP = 0.293  # of VADER: a strengthening or weakening word
_SQUEEZE = 15.0  # of VADER: x / sqrt(x² + 15)
_NEAR = 8  # words from a move to what moves
_STEM = 6

_WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*|\d+(?:[.,]\d+)*")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_MONEY = re.compile(r"[%$€£]|\b(?:EUR|USD|GBP|Rs|mln|mn|bn)\b")
_AGAINST = re.compile(
    r"\b(?:from|compared (?:to|with)|versus|vs|against)\b[^.;]{0,60}?(\d+(?:,\d{3})*(?:\.\d+)?)"
)


@frozen
class Sentiment:
    """`label` is positive, neutral or negative; `value` is -1..1, to three places."""

    label: str
    value: float


def sentiment(title: str, text: str = "", language: str | None = "en") -> Sentiment | None:
    """The tone of an item, or `None` where `language` (BCP 47) is unknown or not English."""
    if language is None or primary(language) != "en":
        return None
    parts = [(weight, part) for weight, part in ((2, title), (1, text[:_LEAD])) if part.strip()]
    total = sum(weight * _value(part) for weight, part in parts)
    value = round(total / max(1, sum(weight for weight, _ in parts)), 3) + 0.0
    if abs(value) < NEUTRAL_BELOW:
        return Sentiment("neutral", value)
    return Sentiment("positive" if value > 0 else "negative", value)


def _value(text: str) -> float:
    words = read_words(text)
    is_trade = of_trade(text, words)
    good, bad = lexicon_sums(words)
    scores = _model().scores(terms(words), cues(text, words))
    up, down = (math.exp(score) for score in (scores[:2] if is_trade else scores[2:]))
    told = (up - down) / (1.0 + up + down)
    if is_trade:
        return told
    sum_ = good - bad
    return (told + sum_ / math.sqrt(sum_ * sum_ + _SQUEEZE)) / 2


def read_words(text: str) -> list[str]:
    """The words of a text in order; a figure is `0`."""
    found = _WORD.findall(text.casefold().replace("’", "'"))
    return ["0" if w[0].isdigit() else w.removesuffix("'s").replace("'", "") for w in found]


def terms(words: list[str]) -> set[str]:
    """What the model weighs: the beginnings of words, and pairs of neighbours."""
    cut = [word[:_STEM] for word in words]
    return {*cut, *(f"{left} {right}" for left, right in pairwise(cut))}


def of_trade(text: str, words: list[str]) -> bool:
    """Whether a text speaks of money, or of something that rises or falls."""
    if _MONEY.search(text):
        return True
    held = {kind for kind, known in _kinds().items() if not known.isdisjoint(words)}
    return bool(held & {"gain", "burden"} and held & {"up", "down"})


def lexicon_sums(words: list[str]) -> tuple[float, float]:
    """The valences of good and of bad words."""
    kinds, valences = _kinds(), _valences()
    good = bad = 0.0
    for at, word in enumerate(words):
        if word not in valences:
            continue
        before = words[max(0, at - _REACH) : at]
        size = abs(valences[word])
        if before:
            step = (before[-1] in kinds["stronger"]) - (before[-1] in kinds["weaker"])
            size = max(0.0, size + _STEP * step)
        if (valences[word] > 0) is kinds["not"].isdisjoint(before):
            good += size if valences[word] > 0 else -_TURNED * size
        else:
            bad += size if valences[word] < 0 else -_TURNED * size
    return good, bad


def cues(text: str, words: list[str]) -> dict[str, float]:
    """What tells the tone beside the words themselves, by name."""
    place = "trade" if of_trade(text, words) else "other"
    good, bad = lexicon_sums(words)
    found = {f"#good {place}": math.sqrt(good), f"#bad {place}": math.sqrt(bad)}
    return {**found, **_moves(words), **_against(text.casefold(), words)}


def _moves(words: list[str]) -> dict[str, float]:
    """Which way something moves, and whether that is good: sales rise, costs fall."""
    kinds = _kinds()
    found: dict[str, float] = {}
    burdens = [at for at, word in enumerate(words) if word in kinds["burden"]]
    gains = [at for at, word in enumerate(words) if word in kinds["gain"]]
    for at, word in enumerate(words):
        way = (word in kinds["up"]) - (word in kinds["down"])
        if not way:
            continue
        burden = sum(abs(at - other) <= _NEAR for other in burdens)
        gain = sum(abs(at - other) <= _NEAR for other in gains)
        sign = 0 if not burden + gain else -1 if burden >= max(1, gain) else 1
        found[f"#moves {way} {sign}"] = 1.0
        if sign:
            found[f"#turns {way * sign}"] = 1.0
    return found


def _against(text: str, words: list[str]) -> dict[str, float]:
    """Whether a figure is more than the one it is set against."""
    match = _AGAINST.search(text)
    before = [_figure(told) for told in _NUMBER.findall(text[: match.start()])] if match else []
    figures = [figure for figure in before if not 1990 <= figure <= 2050]  # years
    if not match or not figures or 1990 <= (then := _figure(match[1])) <= 2050:
        return {}
    is_burden = not _kinds()["burden"].isdisjoint(words)
    return {f"#against {(figures[-1] > then) - (figures[-1] < then)} {is_burden}": 1.0}


def _figure(told: str) -> float:
    return float(told.replace(",", ""))


@cache
def _model() -> linear.Linear:
    return linear.read("sentiment.en.z")


@cache
def _valences() -> Mapping[str, float]:
    pairs = (line.split("\t") for line in data.lines("sentiment_words.tsv"))
    return {word: float(valence) for valence, words in pairs for word in words.split()}


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    pairs = (line.split("\t") for line in data.lines("sentiment_cues.tsv"))
    return {kind: frozenset(words.split()) for kind, words in pairs}
