"""Which sentences of some passages answer a question.

Rule 1: a sentence is one of its passage, word for word, without markup, addresses and marks of its
        own; it is never joined of two. Who orders an assistant about says nothing that is told.
Rule 2: a name of the question that stands neither in a sentence nor where its passage tells what it
        is about, rules the sentence out; so does another year. What asks who, when, where or how
        many is answered by what holds such a thing.
Rule 3: a sentence is judged by the question and its own passage alone: the order of passages, and
        others beside it, change no more than its numbers.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from attrs import evolve, frozen

from svc_core.agent.asking import (
    Asked,
    Name,
    asked,
    groups,
    is_counted,
    is_measured,
    is_role,
    is_said,
    is_strange,
    month_of,
    months_in,
    root,
    roots,
)
from svc_core.intel.linking.runs import runs
from svc_core.text.entities import is_place
from svc_core.text.language import guess
from svc_core.text.sentences import headline, leans, sentences
from svc_core.text.words import cut, fold, terms, words

PASSAGES_MAX, TEXT_MAX, SENTENCES_MAX = 100, 6_000, 60
"""Passages that are read, characters of each, and its sentences: about 30 ms."""
WORDS_MIN = 2  # of a sentence: "Four died."
TOLD_MAX, OVERVIEW_MAX = 3, 5  # sentences of an answer
ALIKE = 0.6  # terms that two sentences have in common, of all of both (Jaccard)
ENOUGH, LONE = 0.5, 0.7  # of the weight of what is asked beside names, and where there are none
BETTER = 0.95  # of the score of a title: a sentence of its text that comes as near is told instead
CLOSE = 0.5  # of the best score: what comes less near is left out
NEARBY, NAMED_NEARBY = 0.5, 0.9  # what a term counts, and a name, beside the sentence
OTHER_WORD = 0.85  # and one that only means the same
LACKING = 0.7
"""Of the score of a sentence that lacks what is asked for: where it was there, but names no place
or does not say that it was there; when, but its date is that of its passage; why, but says no
reason; or the first and the last word of the subject."""
BEFORE = 2  # sentences before one that tell what it is about
_REACH = 3  # words between an office and whose it is
_ENDS = re.compile(r"(?<=[.!?])\s+|\n+")
_YEAR = re.compile(r"(?<![\d.,])(?:19|20)\d\d(?!\d|[.,]\d)")
_TOKEN = re.compile(r"\d(?:[\d.,]*\d)?|\w+")
_PARTS = re.compile(r" (?:of|de|du|del|della|der|&) ")


@frozen
class Passage:
    """A text that may be cited by its number; `at` is when it was written, aware."""

    number: int
    title: str
    text: str
    at: datetime | None = None


@frozen
class Sentence:
    """A sentence of an answer, with the numbers of the passages that hold it."""

    text: str
    numbers: tuple[int, ...]


@frozen
class _Told:
    """A sentence and what it stands among: words and terms of it, and of those with it."""

    text: str
    own: frozenset[str]
    held: frozenset[str]
    place: int
    """0 for the title, from 1 on for sentences."""
    passage: Passage
    language: str | None
    score: float = 0.0

    @property
    def at(self) -> float:
        """When it was written, in seconds since 1970."""
        return self.passage.at.timestamp() if self.passage.at else 0.0


def select(question: str, passages: Sequence[Passage], now: datetime) -> tuple[Sentence, ...]:
    """The sentences that answer a question, the best first; none where no passage does.

    `now` is aware; what is dated later than that is read as if written now.
    """
    wanted = _asked(question)
    if not (wanted.names or wanted.terms):
        return ()
    dated = [_dated(one, now) for one in passages[:PASSAGES_MAX] if _may_tell(wanted, one)]
    read = [told for one in dated for told in _read(one)]
    scored = [evolve(told, score=_score(wanted, told)) for told in read]
    found = sorted((one for one in scored if one.score > 0), key=_order)
    if wanted.kind == "compare":
        return tuple(_sentences(_compared(wanted, found), found))
    chosen = _best(found, OVERVIEW_MAX if wanted.kind == "overview" else TOLD_MAX)
    if wanted.kind == "why":
        chosen += [one for one in read if chosen and _follows(one, chosen[0])]
    return tuple(_sentences(chosen, found))


def _follows(one: _Told, best: _Told) -> bool:
    """Whether a sentence stands behind another: reasons are told after what happened."""
    return one.passage == best.passage and one.place == max(best.place, 1) + 1


def _may_tell(wanted: Asked, passage: Passage) -> bool:
    """Whether a passage holds the names that are asked about, or one of those compared."""
    text = f"{passage.title}\n{passage.text[:TEXT_MAX]}"
    said = words(text)
    held = frozenset([*said, *map(cut, said), *_initials(text)])
    found = [one.is_in(held) and _is_whole(one, wanted, said) for one in wanted.names]
    return all(found) or (wanted.kind == "compare" and any(found))


def _is_whole(name: Name, wanted: Asked, said: list[str]) -> bool:
    """Whether the words of a name that the question has side by side stand so in a text."""
    run = [
        one.ways[0] for one in wanted.names if one.part_of == name.part_of and len(one.ways) == 1
    ]
    whole = [word for way in run for word in way]
    return len(run) < 2 or any(
        said[at : at + len(whole)] == whole for at, word in enumerate(said) if word == whole[0]
    )


def _asked(question: str) -> Asked:
    """What is asked, by the sentences that ask where some do; orders to an assistant are none."""
    parts = [part for part in _ENDS.split(defused(question)) if not is_said("order", part)]
    asking = asked(" ".join(part for part in parts if part.endswith("?")))
    return asking if asking.names or asking.terms else asked(" ".join(parts))


def _order(told: _Told) -> tuple[float, float, int, str]:
    return -round(told.score * 10), -told.at, told.place, told.text


def _dated(passage: Passage, now: datetime) -> Passage:
    return passage if passage.at is None or passage.at <= now else evolve(passage, at=now)


# -- reading -----------------------------------------------------------------------------------

_HIDDEN = re.compile(
    r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?|<!--.*?-->|</?[a-zA-Z][^<>]{0,200}>", re.S
)
_LINK = re.compile(r"\[([^\[\]]*)\]\([^)]*\)")
_MARK = re.compile(r"\[\^?\d[\d,\s–-]*\]|【[^】]*】|[`|]|<\|[^|>]*\|>")
_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://|www\.|data:|javascript:)\S+", re.IGNORECASE)


def defused(text: str) -> str:
    """A text without markup, addresses, marks of citations, and characters that do not show."""
    bare = _LINK.sub(r"\1", _HIDDEN.sub(" ", text))
    bare = _ADDRESS.sub(" ", _MARK.sub(" ", bare))
    return "".join(one for one in bare if one in "\n\t" or unicodedata.category(one)[0] != "C")


def _read(passage: Passage) -> Iterator[_Told]:
    """The sentences of a passage, after its title."""
    title = headline(defused(passage.title))
    text = defused(passage.text[:TEXT_MAX])
    language = guess(f"{title} {text}")
    told = sentences(text, WORDS_MIN, tails=True)[:SENTENCES_MAX]
    held = [_held(one, language) for one in (title, *told)]
    for place, one in enumerate((title, *told)):
        around = {0, 1, *range(max(place - BEFORE, 0), place)}
        beside = frozenset().union(*(held[at] for at in around if at < len(held)))
        is_marked = not place and bool(_MARK.search(passage.title))
        if one and not is_marked and not is_said("order", one):
            yield _Told(one, held[place], held[place] | beside, place, passage, language)


def _held(text: str, language: str | None) -> frozenset[str]:
    """The words of a text, its terms, and the initials of the names in it."""
    found = roots(text, language)
    pairs = (f"{one}_{other}" for one, other in pairwise(found))
    return frozenset([*words(text), *terms(text, language), *found, *pairs, *_initials(text)])


def _initials(text: str) -> Iterator[str]:
    """Those of words in capitals that stand side by side, with and without the first."""
    firsts = "".join(word[0] if word[0].isupper() else " " for word in _TOKEN.findall(text))
    for run in firsts.split():
        yield from (fold(run[at:]) for at in (0, 1) if len(run) > at + 1)


# -- judging -----------------------------------------------------------------------------------


def _score(wanted: Asked, told: _Told) -> float:
    """How well a sentence answers, 0 where it does not."""
    named = [one for one in wanted.names if one.is_in(told.held)]
    parts = {one.part_of for one in wanted.names}
    missing = {one.part_of for one in wanted.names if one not in named}
    if (missing == parts and parts) or (missing and wanted.kind != "compare"):
        return 0.0
    if not _is_of_time(wanted, told):
        return 0.0
    matched = {term: _matched(term, told, wanted) for term in wanted.terms}
    subject = sum(wanted.terms[term] * share for term, share in matched.items())
    if subject < _least(wanted) or sum(map(bool, matched.values())) + len(named) < _fewest(wanted):
        return 0.0
    fit = _fit(wanted, told)
    share = subject / sum(wanted.terms.values()) if wanted.terms else 1.0
    if _least(wanted) == 0:
        share = (1 + share) / 2
    is_focussed = [matched[term] >= OTHER_WORD for term in wanted.focus]
    is_told = subject >= LONE * sum(wanted.terms.values())
    is_strict = wanted.is_of_many or (wanted.is_of_doer and not is_told)
    if is_strict and is_focussed and not any(is_focussed):
        return 0.0
    focus = 1.0 if any(is_focussed) or not is_focussed else LACKING
    return fit * share * focus * _named(named, told) * _standing(told)


def _named(named: Sequence[Name], told: _Told) -> float:
    """How many of the names stand in the sentence itself."""
    held = sum(one.weight * (1 if one.is_in(told.own) else NAMED_NEARBY) for one in named)
    return held / sum(one.weight for one in named) if named else 1.0


def _least(wanted: Asked) -> float:
    if wanted.kind in ("overview", "compare") and wanted.names:
        return 0.0
    return (ENOUGH if wanted.names else LONE) * sum(wanted.terms.values())


def _fewest(wanted: Asked) -> int:
    least = 1 if wanted.kind in ("compare", "overview") else 2
    return min(least, len(wanted.names) + len(wanted.terms)) if wanted.names else least


def _matched(term: str, told: _Told, wanted: Asked) -> float:
    """How far a sentence holds a term, or what means the same."""
    if term in told.own:
        return 1.0
    if wanted.is_of_money and groups(term) & groups(root("cost")) and is_said("money", told.text):
        return OTHER_WORD
    if _is_own(term, told):
        return OTHER_WORD
    if term in told.held:
        return NEARBY
    beside = any(groups(term) & groups(one) for one in told.held)
    return NEARBY * OTHER_WORD if beside else 0.0


def _is_own(term: str, told: _Told) -> bool:
    """Whether the sentence itself holds a term, or what means the same."""
    known = groups(term)
    return term in told.own or any(not known.isdisjoint(groups(one)) for one in told.own)


def _is_of_time(wanted: Asked, told: _Told) -> bool:
    """Whether a sentence is of the years and months that are asked for."""
    at = told.passage.at
    if wanted.years:
        other = set(_YEAR.findall(told.text))
        if other.isdisjoint(wanted.years) and (
            other or str(at.year if at else "") not in wanted.years
        ):
            return False
    said = months_in(told.text)
    if wanted.months and not said & wanted.months:
        return not said and at is not None and at.month in wanted.months
    return True


def _standing(told: _Told) -> float:
    """How well a sentence can be understood, and how likely it tells the news."""
    if told.place == 0:
        return 0.95
    lead = 1.05 if told.place == 1 else 1.0
    return lead * (0.85 if leans(told.text, told.language) else 1.0)


def _fit(wanted: Asked, told: _Told) -> float:
    """Whether a sentence holds the kind of thing that is asked for; 0 where it has to."""
    if wanted.kind == "who":
        return float(_names_other(wanted, told.text) and _is_role_of(wanted, told))
    if wanted.kind == "number":
        is_sum = _is_sum(wanted, told.text) and _counts(wanted, told)
        return float(is_sum and (not wanted.measure or is_measured(wanted.measure, told.text)))
    if wanted.kind == "where":
        is_named = _names_other(wanted, told.text, places=True)
        held = is_named + is_said("placed", told.text)
        return (0.0, LACKING, 1.0)[held]
    if wanted.kind == "when":
        is_dated = is_said("dated", told.text) or months_in(told.text)
        is_done = not wanted.terms or _matched([*wanted.terms][-1], told, wanted)
        return 1.0 if is_dated else LACKING * bool(told.at and is_done)
    return LACKING if wanted.kind == "why" and not is_said("cause", told.text) else 1.0


def _is_sum(wanted: Asked, text: str) -> bool:
    """Whether a sentence tells how much something is, where that is asked."""
    is_told = wanted.terms or wanted.measure or len(wanted.names) > 1
    return bool(is_told) and (not wanted.is_of_money or is_said("money", text))


def _names_other(wanted: Asked, text: str, *, places: bool = False) -> bool:
    """Whether a sentence names somebody, or, of `places`, somewhere, that the question does not."""
    if wanted.kind == "who" and not wanted.terms:
        return True
    for run in runs(text):
        whole = " ".join(run.words)
        for part in run.readings() if run.is_title else _PARTS.split(whole):
            is_sure = run.is_telling or " " in part or is_place(part) or is_strange(part)
            said = set(words(part))
            is_other = not all(map(is_role, said)) and wanted.named.isdisjoint(said)
            if is_sure and is_other and (places or not is_place(part)):
                return True
    return False


def _is_role_of(wanted: Asked, told: _Told) -> bool:
    """Whether an office stands beside a name, and beside what it is of where that is named."""
    if wanted.role is None:
        return True
    said = [word[0] for word in _TOKEN.finditer(told.text)]
    offices = [at for at, word in enumerate(said) if is_role(fold(word))]
    whose = [at for at, word in enumerate(said) if fold(word) in wanted.named]
    holders = [
        at
        for at, word in enumerate(said)
        if word[0].isupper() and at not in whose and not is_role(fold(word))
    ]
    return any(_is_near(office, holders) and _is_near(office, whose) for office in offices)


def _counts(wanted: Asked, told: _Told) -> bool:
    """Whether a number stands there that is neither a date nor in the question."""
    said = ["", *_TOKEN.findall(fold(told.text)), ""]
    return any(
        is_counted(word) and not (_YEAR.fullmatch(word) or month_of(before) or month_of(after))
        for before, word, after in zip(said, said[1:], said[2:], strict=False)
        if word and word not in wanted.words
    )


def _is_near(at: int, places: Sequence[int]) -> bool:
    return not places or any(abs(at - one) <= _REACH for one in places)


# -- choosing ----------------------------------------------------------------------------------


def _best(found: Sequence[_Told], most: int) -> list[_Told]:
    """The best, no two alike, and no title beside a sentence of its text."""
    least = CLOSE * max((one.score for one in found), default=0.0)
    close = [one for one in found if one.score >= least]
    kept: list[_Told] = []
    for one in close:
        beside = (k for k in close if k.place and k.passage == one.passage)
        is_new = one.place or all(k.score < BETTER * one.score for k in beside)
        if len(kept) < most and is_new and not any(_alike(one, k) for k in kept):
            kept.append(one)
    return kept


def _sentences(chosen: Iterable[_Told], found: Sequence[_Told]) -> Iterator[Sentence]:
    """Each sentence once, with the numbers of all passages that hold it."""
    for text, one in {one.text: one for one in chosen}.items():
        same = {each.passage.number for each in found if each.text == text}
        yield Sentence(text, tuple(sorted(same | {one.passage.number})))


def _alike(one: _Told, other: _Told) -> bool:
    """Whether two sentences tell the same: few terms and no number apart."""
    both, either = one.own & other.own, one.own | other.own
    numbers = {word for word in one.own ^ other.own if is_counted(word)}
    return len(both) >= ALIKE * len(either) and not numbers


def _compared(wanted: Asked, found: Sequence[_Told]) -> list[_Told]:
    """The best sentences on each of what is compared; nothing where one of them is unknown."""
    parts = sorted({one.part_of for one in wanted.names})
    sides = [
        [
            told
            for told in found
            if all(n.is_in(told.held) for n in wanted.names if n.part_of == part)
        ]
        for part in parts
    ]
    if not all(sides):
        return []
    return [one for side in sides or [list(found)] for one in _best(side, 2)]
