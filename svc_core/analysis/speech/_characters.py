"""Which characters are spoken: letters, digits and the marks that a voice breathes at."""

import re
import unicodedata
from functools import lru_cache

_KEPT = frozenset(".,;:!?'-。、，；：！？「」·؟،؛۔।॥¿¡…・")
_KEPT_ELSEWHERE = _KEPT | frozenset("%€$£¥°")  # a voice of that language has words for them
_APOSTROPHES = dict.fromkeys(map(ord, "’‘‛ʼ′＇"), "'")
_DASHES = dict.fromkeys(map(ord, "‐‑⁃﹣－"), "-") | dict.fromkeys(map(ord, "‒–⸺"), "–")
_DASHES |= dict.fromkeys(map(ord, "—―⸻"), "—") | {ord("−"): "-"}
_WIDE = {
    wide: chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F) if chr(wide) not in "，；：！？"
}
_SAME = _WIDE | _APOSTROPHES | _DASHES | {ord("℃"): "°C", ord("℉"): "°F", ord("№"): "No. "}
_GROUPED = re.compile("(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_SPACE = re.compile(r"\s+")

_DIGIT = frozenset("0123456789")
_REMEMBERED = 8_192  # different characters in use at once; a page of Chinese has hundreds


def alike(text: str) -> str:
    """The text with one character for each of the many that look and mean the same."""
    if text.isascii():
        return _SPACE.sub(" ", text)
    grouped = _GROUPED.sub(",", unicodedata.normalize("NFC", text))
    return _SPACE.sub(" ", grouped.translate(_SAME))


def speakable(text: str, *, is_english: bool) -> str:
    """The text with everything that nobody says turned into space."""
    keep = _english if is_english else _elsewhere
    return "".join(map(keep, text))


@lru_cache(maxsize=_REMEMBERED)
def _english(character: str) -> str:
    return _judged(character, _KEPT)


@lru_cache(maxsize=_REMEMBERED)
def _elsewhere(character: str) -> str:
    return _judged(character, _KEPT_ELSEWHERE)


def _judged(character: str, kept: frozenset[str]) -> str:
    if character in kept or character in _DIGIT:
        return character
    category = unicodedata.category(character)
    if "\ufe00" <= character <= "\ufe0f" or category in ("Me", "Cf"):
        return character if character in "\u200c\u200d" else ""  # joiners shape Indic and Persian
    return character if category[0] in "LM" or category == "Nd" else " "
