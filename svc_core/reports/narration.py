"""Arranges stories into a report: which item leads, which sentences are quoted, and where.

Rule 1: every item of a story that is told is cited behind a sentence that it says; or, of the same
        development and another publisher, as also reporting it; or else as on the same event. One
        that is far from the rest of its story, or not surely about the subject, is only listed.
Rule 2: a sentence stands once, but where a section needs the one that opened the report to be
        understood below its heading; of one event no two sentences say the same. Where there is
        only one story, its section continues the opening.
Rule 3: quotes of a story are in the language of its lead, the reader's where an item has it.
Rule 4: sentences that refer to the one before ("He also said ...") stand only behind that one; so
        do those that begin with what neither they nor the headline name ("The photo ..."). What
        opens a report names what the headline of its item does, or else the headline stands.
Rule 5: what leads a story is close to all of it, in a development that many publishers report, and
        a new one of these. Other developments that several report are key points, too.
Rule 6: what is told is surely about the subject, and what is told in a line more so. Where nothing
        is, the story that matches it best is told.
Rule 7: an item is quoted when it is close to the rest of its story, and a sentence when no later
        item of its development says it anew, with other numbers or as having happened.
"""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import pairwise, takewhile
from math import log2, sqrt

from attrs import define, field

from svc_core.text.containment import TextWords
from svc_core.text.evidence import EvidenceTexts, ScoredItem
from svc_core.text.extracts import (
    ANEW_MIN,
    Extract,
    Vector,
    extract_sentences,
    says_anew,
    sum_of,
    terms_vector,
    unit_cosine,
    vector_of,
)
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import primary
from svc_core.text.sentences import (
    is_aside,
    is_broken,
    is_faulty,
    speaks,
    vagueness,
    with_full_stop,
)
from svc_core.text.stories import Story

KEY_POINTS_MAX = 7  # as many main stories as people keep in mind at once (Miller 1956)
MAIN_MIN = 3
MARKS_MAX = 12  # of one sentence; the others of its story also reported it
OPENING_MAX, OPENING_FEW_MAX = 3, 2
SENTENCES_MAX, SENTENCES_MANY_MAX, SENTENCES_MOST = 3, 5, 8
MANY_MEMBERS = 4  # a story of so many items gets more room
QUOTED_MAX = 3  # items that one development is quoted from

_FEW_STORIES = 4
_TEASER = 2  # the vagueness of a headline that is none of news
_CLOSE_MIN = 0.2  # cosine to the others of a story, of what may lead it
# The same of what is quoted from another development of a story of four items and more: of 440 such
# sentences .83 are of its event, of 162 from .2 up to this .39.
_FURTHER_CLOSE_MIN = 0.3
# The same of what is named as also reporting a development, and of others on its event: of three
# sets .96 and .91 of the items from these up are so, and of what is below .32 and .31.
_ALSO_CLOSE_MIN, _EVENT_CLOSE_MIN = 0.25, 0.3
_AGAIN_MIN = 0.8  # cosine from which a sentence stands already; 69 % are rightly so (STS)
REACH_MIN = 2  # publishers of a development; 28 of 33 such tell the main news, of one 11 of 35
_NEW_MIN = 0.55  # of a headline, by the squares of its weights, that the lead's development lacks
_NEW_LINE_MIN = 1 - ANEW_MIN  # the same, that no headline before it has
_NEWNESS = 0.3  # how much more the newest item of a story counts of those that several report
# Of the best score of a story: below, an item tells a side that was not asked for, but where its
# headline and lead hold so much of what the best ones do of the query; and where none holds any.
_LEAD_MIN, _LEAD_HEAD, _LEAD_MIN_UNNAMED = 0.7, 0.9, 0.5
_MATCH = 0.25  # power of the score: what leads is what most items say, and then what was asked
_ROUNDING = 1e-6
# Of the best score, over the root of the number of items: a story of several is about the subject
# in .82 down to .4 of the best score, a lone item in .69 from .8 and in .50 below.
_NEAR_SHARE = 0.7
# Log-odds that an item is about the subject from which it is told, and from which it is alone told
# in a line; and what they lose where its story has no relevance (logistic regression, ADR 64).
_SURE, _BRIEF_SURE, _FAR = 0.5, 1.0, 2.5
# Of the best score of a story, from which an item is quoted: below, it is on something else; and of
# the best score of all, for what leads a further development.
_QUOTE_MIN, _NEAR_MIN = 0.3, 0.5
_NEW_TERMS_MIN = 2  # with fewer a sentence repeats its headline
_UNTITLED_CHARS_MAX = 160
_WORD = re.compile(r"\w+")


@define(eq=False)
class NarrationLine:
    """A sentence, the items that hold it, who else reported it, and the others of its event."""

    text: str
    sources: list[EvidenceTexts]
    also: list[EvidenceTexts] = field(factory=list)
    same_event: list[EvidenceTexts] = field(factory=list)


@define(eq=False)
class StoryPlan:
    """One story on its way into the draft: what can be quoted, all its lines, its section.

    `order` are the items in the reader's language, the best to lead first; `reach` is how many
    publishers report the development of an item, `place` which one of the story's it is, and
    `closeness` its cosine to the others, 0 where it is not surely about the subject, by its id.
    `sureness` are the log-odds that the lead is, `quotable` the items that surely are and are
    close. `further` are the headlines of other developments than the lead's.
    """

    story: Story
    lead: ScoredItem
    heading: str
    order: list[ScoredItem]
    quotable: frozenset[ScoredItem]
    reach: Mapping[str, int]
    place: Mapping[str, int]
    closeness: Mapping[str, float]
    sureness: float
    subject: Vector = field(factory=dict)
    quotes: list[Extract] = field(factory=list)
    intro: Extract | None = None
    lines: list[NarrationLine] = field(factory=list)
    further: list[NarrationLine] = field(factory=list)
    section: list[NarrationLine] = field(factory=list)

    @property
    def opener(self) -> Extract | None:
        """The sentence to open a report with; None where the headline says the news itself."""
        is_fit = self.intro is not None and (self.intro.opens or _vagueness(self.lead) > 0)
        return self.intro if is_fit else None

    def heading_over(self, lines: Sequence[NarrationLine]) -> str:
        """The headline of the lead where a line quotes it, else of what the first line quotes."""
        cited = [item.id for line in lines for item in line.sources]
        heads = {item.evidence.id: _heading(item) for item in self.story.members}
        is_quoted = self.lead.evidence.id in cited
        return next((heads[id_] for id_ in cited if id_ in heads and not is_quoted), self.heading)

    def place_of(self, item: ScoredItem) -> int:
        """Which development of the story an item is of."""
        return self.place[item.evidence.id]

    def is_shared(self, item: ScoredItem) -> bool:
        """Whether several publishers report its development."""
        return self.reach[item.evidence.id] >= REACH_MIN

    @property
    def members(self) -> list[EvidenceTexts]:
        """The items, the lead first, then by time."""
        rest = [member.evidence for member in self.story.members if member is not self.lead]
        return [self.lead.evidence, *rest]


@define(eq=False)
class Narration:
    """The lines of a report in reading order; a section is its plan and its lines.

    `stories` are those that are told; `apart` are the items that are less surely of these, and then
    those of stories that are less surely about the subject.
    """

    opening: list[NarrationLine]
    key_points: list[NarrationLine]
    sections: list[tuple[StoryPlan, list[NarrationLine]]]
    briefs: list[NarrationLine]
    stories: list[Story]
    apart: list[EvidenceTexts]


def reading_order(stories: Iterable[Story]) -> list[Story]:
    """Stories in reading order: the most reported, largest, best matching and newest first.

    With these weights the most reported story leads in 11 of 11 reports, by score alone in 9.
    """
    pool = list(stories)
    best = max((story.score for story in pool), default=0.0) or 1.0
    ends = {o.key: o.last_at.timestamp() if o.is_dated else 0.0 for o in pool}
    newest = max(ends.values(), default=0.0)

    def weight(story: Story) -> float:
        age = (newest - ends[story.key]) / 86_400
        return (
            log2(1 + len(story.publishers))
            + 0.25 * log2(1 + len(story.members))
            + story.score / best
            + 0.3 / (1 + age)
        )

    return sorted(pool, key=lambda s: (-round(weight(s), 6), -ends[s.key], s.key))


class Narrator:
    """Narrates the stories of one draft, which are in reading order."""

    def __init__(self, stories: Sequence[Story], language: str, frequencies: Frequencies) -> None:
        """Prepare to narrate in `language`, by word frequencies."""
        self._language = primary(language)
        self._frequencies = frequencies
        self._best = max(story.score for story in stories)
        self._plans = [_plan(story, self._language, frequencies, self._best) for story in stories]
        self._lines: dict[str, NarrationLine] = {}
        self._quotes: list[Extract] = []
        self._apart: list[EvidenceTexts] = []  # that no line names

    def narrate_stories(self) -> Narration:
        """The main stories in sections, then others in a line each."""
        main, others, untold = self._split()
        for plan in main:
            self._draw(plan)
        is_only = len(main) == 1
        opening, rest = self._whole(main[0]) if is_only else (self._opening(main), [])
        headlines = list(dict.fromkeys(map(self._point, main)))
        parts = [(plan, rest if is_only else self._section(plan)) for plan in main]
        sections = [(plan, lines) for plan, lines in parts if lines]
        for plan in main:
            self._further(plan, KEY_POINTS_MAX - len(headlines))
            headlines = list(dict.fromkeys((*headlines, *plan.further)))
        key_points = [line for line in headlines if line not in opening]
        lines = dict.fromkeys(map(self._brief, others))
        briefs = [line for line in lines if line not in headlines + opening]
        if key_points:  # they say who else reported a story
            opening = [
                line if line in headlines else NarrationLine(line.text, line.sources)
                for line in opening
            ]
        for plan in (*main, *others):
            self._acknowledge(plan)
        self._apart += (item.evidence for plan in untold for item in plan.story.members)
        stories = [plan.story for plan in self._plans if plan not in untold]
        return Narration(opening, key_points, sections, briefs, stories, self._apart)

    def _split(self) -> tuple[list[StoryPlan], list[StoryPlan], list[StoryPlan]]:
        """Half of the stories, a few at least, of those near the best score; those that are told in
        a line; and those that are not told.

        Dated ones in the reader's language come first, and of these one of each subject; comments
        are told in a line where there is news.
        """
        count = min(KEY_POINTS_MAX, max(MAIN_MIN, (len(self._plans) + 1) // 2))
        near = [
            plan
            for plan in self._plans
            if plan.story.score * sqrt(len(plan.story.members)) >= _NEAR_SHARE * self._best
            and plan.sureness >= _SURE
        ] or [plan for plan in self._plans if plan.story.score == self._best]
        near = [plan for plan in near if not _is_aside(plan.lead)] or near
        firsts = {plan.lead.subjects[0]: plan for plan in reversed(near)}
        near.sort(key=lambda plan: plan is not firsts[plan.lead.subjects[0]])
        main = sorted(
            near[:count],
            key=lambda o: (not _is_own(o.lead, self._language), not o.story.is_dated),
        )
        rest = [plan for plan in self._plans if plan not in main]
        others = [plan for plan in rest if plan.sureness >= _BRIEF_SURE]
        return main, others, [plan for plan in rest if plan not in others]

    def _draw(self, plan: StoryPlan) -> None:
        """Collect what can be quoted of a story, and the sentence that introduces it."""
        plan.subject = vector_of(plan.heading, plan.lead.reading.language, self._frequencies)
        groups = [_same_language(group, plan.lead) for group in plan.story.developments]
        parts = [[item for item in group if item in plan.quotable][:QUOTED_MAX] for group in groups]
        quotes: dict[str, list[Extract]] = {}
        items = [item for part in parts for item in part]
        for quote in extract_sentences(items, plan.subject, self._frequencies):
            text, language = quote.text, quote.item.reading.language
            is_new = len(quote.vector.keys() - plan.subject.keys()) >= _NEW_TERMS_MIN
            if is_new and not is_faulty(text, language) and not speaks(text, language):
                quotes.setdefault(quote.item.evidence.id, []).append(quote)
        for part in parts:
            own = [quote for item in part for quote in quotes.get(item.evidence.id, ())]
            plan.quotes += (quote for quote in own if not _is_outdated(quote, own))
        fit = [o for o in plan.quotes if o.joins or (o.leads and o.item is plan.lead)]
        plan.intro = min(
            fit,
            key=lambda quote: (
                plan.place_of(quote.item) != plan.place_of(plan.lead),
                not quote.opens,
                quote.item is not plan.lead,
                -plan.reach[quote.item.evidence.id],
                not quote.matches_headline,
                quote.place,
                -quote.score,
                quote.item.evidence.id,
            ),
            default=None,
        )

    def _opening(self, main: Sequence[StoryPlan]) -> list[NarrationLine]:
        """The sentences that introduce the first stories; a headline where the first has none."""
        own = [plan for plan in main if _is_own(plan.lead, self._language)] or list(main)
        limit = OPENING_MAX if len(self._plans) > _FEW_STORIES else OPENING_FEW_MAX
        heads = [plan for plan in own if plan.story.is_dated] or own
        fit = [plan for plan in heads if plan.opener or _vagueness(plan.lead) < _TEASER]
        heads = fit or heads[:1]
        if not any(plan.opener for plan in heads):
            return self._headlines(heads if len(heads) <= OPENING_MAX else heads[:1])
        lines = [] if heads[0].opener else self._headlines(heads[:1])
        for plan in heads:
            if plan.opener and len(lines) < limit and self._is_new(plan.opener):
                lines.append(self._quote(plan, plan.opener))
        return lines

    def _whole(self, plan: StoryPlan) -> tuple[list[NarrationLine], list[NarrationLine]]:
        """The only main story: its opening, and a section that continues where there is much.

        Where nothing of it can be quoted, the headlines of its items stand instead.
        """
        if plan.intro is None:
            lines, terms = self._headlines([plan]), {*plan.lead.reading.title}
            for item in _same_language(plan.story.members, plan.lead):
                if len(lines) < OPENING_MAX and self._newness(item, terms) > _NEW_LINE_MIN:
                    terms |= {*item.reading.title}
                    lines.append(self._headline(plan, item))
            return list(dict.fromkeys(lines)), []
        headlines = [] if plan.opener else self._headlines([plan])
        quotes = self._pick(plan, plan.intro)
        lines = [self._quote(plan, quote) for quote in quotes]
        if headlines:
            plan.section = lines
            return headlines, lines
        pairs = takewhile(lambda o: o[1].opens or o[0].item is o[1].item, pairwise(quotes))
        fit = 1 + sum(1 for _ in pairs)
        first = plan.place_of(plan.intro.item)
        shared = sum(plan.place_of(o.item) == first or plan.is_shared(o.item) for o in quotes)
        limit = min(OPENING_MAX, fit, shared if len(quotes) - shared > 1 else OPENING_MAX)
        cuts = (end for end in range(limit, 0, -1) if quotes[end].is_standalone)
        end = next(cuts, len(lines)) if len(lines) > limit else len(lines)
        plan.section = lines[end:]
        return lines[:end], plan.section

    def _headlines(self, plans: Iterable[StoryPlan]) -> list[NarrationLine]:
        """A headline for each story; one that two stories share serves both."""
        return list(dict.fromkeys(self._headline(plan, plan.lead) for plan in plans))

    def _headline(self, plan: StoryPlan, item: ScoredItem) -> NarrationLine:
        return self._line(plan, with_full_stop(_heading(item)), item.evidence)

    def _newness(self, item: ScoredItem, terms: Set[str]) -> float:
        """The share of a headline that reports what some terms do not hold; 0 of a teaser."""
        head = terms_vector(item.reading.title, self._frequencies)
        new = sum(weight**2 for term, weight in head.items() if term not in terms)
        return new if _vagueness(item) < _TEASER else 0.0

    def _brief(self, plan: StoryPlan) -> NarrationLine:
        """A story in a line: its headline, or what introduces it where that does not report."""
        if _vagueness(plan.lead) == _TEASER:
            self._draw(plan)
        return self._point(plan)

    def _point(self, plan: StoryPlan) -> NarrationLine:
        """The headline of a story, or, where that is vague, what introduces it."""
        intro = plan.intro if _vagueness(plan.lead) > 0 else None
        return self._quote(plan, intro) if intro else self._headline(plan, plan.lead)

    def _further(self, plan: StoryPlan, count: int) -> None:
        """The headlines of other developments of a story that several publishers report."""
        first = plan.place_of(plan.lead)
        terms = _beginning(plan.story.developments[first])
        places = {first}
        for item in plan.order:
            at = plan.place_of(item)
            is_near = item in plan.quotable and item.score >= _NEAR_MIN * self._best
            is_next = is_near and at not in places and len(plan.further) < count
            if not is_next or not plan.is_shared(item):
                continue
            places.add(at)
            is_own = item.reading.language == plan.lead.reading.language
            if is_own and self._newness(item, terms) >= _NEW_MIN:
                terms |= _beginning([item])
                plan.further.append(self._headline(plan, item))

    def _section(self, plan: StoryPlan) -> list[NarrationLine]:
        """A story in a few sentences; none where the opening has quoted all of it."""
        intro = plan.intro
        is_quoted = intro in self._quotes
        is_twin = any(_key(o.heading) == _key(plan.heading) for o in self._plans if o.section)
        if is_twin or intro is None or not (is_quoted or self._is_new(intro)):
            return []
        quotes = self._pick(plan, intro)
        if len(quotes) > is_quoted:
            rest = quotes[1:] if is_quoted and _is_apart(quotes[1:], plan.lead) else quotes
            plan.section = [self._quote(plan, quote) for quote in rest]
        return plan.section

    def _is_new(self, quote: Extract) -> bool:
        """Whether no quoted sentence says the same."""
        return _key(quote.text) not in self._lines and not any(
            unit_cosine(quote.vector, earlier.vector) >= _AGAIN_MIN for earlier in self._quotes
        )

    def _quote(self, plan: StoryPlan, quote: Extract) -> NarrationLine:
        self._quotes.append(quote)
        return self._line(plan, quote.text, quote.item.evidence)

    def _pick(self, plan: StoryPlan, intro: Extract) -> list[Extract]:
        """The best sentences in reading order: one of each development, then more.

        The item that introduces the story comes first, then the others by time.
        """
        turns: dict[int, int] = {}
        queue = []
        for quote in sorted(plan.quotes, key=lambda o: (-o.score, o.item.evidence.id, o.place)):
            index = plan.place_of(quote.item)
            turns[index] = turns.get(index, 0) + 1
            queue.append((turns[index], -plan.reach[quote.item.evidence.id], quote))
        queue.sort(key=lambda turn: turn[:2])
        is_large = len(plan.story.members) >= MANY_MEMBERS
        shared = {plan.place_of(o.item) for o in plan.quotes if plan.is_shared(o.item)}
        limit = max(SENTENCES_MANY_MAX if is_large else SENTENCES_MAX, len(shared))
        picks = [intro]
        for _, _, quote in queue:
            if len(picks) == min(limit, SENTENCES_MOST):
                break
            if self._may_follow(quote, picks):
                picks.append(quote)
        picks.sort(
            key=lambda o: (
                o.item is not intro.item,
                -plan.reach[o.item.evidence.id],
                plan.place_of(o.item),
                (o.item.evidence.at, o.item.evidence.id, o.place),
            )
        )
        return picks

    def _may_follow(self, quote: Extract, picks: Sequence[Extract]) -> bool:
        """Whether a sentence is new, and is understood alone or behind its predecessor."""
        intro = picks[0]
        if quote.item is intro.item and quote.place <= intro.place:
            return False
        gaps = [quote.place - o.place for o in picks if o.item is quote.item]
        is_behind = quote.is_standalone and any(gap > 0 for gap in gaps)
        return (
            (quote.joins or is_behind or 1 in gaps)
            and self._is_new(quote)
            and not any(quote.repeats(pick) for pick in picks)
        )

    def _line(self, plan: StoryPlan, text: str, first: EvidenceTexts) -> NarrationLine:
        """The line of a sentence, citing all items of the story that hold it."""
        claim = TextWords.of(text)
        rest = (item for item in plan.members if item is not first)
        sources = [first, *(item for item in rest if item.says(claim))]
        line = self._lines.setdefault(_key(text), NarrationLine(text, []))
        new = [item for item in sources if item not in line.sources]
        line.sources += new[: MARKS_MAX - len(line.sources)]
        plan.lines.append(line)
        return line

    def _acknowledge(self, plan: StoryPlan) -> None:
        """Name the items that no line of a story cites at the end of its section, or of all.

        Of the development that this, or a further headline, tells of first each further publisher
        is named once as also reporting it; the others are on the same event, where they are close.
        """
        lines = plan.section or [line for line in plan.lines if line not in plan.further][-1:]
        target = lines[-1]
        every = [item for line in plan.lines for item in (*line.sources, *line.also)]
        ids = {item.id for item in (*every, *target.same_event)}
        ends: dict[int, tuple[NarrationLine, set[str]]] = {}
        for passage in (lines, *([line] for line in plan.further)):
            # A headline that stories share may have its marks from the others.
            ids_of_first = (item.id for item in passage[0].sources if item.id in plan.place)
            first = next(ids_of_first, plan.lead.evidence.id)
            named = {item.publisher for line in passage for item in (*line.sources, *line.also)}
            ends.setdefault(plan.place[first], (passage[-1], named))
        for item in plan.members:
            if item.id in ids:
                continue
            closeness = plan.closeness[item.id]
            end, named = ends.get(plan.place[item.id], (target, {item.publisher}))
            if item.publisher not in named and closeness >= _ALSO_CLOSE_MIN:
                named.add(item.publisher)
                end.also.append(item)
            else:
                (target.same_event if closeness >= _EVENT_CLOSE_MIN else self._apart).append(item)


def _plan(story: Story, language: str, frequencies: Frequencies, best: float) -> StoryPlan:
    own = [member for member in story.members if _is_own(member, language)] or story.members
    shares = dict(zip(own, _centralities(own, frequencies), strict=True))
    pool = frozenset(o for o in own if shares[o] >= _CLOSE_MIN) or frozenset(own)
    reach = {
        member.evidence.id: len({item.evidence.publisher for item in group if item in pool})
        for group in story.developments
        for member in group
    }
    first, *_, latest = sorted(member.evidence.at for member in (*own, *own))
    span = latest - first
    head = max(member.head for member in own)
    least = (_LEAD_MIN if head else _LEAD_MIN_UNNAMED) * story.score

    def merit(member: ScoredItem) -> tuple[bool, bool, bool, float, str]:
        headline = member.reading.headline
        has_words = bool(headline) and not is_broken(f"{headline} {member.evidence.text}")
        is_comment = _is_aside(member) or is_aside(headline, member.reading.language)
        is_far = member.score < least and not member.head >= _LEAD_HEAD * head > 0
        publishers = reach[member.evidence.id]
        weight = member.score**_MATCH * shares[member] * log2(1 + publishers)
        if publishers >= REACH_MIN:
            weight *= 1 + _NEWNESS * ((member.evidence.at - first) / span if span else 1)
        return not has_words, is_comment, is_far, -weight, member.evidence.id

    merits = {member.evidence.id: merit(member) for member in pool}
    order = sorted(pool, key=lambda member: merits[member.evidence.id])
    leads = [member for member in order if member.reading.sentences] or order
    group = next(group for group in story.developments if leads[0] in group)
    traits = merits[leads[0].evidence.id][:3]
    peers = (o for o in leads if o in group and merits[o.evidence.id][:3] == traits)
    lead = _newest_state(min(peers, key=_vagueness, default=leads[0]), group)
    place = {item.evidence.id: at for at, group in enumerate(story.developments) for item in group}
    least = _FURTHER_CLOSE_MIN if len(own) >= MANY_MEMBERS else _CLOSE_MIN
    far = _FAR * (1 - story.score / best) if best else 0.0
    quotable = frozenset(
        item
        for item in pool
        if shares[item] >= least or place[item.evidence.id] == place[lead.evidence.id]
        if item is lead or not _is_aside(item)
        if item.score >= _QUOTE_MIN * story.score and item.sureness - far >= _SURE
    )
    near = {o.evidence.id: (o.sureness - far >= _SURE) * shares.get(o, 1.0) for o in story.members}
    sureness, heading = lead.sureness - far, _heading(lead)
    return StoryPlan(story, lead, heading, order, quotable, reach, place, near, sureness)


def _heading(item: ScoredItem) -> str:
    """The headline of an item; the beginning of its text where there is none, or a spoilt one."""
    reading = item.reading
    words = " ".join(item.evidence.text.split())
    start = words[:_UNTITLED_CHARS_MAX].rpartition(" ")[0] or words
    label = words if len(words) <= _UNTITLED_CHARS_MAX else f"{start}…"
    first = next(iter(reading.sentences), label)
    is_spoilt = is_broken(reading.headline) and not is_broken(first)
    return first if is_spoilt else reading.headline or first


def _centralities(members: Sequence[ScoredItem], frequencies: Frequencies) -> list[float]:
    """The cosine of the headline and lead of each of some items to the sum of the others', 0..1.

    Copies count once: what one source says twice is no closer to the rest.
    """
    words = [(*member.reading.title, *member.reading.lead) for member in members]
    vectors = {text: terms_vector(text, frequencies) for text in words}
    total = sum_of(vectors.values())
    size = sum(weight * weight for weight in total.values()) + 1
    shares = {text: unit_cosine(vector, total) for text, vector in vectors.items()}  # 1 is its own
    rests = {text: sqrt(max(size - 2 * share, 0.0)) for text, share in shares.items()}
    return [(shares[o] - 1) / rests[o] if rests[o] > _ROUNDING else 1.0 for o in words]


def _newest_state(lead: ScoredItem, group: Sequence[ScoredItem]) -> ScoredItem:
    """The latest item of the lead's development whose headline says anew what the lead's does."""
    head = lead.reading
    later = [
        item
        for item in group
        if _is_later(item, lead)
        and _vagueness(item) <= _vagueness(lead)
        and item.reading.language == head.language
        and bool(item.reading.sentences) >= bool(head.sentences)
        and says_anew(
            (item.reading.headline, {*item.reading.title}),
            (head.headline, {*head.title}),
            head.language,
        )
    ]
    return later[-1] if later else lead


def _is_apart(quotes: Sequence[Extract], lead: ScoredItem) -> bool:
    """Whether quotes are understood without the one before them, below one headline of theirs."""
    items = {quote.item for quote in quotes}
    return quotes[0].is_standalone and (lead in items or len(items) == 1)


def _is_outdated(quote: Extract, others: Iterable[Extract]) -> bool:
    """Whether a later item of a development says a sentence anew."""
    wording, tongue = quote.wording, quote.item.reading.language
    later = (other for other in others if _is_later(other.item, quote.item))
    return any(says_anew(other.wording, wording, tongue) for other in later)


def _is_later(item: ScoredItem, other: ScoredItem) -> bool:
    """Whether both items have a date, and the first has the later one."""
    at, before = item.evidence.published_at, other.evidence.published_at
    return at is not None and before is not None and at > before


def _beginning(items: Iterable[ScoredItem]) -> set[str]:
    """The terms of the headlines and leads of some items."""
    return {term for item in items for term in (*item.reading.title, *item.reading.lead)}


def _is_aside(item: ScoredItem) -> bool:
    return is_aside(item.evidence.title, item.reading.language)


def _vagueness(item: ScoredItem) -> int:
    return vagueness(item.evidence.title, item.reading.language)


def _is_own(member: ScoredItem, language: str) -> bool:
    """Whether an item is in the reader's language, or in an unknown one."""
    return member.reading.language in (primary(language), None)


def _same_language(members: Sequence[ScoredItem], lead: ScoredItem) -> list[ScoredItem]:
    """Those of some items in the language of the lead: the lead, then the most relevant ones."""
    tongue = lead.reading.language
    matches = (o for o in members if tongue is None or o.reading.language in (tongue, None))
    return sorted(matches, key=lambda item: (item is not lead, -item.score, item.evidence.id))


def _key(text: str) -> str:
    """The words of a line, by which it is known again."""
    return " ".join(_WORD.findall(text.casefold())) or text
