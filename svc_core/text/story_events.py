"""Detects what happened in a story: its kind of event, and the day that its text states.

Rule 1: a story has one kind of event, the one with most evidence, or none.
Rule 2: a strong cue is enough where the headline asserts it; otherwise several different cues have
        to agree, as where a lead says nothing of it. What is questioned, denied, feared, planned
        or remembered is not asserted, and words of a rival sense (sport, shows, figures of speech,
        words of a dispute) count against a kind.
Rule 3: kinds and cues are data (`events.tsv`), matched in the item's own language, folded.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from itertools import chain

from attrs import evolve, frozen

from svc_core import data
from svc_core.text.evidence import Reading
from svc_core.text.quantities import months
from svc_core.text.stories import Story
from svc_core.text.tables import alternation
from svc_core.text.words import fold_case

_STRONG, _WEAK, _CONTEXT, _RIVAL = "strong", "weak", "context", "rival"
_OPEN, _NEGATION, _DOUBT, _PAST = "open", "unsaid", "doubt", "past"

# Points of a cue in the headline and in the lead: docs/adr/0028 has the measurements.
_POINTS = {_STRONG: (2.0, 1.25), _WEAK: (1.0, 0.5), _CONTEXT: (0.5, 0.5)}
_CONTEXTS_MAX = 2
_RIVAL_POINTS, _RIVALS_MAX = 0.75, 2
_MEMBER_POINTS, _MEMBERS_COUNTED = 0.5, 2  # for each further item of that kind
_UNSUPPORTED_POINTS = 0.5  # less where no cue is strong, or one is all that headline and lead have
_CUT = 2.0
_CERTAIN = 4.0  # a strong cue in headline and lead, and more
_SHARE_MIN = 0.25  # of the items of a story: a kind that fewer have is not its event
_MEMBERS_MAX = 12  # items that are read of one story, so that a large one costs no more
_NEGATION_REACH, _PAST_REACH = 6, 3  # words before a cue
_LEAD_SENTENCES, _LEAD_CHARS = 2, 500
_DATE_SLACK = timedelta(days=60)

_DOTS = re.compile(r"(?<=\b\w)\.(?=\w\b)|(?<=\b\w\.\w)\.")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+|[,;:.!?…()–—]")
_QUESTION = re.compile(r"(?:^|(?<=[.!?:–—]))[^.!?:–—]*\?")
_GAP = r"(?:\w\S{0,60} ){0,4}"
_WORDS_REMEMBERED = 65_536  # distinct words of about ten thousand items
_STEM_LETTERS = 5  # of a word: two cues that share them are one


@frozen
class EventKind:
    """A kind of event: its usual direction, its field, and the rival senses of its cues."""

    name: str
    direction: str
    tag: str
    rivals: frozenset[str]
    rank: int


@frozen
class StoryEvent:
    """The event of a story: its kind, how certain it is (0 to 1), and its items, clearest first."""

    kind: EventKind
    strength: float
    readings: tuple[Reading, ...]


@frozen
class _Cue:
    """A phrase that speaks for a kind, against one (a rival), or about the cue after it."""

    role: str
    owner: str
    expression: str


@frozen
class _Hit:
    cue: _Cue
    start: int
    words: tuple[str, ...]

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(word[:_STEM_LETTERS] for word in self.words)


@frozen
class _Lexicon:
    """The cues of a language by their first word, or by how it begins."""

    words: Mapping[str, Sequence[_Cue]]
    beginnings: Mapping[str, Sequence[_Cue]]


def event_of(story: Story) -> StoryEvent | None:
    """The event that a story reports, or None."""
    tallies: dict[str, dict[Reading, float]] = {}
    members = story.members[:_MEMBERS_MAX]
    for member in members:
        for name, points in _kind_points(member.reading).items():
            tallies.setdefault(name, {})[member.reading] = points
    sums = {
        name: max(tally.values()) + _MEMBER_POINTS * min(len(tally) - 1, _MEMBERS_COUNTED)
        for name, tally in tallies.items()
        if len(tally) >= _SHARE_MIN * len(members)
    }
    kinds = _kinds()
    best = max(sums, key=lambda name: (sums[name], -kinds[name].rank), default="")
    if not best or sums[best] < _CUT:
        return None
    by_points = sorted(tallies[best], key=lambda reading: -tallies[best][reading])
    return StoryEvent(kinds[best], round(min(sums[best] / _CERTAIN, 1.0), 3), tuple(by_points))


def _kind_points(reading: Reading) -> Mapping[str, float]:
    """The points of each kind for which an item has cues; none for a question or an opinion."""
    lead = " ".join(reading.sentences[:_LEAD_SENTENCES])[:_LEAD_CHARS]
    headline, lead = (reading.headline, lead) if reading.headline else (lead, "")
    language = reading.language or "en"
    in_headline = list(_hits(_QUESTION.sub("", headline), language))
    if any(hit.cue.role == _OPEN and hit.start == 0 for hit in in_headline):
        return {}
    places = [_asserted_hits(in_headline), _asserted_hits(list(_hits(lead, language)))]
    rivals = {(hit.cue.owner, hit.stems) for hits in places for hit in hits}
    points_by_kind: dict[str, float] = {}
    for name in {hit.cue.owner for hits in places for hit in hits} & _kinds().keys():
        rival_count = sum(owner in _kinds()[name].rivals for owner, _ in rivals)
        points = _sum(name, places) - _RIVAL_POINTS * min(rival_count, _RIVALS_MAX)
        roles = [[hit.cue.role for hit in hits if hit.cue.owner == name] for hits in places]
        own = roles[0] + roles[1]
        is_supported = _STRONG in own and (len(own) > 1 or not lead)
        if {_STRONG, _WEAK} & set(roles[0]):
            points_by_kind[name] = points - (not is_supported) * _UNSUPPORTED_POINTS
    return points_by_kind


def _sum(name: str, places: Sequence[Sequence[_Hit]]) -> float:
    """The points of the cues of one kind: a word counts once, but a strong cue in both places."""
    used_stems: set[str] = set()
    points, contexts = 0.0, 0
    for role, per_place in _POINTS.items():
        for hits, weight in zip(places, per_place, strict=True):
            own_hits = [h for h in hits if h.cue.owner == name and h.cue.role == role]
            for hit in own_hits:
                if role != _STRONG and (hit.stems & used_stems or contexts == _CONTEXTS_MAX):
                    continue
                used_stems |= hit.stems
                points += weight
                contexts += role == _CONTEXT
                if role != _CONTEXT:
                    break
    return points


def _asserted_hits(hits: list[_Hit]) -> list[_Hit]:
    """The cues that the text asserts; a strong one that it only recalls counts as a weak one."""
    denials = [hit.start for hit in hits if hit.cue.role == _NEGATION]
    doubts = {hit.start for hit in hits if hit.cue.role == _DOUBT}
    past = [hit.start + len(hit.words) for hit in hits if hit.cue.role == _PAST]
    assertions: list[_Hit] = []
    for hit in hits:
        if hit.cue.role in (_STRONG, _WEAK):
            end = hit.start + len(hit.words)
            reach = range(hit.start - _NEGATION_REACH, end - 1)
            if end in doubts or any(start in reach for start in denials):
                continue
            if any(hit.start - _PAST_REACH < start <= hit.start for start in past):
                hit = evolve(hit, cue=evolve(hit.cue, role=_WEAK))  # noqa: PLW2901
        assertions.append(hit)
    return assertions


def _hits(text: str, language: str) -> Iterator[_Hit]:
    """Every cue in a text, in order. A punctuation mark counts as a word that no cue crosses."""
    tokens = _TOKEN.findall(fold_case(_DOTS.sub("", text)))
    line, start = " ".join(tokens) + " ", 0
    for index, token in enumerate(tokens):
        for cue in _candidate_cues(token, language):
            match = _compile(cue.expression).match(line, start)
            if match:
                yield _Hit(cue, index, tuple(match[0].split()))
        start += len(token) + 1


@cache
def _rows() -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(line.split("\t")) for line in data.table_lines("events.tsv"))


@cache
def _kinds() -> Mapping[str, EventKind]:
    rows = [row[1:] for row in _rows() if row[0] == "kind"]
    return {
        name: EventKind(name, direction, tag, frozenset(rivals.split()), rank)
        for rank, (name, direction, tag, rivals) in enumerate(rows)
    }


@cache
def _lexicons() -> Mapping[str, _Lexicon]:
    """The lexicon of each language that has cues."""
    classes = {f"@{row[1]}": row[2].split() for row in _rows() if row[0] == "class"}
    classes["@n"].append("@d")
    heads: dict[str, dict[str, list[_Cue]]] = {}
    owner = ""
    for role, *cells, phrases in _rows():
        if role == "kind":
            owner = cells[0]
        elif role != "class":
            cue_owner = cells[0] if role == _RIVAL else owner if role in _POINTS else role
            for phrase in fold_case(phrases).split(","):
                elements = [_words(element, classes) for element in phrase.split()]
                cue = _Cue(role, cue_owner, _pattern(elements))
                for head in {words[0] for words in elements[0]}:
                    heads.setdefault(cells[-1], {}).setdefault(head, []).append(cue)
    return {language: _lexicon(cues) for language, cues in heads.items()}


def _lexicon(heads: Mapping[str, Sequence[_Cue]]) -> _Lexicon:
    beginnings: dict[str, list[_Cue]] = {}
    for head, cues in heads.items():
        if "*" in head:
            beginnings.setdefault(head.split("*")[0], []).extend(cues)
    return _Lexicon(heads, beginnings)


@lru_cache(maxsize=_WORDS_REMEMBERED)
def _candidate_cues(word: str, language: str) -> tuple[_Cue, ...]:
    """The cues of a language that may begin with a word."""
    lexicon = _lexicons().get(language)
    if lexicon is None:
        return ()
    beginnings = (lexicon.beginnings.get(word[:size], ()) for size in range(1, len(word) + 1))
    whole = lexicon.words.get("@d" if word[0].isdigit() else word, ())
    return (*whole, *chain.from_iterable(beginnings))


def _words(element: str, classes: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The alternatives of one place of a phrase, each a run of words."""
    choices = classes.get(element, element.split("/"))
    return [alternative.split("_") for alternative in choices]


def _pattern(elements: Sequence[Sequence[Sequence[str]]]) -> str:
    """A regular expression for a phrase, in a line where each word has a space behind it."""
    parts = [
        _GAP if places == [[".."]] else f"(?:{'|'.join(map(_expression, places))})"
        for places in elements
    ]
    return "".join(parts)


@cache
def _compile(expression: str) -> re.Pattern[str]:
    return re.compile(expression)  # on first use: most cues of a language are seldom met


def _expression(words: Sequence[str]) -> str:
    return "".join(
        r"\d\S{0,40} " if word == "@d" else re.escape(word).replace(r"\*", r"\w{0,40}") + " "
        for word in words
    )


def stated_day(story: Story) -> date | None:
    """The first date in the text of the story that lies within 60 days of its publication."""
    for member in story.members[:_MEMBERS_MAX]:
        for text in (member.reading.headline, *member.reading.sentences):
            for match in _dates().finditer(fold_case(text)):
                day = _day(match, member.evidence.at)
                if day is not None:
                    return day
    return None


def _day(match: re.Match[str], anchor: datetime) -> date | None:
    number = int(match["d1"] or match["d2"])
    month = months()[fold_case(match["m1"] or match["m2"])]
    years = [int(match["y"])] if match["y"] else [anchor.year, anchor.year - 1, anchor.year + 1]
    for year in years:
        try:
            day = datetime(year, month, number, tzinfo=UTC)
        except ValueError:
            continue
        if abs(day - anchor) <= _DATE_SLACK:
            return day.date()
    return None


@cache
def _dates() -> re.Pattern[str]:
    """A day of a month in folded text, with or without its year."""
    month = alternation(months())
    return re.compile(
        rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s(?:de\s)?(?P<m1>{month})\b\.?"
        rf"|(?P<m2>{month})\.?\s(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\b)(?:,?\s(?:de\s)?(?P<y>\d{{4}}))?"
    )
