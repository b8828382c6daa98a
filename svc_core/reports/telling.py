"""How stories are told: which item leads, which sentences are quoted, and where each one stands.

Rule 1: every item of every story is marked behind a sentence that it holds, or it also reported it.
Rule 2: a sentence stands once, but the opening quotes what introduces the first sections; of one
        event no two sentences say the same. Where one story is all, its section goes on.
Rule 3: what is quoted of a story is in the language of its lead, the reader's where an item has it.
Rule 4: sentences that lean on one before them ("He also said ...") stand only behind that one.
"""

from collections.abc import Iterable, Sequence
from math import log2

from attrs import define, evolve, field

from svc_core.text.evidence import Evidence, Scored
from svc_core.text.extracts import Extract, Vector, extracts, likeness, vector_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.language import primary
from svc_core.text.marks import Words
from svc_core.text.sentences import ended, is_aside, is_broken, is_faulty
from svc_core.text.stories import Story
from svc_core.text.templates import Templates

KEY_POINTS_MAX = 7  # as many main stories as are kept in mind at once (Miller 1956)
MAIN_MIN = 3
MARKS_MAX = 12  # of one sentence; the others of its story also reported it
OPENING_MAX, OPENING_FEW_MAX = 3, 2
SENTENCES_MAX, SENTENCES_MANY_MAX, SENTENCES_MOST = 3, 5, 8
MANY_MEMBERS = 4  # a story that so many items tell gets more room
QUOTED_MAX = 3  # items that one development is quoted from

_FEW_STORIES = 4
_AGAIN_MIN = 0.8  # cosine from which a sentence stands already; 69 % are rightly so (STS)
_NEAR_SHARE = 0.5  # of the best score: 92 % of the items above it are about the subject, 27 % below
_NEW_TERMS_MIN = 2  # with fewer a sentence repeats its headline
_UNTITLED_CHARS_MAX = 160


@define(eq=False)
class Line:
    """A sentence, the items that hold it, and others of its story that it stands for."""

    text: str
    marked: list[Evidence]
    also: list[Evidence] = field(factory=list)


@define(eq=False)
class Plan:
    """One story on its way into the draft: what it is told by, and who else reported it."""

    story: Story
    lead: Scored
    heading: str
    subject: Vector = field(factory=dict)
    drawn: list[Extract] = field(factory=list)
    intro: Extract | None = None
    lines: list[Line] = field(factory=list)
    also: list[Evidence] = field(factory=list)
    is_section: bool = False

    @property
    def members(self) -> list[Evidence]:
        """The items, the lead first, then by time."""
        rest = [one.evidence for one in self.story.members if one is not self.lead]
        return [self.lead.evidence, *rest]


@define(eq=False)
class Telling:
    """What stands where, in the order of reading; a section is its plan and its lines."""

    opening: list[Line]
    key_points: list[Line]
    sections: list[tuple[Plan, list[Line]]]
    briefs: list[Line]


def in_order(found: Iterable[Story], language: str) -> list[Story]:
    """Stories in the order of their telling: weight with a bonus for the reader's own language."""
    held = list(found)
    dated = {story.key: _last_dated(story) for story in held}
    newest = max(dated.values(), default=0.0)

    def weight(story: Story) -> float:
        lead = lead_of(story, language)
        age = max(newest - dated[story.key], 0.0) / 86_400
        return (
            story.score
            + 0.12 * log2(len(story.publishers))
            + 0.2 * _is_own(lead, language)
            + 0.1 / (1 + age)
            + 0.05 * bool(lead.evidence.text)
        )

    return sorted(held, key=lambda s: (-round(weight(s), 6), -dated[s.key], s.key))


def lead_of(story: Story, language: str) -> Scored:
    """The member that tells the story: in the reader's language, with a text, the most relevant."""
    if len(story.members) == 1:
        return story.members[0]
    own = [one for one in story.members if _is_own(one, language)] or story.members

    def merit(one: Scored) -> tuple[bool, bool, float, str]:
        headline = one.reading.headline
        worded = bool(headline) and not is_broken(f"{headline} {one.evidence.text}")
        aside = is_aside(one.evidence.title) or is_aside(headline)
        return not worded, aside, -one.score * (1 + _centrality(one, own)), one.evidence.id

    ranked = sorted(own, key=merit)
    return next((one for one in ranked if one.reading.sentences), ranked[0])


class Teller:
    """Tells stories that are in the order of their telling. One for a draft."""

    def __init__(
        self,
        stories: Sequence[Story],
        language: str,
        *,
        frequencies: Frequencies,
        templates: Templates,
    ) -> None:
        """Tell in `language`, by how common words are and what is of a template."""
        self._language = primary(language)
        self._frequencies = frequencies
        self._templates = templates
        self._plans = [_plan(story, self._language) for story in stories]
        self._words: dict[str, Words] = {}
        self._lines: dict[str, Line] = {}
        self._said: list[Extract] = []

    def tell(self) -> Telling:
        """The main stories first, then the others, a line each."""
        main, others = self._parted()
        for plan in main:
            self._draw(plan)
        if len(main) == 1:
            opening, rest = self._whole(main[0])
            told = [(main[0], rest)]
        else:
            opening = self._opening(main)
            told = [(plan, self._section(plan)) for plan in main]
        sections = [(plan, lines) for plan, lines in told if lines]
        key_points = self._headlines(main)
        if all(line in opening for line in key_points):
            key_points = []
        else:
            opening = [evolve(line, also=[]) for line in opening]
        briefs = [line for line in self._headlines(others) if line not in key_points + opening]
        for plan in self._plans:
            self._acknowledge(plan)
        return Telling(opening, key_points, sections, briefs)

    def _parted(self) -> tuple[list[Plan], list[Plan]]:
        """Half of the stories, a few at least, of those about the subject as the best are.

        Dated ones in the reader's language come first, asides last.
        """
        count = min(KEY_POINTS_MAX, max(MAIN_MIN, (len(self._plans) + 1) // 2))
        best = max(plan.story.score for plan in self._plans)
        near = [plan for plan in self._plans if plan.story.score >= _NEAR_SHARE * best]
        main = sorted(near[:count], key=self._rank)
        return main, [plan for plan in self._plans if plan not in main]

    def _rank(self, plan: Plan) -> tuple[bool, bool, bool]:
        aside = is_aside(plan.lead.evidence.title)
        return not self._is_own(plan), not plan.story.is_dated, aside

    def _is_own(self, plan: Plan) -> bool:
        return _is_own(plan.lead, self._language)

    def _draw(self, plan: Plan) -> None:
        """What can be quoted of a story, and the sentence that introduces it."""
        spoken = plan.lead.reading.tongue
        plan.subject = vector_of(plan.heading, spoken, self._frequencies)
        parts = _developments(plan.story)
        items = [one for held in parts for one in _spoken(held, plan.lead)[:QUOTED_MAX]]
        plan.drawn = [
            one
            for one in extracts(items, plan.subject, self._frequencies)
            if len(one.vector.keys() - plan.subject.keys()) >= _NEW_TERMS_MIN
            and not is_faulty(one.text, one.item.reading.tongue)
            and not self._templates.hold(one.text, one.item.evidence.source_id)
        ]
        plan.intro = min(
            (one for one in plan.drawn if one.alone and (one.place == 0 or one.about)),
            key=lambda one: (
                one.item is not plan.lead,
                not one.about,
                one.place,
                -one.score,
                one.item.evidence.id,
            ),
            default=None,
        )

    def _opening(self, main: Sequence[Plan]) -> list[Line]:
        """What introduces the first stories; where none has a text, their headlines."""
        own = [plan for plan in main if self._is_own(plan)] or list(main)
        most = OPENING_MAX if len(self._plans) > _FEW_STORIES else OPENING_FEW_MAX
        told = [plan for plan in own if plan.intro]
        heads = [plan for plan in told if plan.story.is_dated] or told
        lines: list[Line] = []
        for plan in heads:
            if plan.intro and len(lines) < most and self._is_new(plan.intro):
                lines.append(self._quote(plan, plan.intro))
        return lines or self._headlines(main if len(main) <= OPENING_MAX else own[:1])

    def _whole(self, plan: Plan) -> tuple[list[Line], list[Line]]:
        """The only main story: what opens it, and a section that goes on where that is much.

        Where nothing of it can be quoted, its headlines tell what each of them holds alone.
        """
        if plan.intro is None:
            lines = self._headlines([plan])
            for item in _spoken(plan.story.members, plan.lead):
                held = [one for line in lines for one in line.marked]
                if item.evidence not in held and item.reading.headline and len(lines) < OPENING_MAX:
                    lines.append(self._line(plan, ended(item.reading.headline), item.evidence))
            return list(dict.fromkeys(lines)), []
        chosen = self._chosen(plan, plan.intro)
        lines = [self._quote(plan, one) for one in chosen]
        cuts = (at for at in range(OPENING_MAX, 0, -1) if at < len(chosen) and chosen[at].alone)
        at = next(cuts, len(lines)) if len(lines) > OPENING_MAX else len(lines)
        plan.is_section = at < len(lines)
        return lines[:at], lines[at:]

    def _headlines(self, plans: Iterable[Plan]) -> list[Line]:
        """A headline for each story; one that two stories share serves both."""
        found = [self._line(plan, ended(plan.heading), plan.lead.evidence) for plan in plans]
        return list(dict.fromkeys(found))

    def _section(self, plan: Plan) -> list[Line]:
        """A story in a few sentences; none where the opening told all there is."""
        intro = plan.intro
        is_quoted = intro in self._said
        if intro is None or not (is_quoted or self._is_new(intro)):
            return []
        chosen = self._chosen(plan, intro)
        if is_quoted and len(chosen) == 1:
            return []
        plan.is_section = True
        return [self._quote(plan, one) for one in chosen]

    def _is_new(self, one: Extract) -> bool:
        """Whether no sentence that stands says the same."""
        stands = _key(one.text) in self._lines
        return not stands and not any(
            likeness(one.vector, other.vector) >= _AGAIN_MIN for other in self._said
        )

    def _quote(self, plan: Plan, one: Extract) -> Line:
        self._said.append(one)
        return self._line(plan, one.text, one.item.evidence)

    def _chosen(self, plan: Plan, intro: Extract) -> list[Extract]:
        """The best sentences in the order of their telling: of each development one, then more.

        The item that introduces the story comes first, then the others by time.
        """
        place = _places(plan.story)
        turns: dict[int, int] = {}
        queue = []
        for one in sorted(plan.drawn, key=lambda o: (-o.score, o.item.evidence.id, o.place)):
            at = place[one.item.evidence.id]
            turns[at] = turns.get(at, 0) + 1
            queue.append((turns[at], one))
        queue.sort(key=lambda turn: turn[0])
        many = len(plan.story.members) >= MANY_MEMBERS
        most = max(SENTENCES_MANY_MAX if many else SENTENCES_MAX, len(turns))
        chosen = [intro]
        for _, one in queue:
            if len(chosen) == min(most, SENTENCES_MOST):
                break
            if self._may_follow(one, chosen):
                chosen.append(one)
        chosen.sort(key=lambda o: (o.item is not intro.item, place[o.item.evidence.id], _turn(o)))
        return chosen

    def _may_follow(self, one: Extract, chosen: Sequence[Extract]) -> bool:
        """Whether a sentence is new, and stands alone or behind the one that it leans on."""
        intro = chosen[0]
        if one.item is intro.item and one.place <= intro.place:
            return False
        before = any(o.item is one.item and o.place == one.place - 1 for o in chosen)
        return (
            (one.alone or before)
            and self._is_new(one)
            and not any(one.repeats(other) for other in chosen)
        )

    def _line(self, plan: Plan, text: str, first: Evidence) -> Line:
        """The line of a sentence, marked with all items of the story that hold it."""
        said = Words.of(text)
        others = (item for item in plan.members if item is not first)
        held = [first, *(item for item in others if self._words_of(item).holds(said))]
        line = self._lines.setdefault(_key(text), Line(text, []))
        new = [item for item in held if item not in line.marked]
        line.marked += new[: MARKS_MAX - len(line.marked)]
        plan.lines.append(line)
        return line

    def _acknowledge(self, plan: Plan) -> None:
        """Have all whom no line of a story is marked with stand beside what tells it."""
        told = [*(item for line in plan.lines for item in line.marked), *plan.lines[-1].also]
        marked = {item.id for item in told}
        also = plan.also if plan.is_section else plan.lines[-1].also
        also += [item for item in plan.members if item.id not in marked]

    def _words_of(self, item: Evidence) -> Words:
        if item.id not in self._words:
            self._words[item.id] = Words.of(f"{item.title} {item.text}")
        return self._words[item.id]


def _plan(story: Story, language: str) -> Plan:
    lead = lead_of(story, language)
    reading = lead.reading
    words = " ".join(lead.evidence.text.split())
    opened = words[:_UNTITLED_CHARS_MAX].rpartition(" ")[0] or words
    untitled = words if len(words) <= _UNTITLED_CHARS_MAX else f"{opened}…"
    first = next(iter(reading.sentences), untitled)
    spoilt = is_broken(reading.headline) and not is_broken(first)
    return Plan(story, lead, first if spoilt else reading.headline or first)


def _is_own(one: Scored, language: str) -> bool:
    """Whether an item is in the reader's language, or in one that nothing tells."""
    return one.reading.tongue in (primary(language), None)


def _centrality(one: Scored, members: Sequence[Scored]) -> float:
    """How much of the headlines of some items is in its own, on average, 0..1."""
    own = set(one.reading.title)
    titles = [set(other.reading.title) for other in members]
    return sum(len(own & title) / max(len(title), 1) for title in titles) / len(titles)


def _turn(one: Extract) -> tuple[float, str, int]:
    return one.item.evidence.at.timestamp(), one.item.evidence.id, one.place


def _last_dated(story: Story) -> float:
    """When an item of it was last published; 0 where none says."""
    dates = (one.evidence.published_at for one in story.members)
    return max((at.timestamp() for at in dates if at is not None), default=0.0)


def _developments(story: Story) -> Sequence[Sequence[Scored]]:
    return story.developments or (story.members,)


def _places(story: Story) -> dict[str, int]:
    """The place of each item's development in the order of time."""
    parts = enumerate(_developments(story))
    return {one.evidence.id: at for at, held in parts for one in held}


def _spoken(held: Sequence[Scored], lead: Scored) -> list[Scored]:
    """Those of some items in the language of the lead: the lead, then the most relevant ones."""
    tongue = lead.reading.tongue
    spoken = [one for one in held if one.reading.tongue in (tongue, None) or tongue is None]
    spoken.sort(key=lambda one: (one is not lead, -one.score, one.evidence.id))
    return spoken


def _key(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?…\"'“”‘’。।۔")
