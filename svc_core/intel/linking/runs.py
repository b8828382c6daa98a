"""Finds runs of capitalised words in text, which may be names.

Rule: a capital is evidence only where lower case was possible: not at the beginning of a sentence,
nor in a line in title case (Mikheev 2002, "Periods, Capitalized Words, etc.").
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import chain, dropwhile
from typing import NamedTuple

from svc_core import data
from svc_core.text.words import fold_case, stop_words

_UPPER = "".join(letter for letter in map(chr, range(0x530)) if letter.isupper())
_REST = r"(?:(?!['’]s\b)[\w&’'.-])*(?<=\w)"
_WORD = re.compile(rf"\w{_REST}")
_CAPITAL = rf"(?<![\w-])(?:[{_UPPER}]|\d+[^\W\d_]|[a-z]+[A-Z]){_REST}"
_LINKS = frozenset(["of", "de", "du", "del", "della", "der", "&"])
_FORM = r"(?:, (?=(?:Inc|Corp|Ltd|LLC|LP|PLC|plc|S\.A|N\.V)\b)| )"
_RUN = re.compile(rf"{_CAPITAL}(?:{_FORM}(?:(?:{'|'.join(sorted(_LINKS))}) )?{_CAPITAL})*")
_END = re.compile(r"(?<=[.!?…:])\s+|\n")
_QUOTES = " \"'“”‘’«»([-–—"
_LETTERS = 4  # of a word that title case gives a capital
_TITLE_CASE_SHARE = 0.75  # of the longer words of a line; above, it is in title case
_SUBJECT_MAX = 3  # words of the name that a headline in title case begins with


class CapitalRun(NamedTuple):
    """Adjacent capitalised words; `is_telling` where the writer could have used lower case."""

    words: list[str]
    is_telling: bool
    is_title: bool

    def part(self, start: int, end: int) -> str:
        """The words from `start` up to `end`, joined by spaces."""
        return " ".join(self.words[start:end])

    def readings(self) -> Iterator[str]:
        """The names that it may be: all words, all but a sentence's first, a title's first few."""
        size = len(self.words)
        if self.is_title:
            ends = range(min(size, _SUBJECT_MAX), 0, -1)
            yield from (self.part(0, end) for end in ends if self.words[end - 1] not in _LINKS)
            return
        yield self.part(0, size)
        if not self.is_telling and size > 2:
            yield self.part(1, size)


def capital_runs(text: str) -> Iterator[CapitalRun]:
    """The runs of capitalised words of a text, in order."""
    for line in _END.split(text):
        yield from _of_line(line)


def lower_words(text: str) -> frozenset[str]:
    """The words of a text that are written in lower case."""
    return frozenset(word for word in _WORD.findall(text) if word[0].islower())


def _of_line(line: str) -> Iterator[CapitalRun]:
    """The runs of one sentence, without stop words at their beginning."""
    capitals = [word[0].isupper() for word in _WORD.findall(line) if len(word) >= _LETTERS]
    is_title = len(capitals) > 2 and sum(capitals) >= _TITLE_CASE_SHARE * len(capitals)
    for match in _RUN.finditer(line):
        is_start = not line[: match.start()].strip(_QUOTES)
        whole = match[0].replace(",", "").split(" ")
        for part in _parts(whole) if is_title or is_start else [whole]:
            words = list(dropwhile(_is_filler, part))
            if words:
                yield CapitalRun(words, not is_title and (not is_start or words != part), is_title)
            is_start = False


def _is_filler(word: str) -> bool:
    return fold_case(word) in _fillers() and not word.isupper()


def _parts(words: list[str]) -> Iterator[list[str]]:
    """Splits words at each "of", except where it belongs to a name as in "Bank of"."""
    begin = 0
    for i, word in enumerate(words):
        if word == "of" and fold_case(words[i - 1]) not in _words("of"):
            yield words[begin:i]
            begin = i + 1
    yield words[begin:]


@cache
def _words(role: str) -> frozenset[str]:
    lists = (words.split() for kind, words in data.table_rows("name_words.tsv") if kind == role)
    return frozenset(chain.from_iterable(lists))


@cache
def _fillers() -> frozenset[str]:
    """Words that never begin a name: stop words, page labels, months and week days."""
    days = (row[2].split("|") for row in data.table_rows("calendar.tsv") if row[0] != "language")
    return stop_words("en") | _words("label") | frozenset(map(fold_case, chain.from_iterable(days)))
