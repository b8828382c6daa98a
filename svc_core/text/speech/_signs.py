"""Writes signs and pauses in words or marks, and drops characters that no voice reads."""

import re
import unicodedata
from functools import lru_cache

_PUNCTUATION = frozenset(".,;:!?'-。、，；：！？「」·؟،؛۔।॥¿¡…・")
_FOREIGN_SIGNS = frozenset("%€$£¥°")  # a voice of that language has words for them
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：！？"}
_EQUIVALENTS = _WIDE | str.maketrans(
    dict.fromkeys("’‘‛ʼ′＇", "'") | dict.fromkeys("‐‑⁃﹣－−", "-") | dict.fromkeys("‒–⸺", "–")
    | dict.fromkeys("—―⸻", "—") | {"℃": "°C", "℉": "°F", "№": "No. "}
)  # fmt: skip
_DIGIT_GAP = re.compile("(?<=[0-9])[\u00a0\u2009\u202f](?=[0-9]{3}(?![0-9]))")
_CACHE_SIZE = 8_192  # different characters in use at once; a page of Chinese has hundreds

_SIGN_WORDS = {"&": " and ", "=": " equals ", "+": " plus ", "%": " percent ", "→": " to ",
            "@": " at ", "°": " degrees "}  # fmt: skip
_SIGN = re.compile(f"[{re.escape(''.join(_SIGN_WORDS))}]")
_DOTS = re.compile(r"\.{2,}|…")
_TRAILING = re.compile(r"(?:(?<!\.)\.{2,}+|…)(?=[\s'\")\]]*(?:\Z|[A-Z]))")
_BRACKET = re.compile(r"\s?\(([^()]{1,400})\)(\s*[.,;:!?])?")
_DASH = re.compile(r"(?<!\s)\s+[–-]+\s+|\s?[–—]\s?|-{2,}")
_LINE_OF = re.compile(r"={2,}")  # drawn, not said
_INNER_DOT = re.compile(r"(?<=[a-z0-9])\.(?=[a-z])")
_MISSING_SPACE = re.compile(r"(?<=[a-z])([.!?])(?=[A-Z][a-z])")
_QUOTE_MARK = re.compile(r"(?<!\w)'|'(?!\w)")
_SPACE_BEFORE = re.compile(r"(?<!\s)\s+(?=[.,;:!?。、，；：！？])")
_MARK_RUN = re.compile(r"[.,;:!?](?:\s?[.,;:!?])+")
_SPACE = re.compile(r"\s+")
_LEADING = re.compile(r"\A[\s.,;:!?'-]+(?=\S)")
_TAIL = re.compile(r"(?<![\s,;:'-])[\s,;:'-]+\Z")
_IDEOGRAPH = re.compile("[\u3040-\u9fff]")
_ENDS = tuple(".!?…。！？।۔؟")


def normalise_characters(text: str) -> str:
    """The text with one character for each of the many that look and mean the same."""
    if not text.isascii():
        text = _DIGIT_GAP.sub(",", unicodedata.normalize("NFC", text)).translate(_EQUIVALENTS)
    return _SPACE.sub(" ", text)


def speakable_text(text: str, *, is_english: bool) -> str:
    """The text with every character that is not spoken replaced by a space."""
    return "".join(_speakable_character(character, is_english) for character in text)


@lru_cache(maxsize=_CACHE_SIZE)
def _speakable_character(character: str, is_english: bool) -> str:
    if character in _PUNCTUATION or (character in _FOREIGN_SIGNS and not is_english):
        return character
    category = unicodedata.category(character)
    if "\ufe00" <= character <= "\ufe0f" or category in ("Me", "Cf"):
        return character if character in "\u200c\u200d" else ""  # joiners shape Indic and Persian
    return character if category[0] in "LM" or category == "Nd" else " "


def say_pauses(text: str) -> str:
    """Brackets, dashes and trailing dots as pauses."""
    text = _DOTS.sub(", ", _TRAILING.sub(". ", text)) if ".." in text or "…" in text else text
    text = _BRACKET.sub(_aside, text) if "(" in text else text
    return _DASH.sub(", ", text)


def say_signs(text: str) -> str:
    """Signs between words, in English."""
    text = _MISSING_SPACE.sub(r"\1 ", text)
    text = _INNER_DOT.sub(" dot ", _LINE_OF.sub(" ", text))
    return _SIGN.sub(lambda match: _SIGN_WORDS[match[0]], text)


def _aside(match: re.Match[str]) -> str:
    """Text in brackets between pauses; a mark that follows the bracket is the second pause."""
    return f", {match[1]}{match[2].strip() if match[2] else ','} "


def tidy_paragraph(text: str) -> str:
    """One paragraph, single-spaced and ended by a mark; empty where no word is left."""
    text = _SPACE_BEFORE.sub("", _SPACE.sub(" ", _QUOTE_MARK.sub("", text)))
    text = _MARK_RUN.sub(lambda match: _strongest_mark(match[0]), text)
    text = _TAIL.sub("", _LEADING.sub("", _SPACE.sub(" ", text)))
    if not any(map(str.isalnum, text)):
        return ""
    if text.endswith(_ENDS):
        return text
    return f"{text}。" if _IDEOGRAPH.search(text) else f"{text}."


def _strongest_mark(marks: str) -> str:
    """The strongest of several marks in a row, which stands for all of them."""
    return next(mark for mark in "?!.;:," if mark in marks)
