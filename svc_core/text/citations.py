"""Holds generated text against its sources, sentence by sentence.

Rule 1: a sentence is kept when every source that it cites (`[n]`) exists and these together state
        what it says (`facts`). Where some of them state it alone, only their marks stay.
Rule 2: in place of another sentence that cites sources stands what comes nearest to it in one of
        them, verbatim and once; nothing where they do not speak of it.
Rule 3: nothing else is added. Addresses, pictures and markup are removed; links keep their text.
Rule 4: a sentence is judged as soon as it is complete, in whatever pieces the text arrives.
"""

import re
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Final

from attrs import frozen

from svc_core.text.facts import TextFacts
from svc_core.text.row_passages import SPACES, token_runs
from svc_core.text.sentences import breaks

SENTENCE_CHARS_MAX: Final = 600
"""Longer runs cannot be checked as one sentence, so they are dropped."""
_MARK: Final = re.compile(
    r"(?<!\s)\s*[\[【]\^?(\d{1,3}(?:\s*,\s*\d{1,3})*)(?:†[^\[\]【】]*)?[\]】]"
)
_LATE_MARK: Final = re.compile(rf"([.!?…。！？।۔]{{1,3}})((?:{_MARK.pattern})+)")
_PICTURE: Final = re.compile(r"!\[[^\[\]]*\](?:\([^()]*\)|(?=[^(]))|<[^<>]*>")
_OPEN_PICTURE: Final = re.compile(r"!(?:\[[^\[\]]*(?:\](?:\([^()]*)?)?)?$|<[^<>]*$")
_LINK: Final = re.compile(r"\[\[?([^\[\]]*)\]?\]\([^()\s]*(?:\s[^()]*)?\)")
_MARKUP: Final = re.compile(r"\((?:https?://|www\.)[^\s)]{1,500}\)|_{2,}|[*`#|]+")
_RESIDUE: Final = re.compile(r"[\[\]【】<>]|://|www\.|mailto:", re.IGNORECASE)
_ITEM: Final = re.compile(r"\s*(?:[-*•+]|\d{1,2}[.)])\s+")
_STOP: Final = re.compile(r"(?<![.!?…。！？।۔])[.!?…。！？।۔]*$")


@frozen
class SupportedSentence:
    """A sentence that its sources support, with the numbers that it cites and its place.

    `line` counts the lines of the text; `item` is the list marker that opens the line, or empty.
    `is_quoted`: it is a sentence of its source, in place of one that was not supported.
    """

    text: str
    citations: tuple[int, ...]
    line: int
    item: str = ""
    is_quoted: bool = False

    @property
    def text_with_marks(self) -> str:
        """The sentence with its citation marks in front of its full stop."""
        stop = _STOP.search(self.text)
        end = stop.start() if stop else len(self.text)
        marks = "".join(f"[{number}]" for number in self.citations)
        return f"{self.text[:end]} {marks}{self.text[end:]}"


class Sieve:
    """Reads a text piece by piece and returns the sentences that their sources support.

    `evidence` has the facts of each source by its number; sources may be added while it reads.
    `quotes` are the facts of which sentences may be quoted, where these are others.
    """

    def __init__(
        self, evidence: Mapping[int, TextFacts], quotes: Mapping[int, TextFacts] | None = None
    ) -> None:
        self._evidence = evidence
        self._quotes = evidence if quotes is None else quotes
        self._texts: set[str] = set()
        self._quoted: set[str] = set()
        self._pending = ""
        self._line = 0
        self._item = ""

    def feed(self, text: str) -> list[SupportedSentence]:
        """The supported sentences that these letters complete."""
        *lines, self._pending = SPACES.sub(" ", self._pending + text).split("\n")
        sentences = [sentence for line in lines for sentence in self._sift(line)]
        return sentences + self._sift_pending()

    def end(self) -> list[SupportedSentence]:
        """The supported sentences in the rest of the text."""
        rest, self._pending = self._pending, ""
        return self._sift(rest)

    def _sift(self, line: str) -> list[SupportedSentence]:
        line = _normalise(self._without_item(line))
        sentences = [sentence for run in token_runs(line) if (sentence := self._judge(run))]
        self._line += 1
        self._item = ""
        return sentences

    def _sift_pending(self) -> list[SupportedSentence]:
        """The supported sentences of an unfinished line; its last one may still get a mark."""
        if len(self._pending) > 2 * SENTENCE_CHARS_MAX:
            self._pending = ""
        line, start, sentences = _normalise(self._without_item(self._pending)), 0, []
        picture = _OPEN_PICTURE.search(line)
        for end, after in breaks(line):
            initial = line[after:].strip()[:1]
            if initial in ("", "[", "【") or (picture and picture.start() < after):
                break
            if (sentence := self._judge(line[start:end])) is not None:
                sentences.append(sentence)
            start = after
        self._pending = line[start:]
        return sentences

    def _without_item(self, line: str) -> str:
        """The line without the list marker that opens it, which `_item` remembers."""
        match = _ITEM.match(line)
        if match is None or self._item:
            return line
        self._item = f"{match[0].strip()} "
        return line[match.end() :]

    def _judge(self, run: str) -> SupportedSentence | None:
        run = _LINK.sub(lambda link: _link_words(link[1]), run)
        marks = (mark for group in _MARK.findall(run) for mark in group.split(","))
        numbers = tuple(dict.fromkeys(map(int, marks)))
        text = " ".join(_MARKUP.sub("", _MARK.sub("", run)).split())
        all_exist = all(number in self._evidence for number in numbers)
        if not numbers or not all_exist or len(text) > SENTENCE_CHARS_MAX or _RESIDUE.search(text):
            return None
        sufficient = tuple(number for number in numbers if self._evidence[number].entail(text))
        union = TextFacts.union(self._evidence[number] for number in numbers)
        if not sufficient and (len(numbers) == 1 or not union.entail(text)):
            return self._quote(text, numbers)
        if text in self._quoted:
            return None
        self._texts.add(text)
        return SupportedSentence(text, sufficient or numbers, self._line, self._item)

    def _quote(self, text: str, numbers: Sequence[int]) -> SupportedSentence | None:
        """What a cited source says nearest to a sentence, unless it stands there already."""
        quotes = [
            (*quote, number)
            for number in numbers
            if number in self._quotes and (quote := self._quotes[number].nearest(text))
        ]
        if not quotes:
            return None
        _, nearest, number = max(quotes, key=itemgetter(0))
        if nearest in self._texts | self._quoted or _RESIDUE.search(nearest):
            return None
        self._quoted.add(nearest)
        return SupportedSentence(nearest, (number,), self._line, self._item, is_quoted=True)


def supported_sentences(
    text: str, evidence: Mapping[int, TextFacts], quotes: Mapping[int, TextFacts]
) -> list[SupportedSentence]:
    """What a `Sieve` makes of a whole text."""
    sieve = Sieve(evidence, quotes)
    return [*sieve.feed(text), *sieve.end()]


def _normalise(line: str) -> str:
    """The line without pictures and tags, its citation marks in front of the full stops."""
    return _LATE_MARK.sub(r"\2\1", _PICTURE.sub("", line))


def _link_words(link: str) -> str:
    """The text of a link; where that is a number, the citation mark that it stands for."""
    return f"[{link}]" if link.strip("^ ").isdigit() else link
