"""Decides whether an item contains what a sentence says, so that the sentence may cite it.

Rule 1: a text holds a sentence when it has every number of it, every name (a word with a capital,
        but the first), and at least three quarters of its words of four letters or more (all of
        them where these are few).
Rule 2: where a script has no spaces, pairs of characters stand for words.
Rule 3: where a sentence has nothing to compare, only an item that says it verbatim holds it.
"""

import re

from attrs import field, frozen

from svc_core.text.words import UNSPACED_CHARS

SHARE_MIN = 0.75
"""Share of the words. Of two reports of one event (ECB+), 57-67 % of the headlines are held by
a second item at 0.75, 74-86 % at 0.60: lower cuts mark items that say something else."""
FEW_WORDS = 8
"""Of fewer words none may be missing: "The alert is Orange" is not "The alert is Green"."""
LETTERS_MIN = 4

_RUN = re.compile(r"\w+")
_DOTS = re.compile(r"(?<=\b[A-Z])\.(?=[A-Z]\b)")  # "U.S." is "US"
_STOPS = ".…。।۔"
_NUMBER = re.compile(r"\d+")
_UNSPACED_SCRIPT = re.compile(f"[{UNSPACED_CHARS}]")


@frozen
class TextWords:
    """The parts of a text that are compared: its words, numbers and names; all of its words, the
    short ones, too; and all of it on one line.
    """

    words: frozenset[str] = field(repr=False)
    numbers: frozenset[str] = field(repr=False)
    names: frozenset[str] = field(repr=False)
    runs: frozenset[str] = field(repr=False)
    line: str

    @classmethod
    def of(cls, text: str) -> "TextWords":
        """The words and numbers of a text. Linear in its length."""
        own = " ".join(_DOTS.sub("", text).split())
        line = own.casefold().rstrip(_STOPS)
        words: set[str] = set()
        runs = frozenset(_RUN.findall(line))
        names = runs.intersection(run.casefold() for run in _RUN.findall(own)[1:] if _is_name(run))
        for run in runs:
            if not run.isascii() and _UNSPACED_SCRIPT.search(run):
                words.update(_pairs(run))
            elif len(run) >= LETTERS_MIN:
                words.add(run)
        codes = frozenset(run for run in runs if not run.isalpha() and _has_digit(run))
        numbers = codes.union(_NUMBER.findall(line))
        return cls(frozenset(words) - codes, numbers, names, runs, line)

    def holds(self, sentence: "TextWords") -> bool:
        """Whether the text has all numbers and names of a sentence and enough of its words."""
        if not sentence.words:
            return sentence.line in self.line
        if not (sentence.numbers <= self.numbers and sentence.names <= self.runs):
            return False
        share = SHARE_MIN if len(sentence.words) >= FEW_WORDS else 1
        return len(sentence.words & self.words) >= share * len(sentence.words)


def _is_name(run: str) -> bool:
    """Whether a run has a capital; of short ones ("The", "UN") all are capitals."""
    return run != run.lower() and (len(run) >= LETTERS_MIN or (len(run) > 1 and run.isupper()))


def _has_digit(word: str) -> bool:
    return _NUMBER.search(word) is not None and not _UNSPACED_SCRIPT.search(word)


def _pairs(run: str) -> list[str]:
    """Each character of the run with the next one; digits and Latin letters among them, too."""
    return [run[start : start + 2] for start in range(max(len(run) - 1, 1))]
