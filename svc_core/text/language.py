"""A guess at the language of a short text, by its script or its stop words."""

import re

from svc_core.text.words import fold, stop_words_by_language

_WORDS_MIN = 2  # fewer stop words than this prove nothing
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_SCRIPT_LETTERS_MIN = 6


def primary(tag: str) -> str:
    """The primary subtag of a BCP 47 tag, in lower case."""
    return tag.replace("_", "-").split("-")[0].casefold()


def guess(text: str, stated: str | None = None) -> str | None:
    """The primary language subtag: of `stated` (BCP 47), else a guess, else `None`."""
    if stated:
        return primary(stated) or None
    for language, letters in _SCRIPTS:
        if len(letters.findall(text)) >= _SCRIPT_LETTERS_MIN:
            return language
    return _by_stop_words(text)


def _by_stop_words(text: str) -> str | None:
    words = [fold(word) for word in _WORD.findall(text)]
    known = stop_words_by_language()
    counts = sorted(((sum(w in held for w in words), lang) for lang, held in known.items()))
    (second, _), (most, language) = counts[-2], counts[-1]
    return language if most >= _WORDS_MIN and most > second else None
