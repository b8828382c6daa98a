"""Guesses the language of a short text, by its script or by its commonest words."""

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from svc_core.text.frequencies import STEPS, shares
from svc_core.text.words import split_words, term_of

CHARS_READ = 500  # a headline and the beginning of its text tell the language
_RAREST = 6 * STEPS  # no term of the table is rarer than a millionth of a language's words
_WEIGHT_MIN, _MARGIN_MIN = 10, 3  # steps; .98 of 1,615 headlines right, .02 unknown (ADR 24)
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_LETTERS_MIN = 6  # of a script


def primary(tag: str) -> str:
    """The primary subtag of a BCP 47 tag, in lower case."""
    return tag.replace("_", "-").split("-")[0].casefold()


def guess(text: str, tag: str | None = None) -> str | None:
    """The primary language subtag: of `tag` (BCP 47), else of the guessed language, else None."""
    if tag:
        return primary(tag) or None
    text = text[:CHARS_READ]
    scripts = (name for name, letters in _SCRIPTS if len(letters.findall(text)) >= _LETTERS_MIN)
    return next(scripts, None) or _by_words(text)


def _by_words(text: str) -> str | None:
    """The language whose common words weigh most in the text; commoner words weigh more."""
    languages = _common_terms()
    weights: dict[str, int] = defaultdict(int)
    for word in split_words(text):
        for language, weight in languages.get(term_of(word), ()):
            weights[language] += weight
    ranking = sorted(((weight, language) for language, weight in weights.items()), reverse=True)
    (first, language), (second, _) = [*ranking, (0, ""), (0, "")][:2]
    return language if first >= _WEIGHT_MIN and first - second >= _MARGIN_MIN else None


def is_common(term: str, language: str) -> bool:
    """Whether a term is among the common ones of a language."""
    return any(language == tag for tag, _ in _common_terms().get(term, ()))


@cache
def _common_terms() -> Mapping[str, tuple[tuple[str, int], ...]]:
    """The languages in which a term is common, with its weight for each."""
    weights: dict[str, tuple[tuple[str, int], ...]] = {}
    for language, step, terms in shares():
        pairs = ((language, _RAREST + 1 - step),)
        for term in terms:
            weights[term] = weights.get(term, ()) + pairs
    return weights
