"""Measures the tone of an English text; a text in another language has no value, not zero.

Rule 1: a word of the lexicon counts with its valence, more after "very", less after "slightly",
        and reversed and weakened after a negation up to three words before it.
Rule 2: news of trade is good or bad by what moves which way: sales that rise, losses that widen, a
        figure against the one before. A linear model weighs these cues and the words.
Rule 3: other news is the mean of the lexicon and of a linear model that learnt from such news.
Rule 4: the headline weighs double.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

from attrs import frozen

from svc_core import data
from svc_core.text import linear_models as linear
from svc_core.text.language import primary

NEUTRAL_BELOW = 0.35  # chosen on the development halves, see ADR 27
_LEAD = 1_000  # characters
_REACH = 3  # words from a negation to the word that it reverses
_NEGATION_FACTOR = 0.74  # of VADER: what is left of a word that a negation reverses
_STEP = 0.293  # of VADER: a strengthening or weakening word
_SQUEEZE = 15.0  # of VADER: x / sqrt(x² + 15)
_NEAR = 8  # words from a move to what moves
_SCORE_MAX = 50.0  # beyond it nothing changes
_STEM = 6

_WORD = re.compile(r"[a-z]+(?:[-'][a-z]+)*|\d+(?:[.,]\d+)*")
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_MONEY = re.compile(r"[%$€£]|\b(?:EUR|USD|GBP|Rs|mln|mn|bn)\b")
_COMPARISON = re.compile(
    r"\b(?:from|compared (?:to|with)|versus|vs|against)\b[^.;]{0,60}?(\d+(?:,\d{3})*(?:\.\d+)?)"
)


@frozen
class Tone:
    """The tone of a text: `label` is positive, neutral or negative; `value` is -1 to 1."""

    label: str
    value: float


def sentiment_of(title: str, text: str = "", language: str | None = "en") -> Tone | None:
    """The tone of an item, or `None` where `language` (BCP 47) is unknown or not English."""
    if language is None or primary(language) != "en":
        return None
    parts = [(weight, part) for weight, part in ((2, title), (1, text[:_LEAD])) if part.strip()]
    total = sum(weight * _value(part) for weight, part in parts)
    value = round(total / max(1, sum(weight for weight, _ in parts)), 3) + 0.0
    if abs(value) < NEUTRAL_BELOW:
        return Tone("neutral", value)
    return Tone("positive" if value > 0 else "negative", value)


def _value(text: str) -> float:
    reading = tone_text(text)
    scores = linear.load_model("sentiment.en.z").scores(tone_terms(reading), cues(reading))
    pair = scores[:2] if reading.is_trade else scores[2:]
    up, down = (math.exp(min(_SCORE_MAX, score)) for score in pair)
    model_score = (up - down) / (1.0 + up + down)
    if reading.is_trade:
        return model_score
    total = reading.good - reading.bad
    return (model_score + total / math.sqrt(total * total + _SQUEEZE)) / 2


@frozen
class ToneText:
    """A prepared text: its words in order (a figure is `0`), its summed good and bad valences."""

    text: str
    words: tuple[str, ...]
    is_trade: bool
    good: float
    bad: float


def tone_text(text: str) -> ToneText:
    """The text as the tone models need it."""
    tokens = _WORD.findall(text.casefold().replace("’", "'"))
    words = tuple(
        "0" if word[0].isdigit() else word.removesuffix("'s").replace("'", "") for word in tokens
    )
    return ToneText(text, words, _is_trade(text, words), *_sums(words))


def tone_terms(reading: ToneText) -> set[str]:
    """The terms that the model weighs: the beginnings of words, and pairs of neighbours."""
    stems = [word[:_STEM] for word in reading.words]
    return {*stems, *(f"{left} {right}" for left, right in pairwise(stems))}


def cues(reading: ToneText) -> dict[str, float]:
    """The features of the tone besides the words themselves, by name."""
    place = "trade" if reading.is_trade else "other"
    sums = {f"#good {place}": math.sqrt(reading.good), f"#bad {place}": math.sqrt(reading.bad)}
    return {**sums, **_movement_cues(reading.words), **_comparison_cues(reading)}


def _is_trade(text: str, words: Sequence[str]) -> bool:
    """Whether a text speaks of money, or of something that rises or falls."""
    if _MONEY.search(text):
        return True
    kinds = {kind for kind, members in _kinds().items() if not members.isdisjoint(words)}
    return bool(kinds & {"gain", "burden"} and kinds & {"up", "down"})


def _sums(words: Sequence[str]) -> tuple[float, float]:
    """The valences of good and of bad words."""
    kinds, valences = _kinds(), _valences()
    good = bad = 0.0
    for index, word in enumerate(words):
        if word not in valences:
            continue
        before = words[max(0, index - _REACH) : index]
        size = abs(valences[word])
        if before:
            step = (before[-1] in kinds["stronger"]) - (before[-1] in kinds["weaker"])
            size = max(0.0, size + _STEP * step)
        is_plain = kinds["not"].isdisjoint(before)
        if (valences[word] > 0) is is_plain:
            good += size if is_plain else _NEGATION_FACTOR * size
        else:
            bad += size if is_plain else _NEGATION_FACTOR * size
    return good, bad


def _movement_cues(words: Sequence[str]) -> dict[str, float]:
    """Which way something moves, and whether that is good: sales rise, costs fall."""
    kinds = _kinds()
    features: dict[str, float] = {}
    burdens = [index for index, word in enumerate(words) if word in kinds["burden"]]
    gains = [index for index, word in enumerate(words) if word in kinds["gain"]]
    for index, word in enumerate(words):
        direction = (word in kinds["up"]) - (word in kinds["down"])
        if not direction:
            continue
        burden = sum(abs(index - position) <= _NEAR for position in burdens)
        gain = sum(abs(index - position) <= _NEAR for position in gains)
        sign = 0 if not burden + gain else -1 if burden >= max(1, gain) else 1
        features[f"#moves {direction} {sign}"] = 1.0
        if sign:
            features[f"#turns {direction * sign}"] = 1.0
    return features


def _comparison_cues(reading: ToneText) -> dict[str, float]:
    """Whether a figure is higher than the one that it is compared with."""
    text = reading.text.casefold()
    match = _COMPARISON.search(text)
    before = [_figure(digits) for digits in _NUMBER.findall(text[: match.start()])] if match else []
    figures = [figure for figure in before if not 1990 <= figure <= 2050]  # years
    if not match or not figures or 1990 <= (base := _figure(match[1])) <= 2050:
        return {}
    is_burden = not _kinds()["burden"].isdisjoint(reading.words)
    return {f"#against {(figures[-1] > base) - (figures[-1] < base)} {is_burden}": 1.0}


def _figure(digits: str) -> float:
    return float(digits.replace(",", ""))


@cache
def _valences() -> Mapping[str, float]:
    rows = data.table_rows("sentiment_words.tsv")
    return {word: float(valence) for valence, words in rows for word in words.split()}


@cache
def _kinds() -> Mapping[str, frozenset[str]]:
    rows = data.table_rows("sentiment_cues.tsv")
    return {kind: frozenset(words.split()) for kind, words in rows}
