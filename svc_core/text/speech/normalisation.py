"""Writes any text as a voice reads it; the order in which its parts are put into words matters.

Markup goes first, so that no mark is taken for a word. What holds points, slashes and hyphens of
its own (addresses, codes, abbreviations, days, sums, measures) is put into words before what the
same signs mean between words.
"""

import re

from svc_core.text.language import primary
from svc_core.text.speech import _markup
from svc_core.text.speech._abbreviations import expand_abbreviations
from svc_core.text.speech._acronyms import say_capitals
from svc_core.text.speech._addresses import say_addresses
from svc_core.text.speech._dates import say_dates
from svc_core.text.speech._money import say_currencies, say_money
from svc_core.text.speech._numbers import say_comparisons, say_counts, say_fractions
from svc_core.text.speech._romans import say_romans
from svc_core.text.speech._signs import (
    normalise_characters,
    say_pauses,
    say_signs,
    speakable_text,
    tidy_paragraph,
)
from svc_core.text.speech._units import say_rates, say_units
from svc_core.text.wording import wording_of

_NUMERIC = re.compile("[0-9¼-¾⅐-⅞]")  # most sentences hold none
_PERCENT = re.compile(r"(?<=[0-9])\s?%")
READ_MAX = 200_000
"""Characters of one text that are read: twice a whole script, as markup takes its part."""


def speech_text(text: str, language: str = "en") -> str:
    """The text as paragraphs of speech, parted by an empty line; of too long a text the beginning.

    Applied to its own result it changes nothing. An empty text gives an empty one.
    """
    say = _say_english if primary(language) == "en" else _say_foreign
    paragraphs = _markup.paragraphs(text[:READ_MAX])
    lines = [say(normalise_characters(paragraph), language) for paragraph in paragraphs]
    return "\n\n".join(paragraph for paragraph in lines if paragraph)


def _say_english(text: str, _language: str) -> str:
    text = expand_abbreviations(say_addresses(text).replace("_", " "))
    if _NUMERIC.search(text):
        text = say_money(say_dates(say_comparisons(text)))
        text = say_counts(say_rates(say_units(say_fractions(text))))
    text = say_capitals(say_romans(say_currencies(text)))
    return tidy_paragraph(speakable_text(say_signs(say_pauses(text)), is_english=True))


def _say_foreign(text: str, language: str) -> str:
    """Foreign text: links by their host, percentages and `&` in its own words if known."""
    words = wording_of(language)
    if words is None:
        text = say_addresses(text, dot=".")
    else:
        text = say_addresses(text, f" {words['dot']} ", f" {words['at']} ")
        text = _PERCENT.sub(f" {words['percent']}", text).replace("&", f" {words['and']} ")
    return tidy_paragraph(speakable_text(say_pauses(text), is_english=False))
