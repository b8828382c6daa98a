"""Decides whether an item contains what a sentence says, so that the sentence may cite it.

Rule 1: an item holds a sentence when it has every number of it, and at least three quarters of its
        words of four letters or more (all of them where these are few), anywhere in headline and
        text.
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
_STOPS = ".…。।۔"
_NUMBER = re.compile(r"\d+")
_UNSPACED_SCRIPT = re.compile(f"[{UNSPACED_CHARS}]")


@frozen
class TextWords:
    """The parts of a text that are compared: its words, its numbers, and all of it on one line."""

    words: frozenset[str] = field(repr=False)
    numbers: frozenset[str] = field(repr=False)
    line: str

    @classmethod
    def of(cls, text: str) -> "TextWords":
        """The words and numbers of a text. Linear in its length."""
        line = " ".join(text.casefold().split())
        words: set[str] = set()
        runs = set(_RUN.findall(line))
        for run in runs:
            if not run.isascii() and _UNSPACED_SCRIPT.search(run):
                words.update(_pairs(run))
            elif len(run) >= LETTERS_MIN:
                words.add(run)
        codes = frozenset(run for run in runs if not run.isalpha() and _has_digit(run))
        digits = frozenset(_NUMBER.findall(line))
        return cls(frozenset(words) - codes, codes | digits, line)

    def holds(self, sentence: "TextWords") -> bool:
        """Whether the text has all numbers of a sentence and enough of its words."""
        if not sentence.words:
            return sentence.line.rstrip(_STOPS) in self.line
        if not sentence.numbers <= self.numbers:
            return False
        share = SHARE_MIN if len(sentence.words) >= FEW_WORDS else 1
        return len(sentence.words & self.words) >= share * len(sentence.words)


def _has_digit(word: str) -> bool:
    return _NUMBER.search(word) is not None and not _UNSPACED_SCRIPT.search(word)


def _pairs(run: str) -> list[str]:
    """Each character of the run with the next one; digits and Latin letters among them, too."""
    return [run[start : start + 2] for start in range(max(len(run) - 1, 1))]
