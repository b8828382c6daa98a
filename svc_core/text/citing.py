"""Which sentences of somebody else's text may be said: those that stand in what they cite.

Rule 1: a sentence is kept when all that it cites (`[n]`) exists and together says it (`facts`). A
        mark goes whose item alone does not say it, where another one does.
Rule 2: nothing is added. Addresses, pictures and markup go, links leave their words.
Rule 3: a sentence is judged as soon as it is whole, however its letters come.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from attrs import frozen

from svc_core.text.facts import SPACES, Facts, runs
from svc_core.text.sentences import breaks

SENTENCE_CHARS_MAX: Final = 600
"""Longer runs are no sentence that anybody can check."""
_MARK: Final = re.compile(r"\s*[\[【]\^?(\d{1,3}(?:\s*,\s*\d{1,3})*)(?:†[^\]】]*)?[\]】]")
_LATE: Final = re.compile(rf"([.!?…。！？।۔]{{1,3}})((?:{_MARK.pattern})+)")
_PICTURE: Final = re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|(?=[^(]))|<[^<>]*>")
_OPEN: Final = re.compile(r"!(?:\[[^\[\]]*(?:\](?:\([^()]*)?)?)?$|<[^<>]*$")
_LINKED: Final = re.compile(r"\[\[?([^\[\]]*)\]?\]\([^()\s]*(?:\s[^()]*)?\)")
_MARKUP: Final = re.compile(r"\((?:https?://|www\.)[^\s)]+\)|_{2,}|[*`#|]+")
_LEFT: Final = re.compile(r"[\[\]【】<>]|://|www\.|mailto:", re.IGNORECASE)
_ITEM: Final = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_STOP: Final = re.compile(r"[.!?…。！？।۔]*$")


@frozen
class Kept:
    """A sentence that may be said: its words, whom it cites, and where it stands.

    `line` counts the lines of the text; `item` is what opens a line of a list.
    """

    text: str
    citations: tuple[int, ...]
    line: int
    item: str = ""

    @property
    def marked(self) -> str:
        """The sentence with its marks before its full stop."""
        stop = _STOP.search(self.text)
        at = stop.start() if stop else len(self.text)
        marks = "".join(f"[{number}]" for number in self.citations)
        return f"{self.text[:at]} {marks}{self.text[at:]}"


class Sieve:
    """Takes a text as it comes, and gives its sentences that stand in what they cite.

    `evidence` has the facts of each number; there may be more of them as the text goes on.
    """

    def __init__(self, evidence: Mapping[int, Facts]) -> None:
        self._evidence = evidence
        self._held = ""
        self._line = 0
        self._item = ""

    def feed(self, text: str) -> list[Kept]:
        """The sentences that are whole with these letters."""
        *lines, self._held = SPACES.sub(" ", self._held + text).split("\n")
        kept = [one for line in lines for one in self._through(line)]
        return kept + self._begun()

    def end(self) -> list[Kept]:
        """The sentences of what is left."""
        left, self._held = self._held, ""
        return self._through(left)

    def _through(self, line: str) -> list[Kept]:
        line = _ordered(self._opened(line))
        kept = [one for run in runs(line) if (one := self._judged(run))]
        self._line += 1
        self._item = ""
        return kept

    def _begun(self) -> list[Kept]:
        """The sentences of a line that goes on, of which the last may yet get a mark."""
        if len(self._held) > 2 * SENTENCE_CHARS_MAX:
            self._held = ""
        line, start, kept = _ordered(self._opened(self._held)), 0, []
        opened = _OPEN.search(line)
        for end, after in breaks(line):
            begins = line[after:].strip()[:1]
            if begins in ("", "[", "【") or (opened and opened.start() < after):
                break
            if (one := self._judged(line[start:end])) is not None:
                kept.append(one)
            start = after
        self._held = line[start:]
        return kept

    def _opened(self, line: str) -> str:
        """A line without what opens it as one of a list."""
        found = _ITEM.match(line)
        if found is None or self._item:
            return line
        self._item = f"{found[0].strip()} "
        return line[found.end() :]

    def _judged(self, run: str) -> Kept | None:
        run = _LINKED.sub(lambda link: _words_of(link[1]), run)
        cited = tuple(dict.fromkeys(_cited(run)))
        text = " ".join(_MARKUP.sub("", _MARK.sub("", run)).split())
        known = all(number in self._evidence for number in cited)
        if not cited or not known or len(text) > SENTENCE_CHARS_MAX or _LEFT.search(text):
            return None
        alone = tuple(number for number in cited if self._evidence[number].say(text))
        if not alone and not Facts.all(self._evidence[number] for number in cited).say(text):
            return None
        return Kept(text, alone or cited, self._line, self._item)


def _ordered(line: str) -> str:
    """A line without pictures and tags, its marks before the full stops."""
    return _LATE.sub(r"\2\1", _PICTURE.sub("", line))


def _words_of(link: str) -> str:
    """What a link leaves: its words; of a number, the mark that it is."""
    return f"[{link}]" if link.strip("^ ").isdigit() else link


def _cited(run: str) -> Iterator[int]:
    for found in _MARK.findall(run):
        yield from map(int, found.split(","))
