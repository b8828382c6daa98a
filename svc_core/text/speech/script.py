"""Builds the script that a voice reads from a report: intro, the report's own words, outro."""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from attrs import field, frozen

from svc_core.text.speech._dates import spoken_day
from svc_core.text.speech._signs import tidy_paragraph
from svc_core.text.speech.normalisation import speech_text
from svc_core.text.wording import Wording, days, frame

WORDS_PER_MINUTE = 150  # news read aloud; two engines took 22 and 24 seconds for 60 words
CHARS_MAX = 100_000
"""Characters of the longest script: about two hours, longer than anybody listens."""

_RANGE = re.compile(r"(?<=[\w.º])\s?–\s?(?=[0-9])")
_TITLE_CHARS_MAX = 500  # a name of 120 characters and its days, however many of them are signs


@frozen
class NarrationScript:
    """A report to narrate: its period (`start` inclusive, `end` exclusive) and its paragraphs.

    `sources` is how many items are cited, `publishers` how many published them, None if unknown.

    The paragraphs between intro and outro are as they were written: HTML or Markdown is allowed.
    """

    title: str
    start: datetime
    end: datetime
    sources: int
    language: str = "en"
    paragraphs: tuple[str, ...] = field(default=(), repr=False)
    publishers: int | None = None


def narrate(script: NarrationScript) -> str:
    """The whole script, paragraphs parted by an empty line, ended by a line break.

    It has at most `CHARS_MAX` characters: a longer report is cut there, before the outro.
    """
    words = frame(script.language)
    heading = script.title[:_TITLE_CHARS_MAX]
    if words.language != "en":  # where the days of a title are not put into words
        heading = _RANGE.sub(f" {words['to']} ", heading)
    title = " ".join(speech_text(heading, script.language).split())
    facts = _period(script, words), _sources(script.sources, script.publishers, words)
    intro = " ".join(part for part in (title, *facts) if part)
    outro = tidy_paragraph(words.say("outro", title=title.rstrip(".")))
    texts = (speech_text(text, script.language) for text in script.paragraphs)
    paragraphs = (part for text in texts for part in text.split("\n\n"))
    chars_left = CHARS_MAX - len(intro) - len(outro) - len("\n\n\n")
    return "\n\n".join([intro, *_fitting(paragraphs, chars_left), outro]) + "\n"


def spoken_seconds(word_count: int) -> int:
    """How long a voice takes for so many words, in whole seconds, rounded up."""
    return -(-word_count * 60 // WORDS_PER_MINUTE)


def _period(script: NarrationScript, words: Wording) -> str:
    start, end = (_day(time, words) for time in days(script.start, script.end))
    if start == end:
        return words.say("covers_day", day=start)
    return words.say("covers", start=start, end=end)


def _day(time: datetime, words: Wording) -> str:
    """A day as it is said in English, else as it is written, which its voices read."""
    is_english = words.language == "en"
    return spoken_day(time.year, time.month, time.day) if is_english else words.day(time)


def _sources(sources: int, publishers: int | None, words: Wording) -> str:
    """How many items are cited, and of how many publishers."""
    if sources == 0:
        return words["no_source"]
    if sources == 1:
        return words["one_source"]
    name = "one_publisher" if publishers == 1 else "sources_of"
    if publishers is None:
        name = "many_sources"
    return words.say(name, sources=sources, publishers=publishers)


def _fitting(paragraphs: Iterable[str], chars_left: int) -> Iterator[str]:
    """The paragraphs that fit into `chars_left` characters, each of them whole."""
    for paragraph in paragraphs:
        chars_left -= len(paragraph) + len("\n\n")
        if chars_left < 0:
            return
        if paragraph:
            yield paragraph
