"""How stories are told: which item leads, which sentences are quoted, and where each one stands.

Rule 1: a sentence is taken once; a near-copy of a taken sentence is never taken.
Rule 2: what is quoted of a story is in the language of its lead; other items corroborate.
Rule 3: sentences that lean on one before them ("He also said ...") stand only in a section.
"""

import re
from collections.abc import Iterable, Sequence
from math import log2

from attrs import define

from svc_core.analysis.stories import Story
from svc_core.resources.report import Section, Statement
from svc_core.text.evidence import Evidence, Scored
from svc_core.text.language import primary
from svc_core.text.words import terms

KEY_POINTS_MAX = 7
SECTIONS_MAX = 8
SUMMARY_STORIES_MAX = 7  # a summary speaks of the best stories alone
SECTION_SENTENCES_MAX = 3
MANY_MEMBERS = 4  # a story that so many items tell gets more room
MANY_SENTENCES_MAX = 5
LEAD_SENTENCES = 2  # of the leading item before the others have their turn
SUMMARY_SENTENCES_MAX = 3
QUOTED_MEMBERS_MAX = 8  # of a story that a hundred sites copied, the first few say it all
CITATIONS_MAX = 12  # of one sentence; of what a hundred sites copied, a dozen show it

_FEW_STORIES = 4
_SECTIONS_MIN = 3
_HEADLINES_SUMMARY = 2  # headlines that stand for a summary where no item has a text
_COPY_MIN = 0.6  # Jaccard of terms from which two sentences say the same
_HELD_MIN = 0.8  # share of the shorter one's terms
_LONGER_MAX = 1.5  # a longer sentence that holds a shorter one adds to it
_SUBJECT_TERMS_MIN = 2
_WORDS_MIN, _WORDS_MAX = 6, 45

_LEANING = re.compile(
    r"(?:he|she|it|they|we|i|you|his|her|its|their|our|my|this|these|those|that|there|here|and|but|or|so|yet|however|"
    r"also|after that|nevertheless|even better|in addition|thus|therefore|otherwise|likewise|"
    r"finally|then|still|meanwhile|instead|moreover|il|elle|ils|elles|ce|cette|ces|mais|et|er|sie|es|aber|und|"
    r"doch|dies|diese|dieser|pero|y|ele|ela|mas|он|она|они|но|это)\b",
    re.IGNORECASE,
)
_QUOTES = "\"'“‘«„("
_BROKEN = re.compile("Ã[\u0080-\u00bf ]|â€|Â[\u00a0-\u00bf]")  # UTF-8 read as Latin-1 by the source
_CAPTION = re.compile(
    r"\b(?:photographed|pictured|seen here)\b|, (?:left|right|center|centre),|\bfile photo\b", re.I
)
_ASIDE = re.compile(  # a headline that asks, comments or shows, where another one tells
    r"\?$|\?\s*[|–-]|\|\s*(?:[A-Z][\w.’'-]+\s?){2,4}$|[–|-]\s*(?:video|podcast)\b"
    r"|[–|-]\s*(?:in pictures|live|opinion)\b"
)
_PLACE_ONLY = re.compile(r"(?:in|at|near|on|outside)(?:\s\S+){1,5}$", re.IGNORECASE)
_ENDED = re.compile(r"""(?<!\.\.)[.!?。！？।۔]["'”’»)\]」』）]*$""")


@define(eq=False)
class Plan:
    """One story on its way into the draft: what has been quoted and what is left to quote."""

    story: Story
    lead: Scored
    language: str | None
    heading: str
    left: list[tuple[str, Evidence]]
    is_told: bool = False

    @property
    def members(self) -> list[Evidence]:
        """The items, the lead first, then by time."""
        rest = [one.evidence for one in self.story.members if one is not self.lead]
        return [self.lead.evidence, *rest]


def in_order(found: Iterable[Story], language: str) -> list[Story]:
    """Stories in the order of their telling: weight with a bonus for the reader's own language."""
    held = list(found)
    newest = max((story.last_at for story in held), default=None)

    def weight(story: Story) -> float:
        age = (newest - story.last_at).total_seconds() / 86_400 if newest else 0.0
        lead = lead_of(story, language)
        own = lead.evidence.tongue in (primary(language), None)
        return (
            story.score
            + 0.12 * log2(len(story.publishers))
            + 0.2 * own
            + 0.1 / (1 + age)
            + 0.05 * bool(lead.reading.sentences)
        )

    return sorted(held, key=lambda s: (-round(weight(s), 6), -s.last_at.timestamp(), s.key))


def lead_of(story: Story, language: str) -> Scored:
    """The member that tells the story: the reader's language, then text, relevance and id."""

    def merit(one: Scored) -> tuple[bool, bool, bool, int, float, str]:
        own = one.evidence.tongue == primary(language)
        broken = bool(_BROKEN.search(f"{one.reading.headline} {one.evidence.text}"))
        enough = min(len(one.reading.sentences), 2)
        worded = not broken and bool(one.reading.headline)
        aside = bool(_ASIDE.search(one.reading.headline))
        return (not own, not worded, aside, -enough, -one.score, one.evidence.id)

    return min(story.members, key=merit)


class Teller:
    """Hands out sentences and source numbers, each once. One for a draft."""

    def __init__(self, language: str) -> None:
        """Tell in `language`."""
        self.language = primary(language)
        self.cited: list[Evidence] = []
        self._numbers: dict[str, int] = {}
        self._taken: list[frozenset[str]] = []
        self._texts: set[str] = set()

    def plan(self, story: Story) -> Plan:
        """What can be told of a story, near-copies among its own sentences left out."""
        lead = lead_of(story, self.language)
        spoken = lead.evidence.tongue
        others = [m for m in story.members if m is not lead and m.evidence.tongue == spoken]
        heading = lead.reading.headline or next(iter(lead.reading.sentences), "")
        said = [frozenset(terms(heading))]
        told = [lead, *others[:QUOTED_MEMBERS_MAX]]
        turns = [
            (at >= LEAD_SENTENCES if one is lead else at > 0, n, at, one)
            for n, one in enumerate(told)
            for at in range(len(one.reading.sentences))
        ]
        left = [
            (one.reading.sentences[at], one.evidence)
            for _, _, at, one in sorted(turns, key=lambda turn: turn[:3])
            if _is_whole(one.reading.sentences[at]) and _is_new(one.reading.sentences[at], said)
        ]
        return Plan(story, lead, spoken, heading, left)

    def summarise(self, plans: Sequence[Plan]) -> list[Statement]:
        """Two or three sentences of the best stories, those with more to tell in a section first.

        A summary has whole sentences that are understood alone; where no item has one, headlines.
        """
        own = [p for p in plans[:SUMMARY_STORIES_MAX] if p.language in (self.language, None)]
        heads = own or list(plans[:SUMMARY_STORIES_MAX])
        ready = [plan for plan in heads if len(plan.left) > 1]
        wanted = SUMMARY_SENTENCES_MAX if len(plans) > _FEW_STORIES else SUMMARY_SENTENCES_MAX - 1
        plain = [*ready, *(plan for plan in heads if plan not in ready)]
        found: list[Statement] = []
        for near in (True, False):
            for plan in () if found and not near else plain:
                if len(found) < wanted:
                    found.extend(self._quote(plan, near=near))
        for plan in heads[: min(_HEADLINES_SUMMARY, max(len(plans) - 1, 1)) if not found else 0]:
            found.extend(self._headline(plan))
        return found

    def sections(self, plans: Sequence[Plan]) -> list[Section]:
        """The best stories that have something to tell beyond the summary; half of them at most."""
        found: list[Section] = []
        for plan in plans:
            if len(found) == min(SECTIONS_MAX, max(_SECTIONS_MIN, (len(plans) + 1) // 2)):
                break
            said = self._passage(plan)
            if said:
                found.append(self._section(plan, tuple(said)))
        return found

    def headlines(self, plans: Sequence[Plan]) -> list[Statement]:
        """A headline for each story that nothing has told yet, in order."""
        return [cited for plan in plans if not plan.is_told for cited in self._headline(plan)]

    def _passage(self, plan: Plan) -> list[Statement]:
        """A few sentences; one that leans is taken only right after the one it leans on."""
        said: list[Statement] = []
        before: tuple[str, int] | None = None
        many = len(plan.story.members) >= MANY_MEMBERS
        most = MANY_SENTENCES_MAX if many else SECTION_SENTENCES_MAX
        for text, item in plan.left:
            if len(said) == most:
                break
            at = item.id, self._position(plan, text, item)
            leans = bool(_LEANING.match(text.lstrip(_QUOTES)))
            if leans and before != (at[0], at[1] - 1):
                continue
            if self._take(text):
                said.append(Statement(text, (self._number(item),)))
                before = at
        plan.is_told = plan.is_told or bool(said)
        return said

    @staticmethod
    def _position(plan: Plan, text: str, item: Evidence) -> int:
        held = next(one for one in plan.story.members if one.evidence is item)
        return held.reading.sentences.index(text)

    def _section(self, plan: Plan, said: tuple[Statement, ...]) -> Section:
        self._take(plan.heading)
        return Section(
            id=plan.story.key,
            heading=plan.heading,
            statements=said,
            citations=tuple(self._number(item) for item in plan.members),
            topics=plan.lead.evidence.topics,
        )

    def _quote(self, plan: Plan, *, near: bool) -> list[Statement]:
        """The next sentence that is understood alone (`near`: in the headline's words), cited."""
        for at, (text, item) in enumerate(plan.left):
            first = self._position(plan, text, item) == 0 and _stands_alone(text)
            if (self._speaks(plan, text) if near else first) and self._take(text):
                del plan.left[at]
                plan.is_told = True
                return [Statement(text, self._cited(plan, item))]
        return []

    def _cited(self, plan: Plan, first: Evidence) -> tuple[int, ...]:
        """The numbers of a story's items, the quoted one first."""
        others = [item for item in plan.members if item is not first]
        return tuple(self._number(item) for item in [first, *others][:CITATIONS_MAX])

    @staticmethod
    def _speaks(plan: Plan, text: str) -> bool:
        """Whether a sentence can tell the story by itself: a whole one, of the same subject."""
        subject = set(terms(plan.heading))
        shared = len(set(terms(text)) & subject)
        return _stands_alone(text) and shared >= min(_SUBJECT_TERMS_MIN, len(subject))

    def _headline(self, plan: Plan) -> list[Statement]:
        """The story's own headline with its sources."""
        if not plan.heading or not self._take(plan.heading):
            return []
        plan.is_told = True
        return [Statement(plan.heading, self._cited(plan, plan.lead.evidence))]

    def _take(self, text: str) -> bool:
        held = frozenset(terms(text))
        if _key(text) in self._texts or any(_is_copy(held, other) for other in self._taken):
            return False
        self._texts.add(_key(text))
        self._taken.append(held)
        return True

    def _number(self, item: Evidence) -> int:
        if item.id not in self._numbers:
            self.cited.append(item)
            self._numbers[item.id] = len(self.cited)
        return self._numbers[item.id]


def _key(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?…\"'“”‘’")


def _is_new(sentence: str, said: list[frozenset[str]]) -> bool:
    held = frozenset(terms(sentence))
    if any(_is_copy(held, other) for other in said):
        return False
    said.append(held)
    return True


def _is_copy(left: frozenset[str], right: frozenset[str]) -> bool:
    shared = len(left & right)
    smaller = min(len(left), len(right))
    if smaller < 3:
        return left == right
    nearly_as_long = max(len(left), len(right)) <= _LONGER_MAX * smaller
    return shared >= _COPY_MIN * len(left | right) or (
        nearly_as_long and shared >= _HELD_MIN * smaller
    )


def _is_whole(text: str) -> bool:
    """Whether a text is a sentence with a beginning and an end, no fragment of one."""
    if _PLACE_ONLY.match(text):
        return False
    if _BROKEN.search(text) or _CAPTION.search(text) or text.count("“") != text.count("”"):
        return False
    return bool(_ENDED.search(text)) and not text.lstrip(_QUOTES)[:1].islower()


def _stands_alone(text: str) -> bool:
    """Whether a whole sentence is understood without the one before it."""
    words = len(text.split())
    unspaced = words == 1
    return (_WORDS_MIN <= words <= _WORDS_MAX or unspaced) and not _LEANING.match(
        text.lstrip(_QUOTES)
    )
