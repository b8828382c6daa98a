"""How stories are told: which item leads, which sentences are quoted, and where each one stands.

Rule 1: a sentence is taken once; a near-copy of a taken sentence is never taken.
Rule 2: what is quoted of a story is in the language of its lead; other items corroborate.
Rule 3: sentences that lean on one before them ("He also said ...") stand only in a section.
"""

import re
from collections.abc import Iterable, Sequence
from math import log2

from attrs import define, field

from svc_core.analysis._wording import primary
from svc_core.analysis.draft import Cited, Section, Source
from svc_core.analysis.entities import OTHER, mentions
from svc_core.analysis.evidence import Evidence
from svc_core.analysis.grouping import ADOPTED_SCORE, Story
from svc_core.analysis.language import guess
from svc_core.analysis.relevance import Scored
from svc_core.analysis.tokens import tokens
from svc_core.analysis.topics import TOPICS

KEY_POINTS_MAX = 7
SECTIONS_MAX = 12
SECTION_SENTENCES_MAX = 3
SUMMARY_SENTENCES_MAX = 3
QUOTED_MEMBERS_MAX = 8  # of a story that a hundred sites copied, the first few say it all
CITATIONS_MAX = 5  # of one sentence

_FEW_STORIES = 4
_HEADLINES_SUMMARY = 2  # headlines that stand for a summary where no item has a text
_COPY_MIN = 0.6  # Jaccard of terms from which two sentences say the same
_HELD_MIN = 0.8  # share of the shorter one's terms
_LONGER_MAX = 1.5  # a longer sentence that holds a shorter one adds to it
_LABEL_NAMES = 2
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
    r"\b(?:photographed|pictured)\b|, (?:left|right|center|centre),|\bfile photo\b", re.I
)
_ENDED = re.compile(r"""(?<!\.\.)[.!。！।۔]["'”’»)\]」』）]*$""")


@define(eq=False)
class Plan:
    """One story on its way into the draft: what has been quoted and what is left to quote."""

    story: Story
    lead: Scored
    language: str | None
    heading: str
    left: list[tuple[str, Evidence]]
    others: list[tuple[str, Evidence]]
    is_told: bool = False
    quoted: set[str] = field(factory=set)

    @property
    def members(self) -> list[Evidence]:
        """The items, the lead first, then by time."""
        rest = [one.evidence for one in self.story.members if one is not self.lead]
        return [self.lead.evidence, *rest]


def rank(found: Iterable[Story], language: str) -> list[Story]:
    """Stories in the order of their telling: weight with a bonus for the reader's own language."""
    held = list(found)
    newest = max((story.last_at for story in held), default=None)

    def weight(story: Story) -> float:
        age = (newest - story.last_at).total_seconds() / 86_400 if newest else 0.0
        lead = lead_of(story, language)
        own = language_of(lead) in (primary(language), None)
        return (
            story.score
            + 0.12 * log2(len(story.publishers))
            + 0.2 * own
            + 0.1 / (1 + age)
            + 0.05 * bool(lead.reading.sentences)
        )

    return sorted(held, key=lambda s: (-round(weight(s), 6), -s.last_at.timestamp(), s.key))


def language_of(scored: Scored) -> str | None:
    """The primary language of an item, stated or guessed."""
    evidence = scored.evidence
    return guess(f"{evidence.title} {evidence.text}", evidence.language)


def lead_of(story: Story, language: str) -> Scored:
    """The member that tells the story: the reader's language, then text, relevance and id."""

    def merit(one: Scored) -> tuple[bool, bool, bool, int, float, str]:
        own = language_of(one) == primary(language)
        broken = bool(_BROKEN.search(f"{one.reading.headline} {one.evidence.text}"))
        enough = min(len(one.reading.sentences), 2)
        adopted = one.score <= ADOPTED_SCORE
        worded = not broken and bool(one.reading.headline)
        return (adopted, not own, not worded, -enough, -one.score, one.evidence.id)

    return min(story.members, key=merit)


class Teller:
    """Hands out sentences and source numbers, each once. One for a draft."""

    def __init__(self, language: str, subject: str) -> None:
        """Tell in `language`; names in `subject` head nothing, as every story has them."""
        self.language = primary(language)
        self.sources: list[Source] = []
        self._numbers: dict[str, int] = {}
        self._taken: list[frozenset[str]] = []
        self._texts: set[str] = set()
        self._labels: set[str] = set()
        self._subject = frozenset(tokens(subject))

    def plan(self, story: Story) -> Plan:
        """What can be told of a story, near-copies among its own sentences left out."""
        lead = lead_of(story, self.language)
        spoken = language_of(lead)
        others = [m for m in story.members if m is not lead and language_of(m) == spoken]
        heading = lead.reading.headline or next(iter(lead.reading.sentences), "")
        said = [frozenset(tokens(heading))]
        left: list[tuple[str, Evidence]] = []
        for one in [lead, *others[:QUOTED_MEMBERS_MAX]]:
            left.extend(
                (sentence, one.evidence)
                for sentence in one.reading.sentences
                if not sentence.endswith(("...", "…")) and _is_new(sentence, said)
            )
        titles = [
            (one.reading.headline, one.evidence)
            for one in others[:QUOTED_MEMBERS_MAX]
            if one.reading.headline and _is_new(one.reading.headline, said)
        ]
        return Plan(story, lead, spoken, heading, left, titles)

    def summarise(self, plans: Sequence[Plan]) -> list[Cited]:
        """Two or three sentences of the best stories, those with something left to tell first."""
        own = [plan for plan in plans[:KEY_POINTS_MAX] if plan.language in (self.language, None)]
        heads = own or list(plans[:KEY_POINTS_MAX])
        ready = [plan for plan in heads if len(plan.left) + len(plan.others) >= 2]
        chosen = [*ready, *(plan for plan in heads if plan not in ready)]
        found: list[Cited] = []
        wanted = SUMMARY_SENTENCES_MAX if len(plans) > _FEW_STORIES else SUMMARY_SENTENCES_MAX - 1
        for plan in chosen:
            if len(found) == wanted:
                break
            found.extend(self._quote(plan, plan.left, alone=True))
        for plan in heads[: min(_HEADLINES_SUMMARY, max(len(plans) - 1, 1)) if not found else 0]:
            found.extend(self._headline(plan))
        return found

    def points(self, plans: Sequence[Plan]) -> list[Cited]:
        """One sentence for each of the best stories: another headline, a spare one, its own."""
        found: list[Cited] = []
        for plan in plans[: KEY_POINTS_MAX + _HEADLINES_SUMMARY]:
            if len(found) == KEY_POINTS_MAX:
                break
            spare = plan.left if len(plan.left) > 1 else []
            point = self._quote(plan, plan.others, alone=False) or self._quote(
                plan, spare, alone=True
            )
            found.extend(point or self._headline(plan))
        return found

    def sections(self, plans: Sequence[Plan]) -> list[Section]:
        """The best stories that still have something to tell."""
        found: list[Section] = []
        for plan in plans[:SECTIONS_MAX]:
            said = self._passage(plan)
            if said:
                found.append(self._section(plan, tuple(said)))
        return found

    def briefs(self, plans: Sequence[Plan]) -> list[Cited]:
        """A headline for each story that nothing has told yet."""
        return [cited for plan in plans if not plan.is_told for cited in self._headline(plan)]

    def _passage(self, plan: Plan) -> list[Cited]:
        """Up to three sentences; one that leans is taken only right after the one it leans on."""
        said: list[Cited] = []
        before: tuple[str, int] | None = None
        for text, item in list(plan.left):
            if len(said) == SECTION_SENTENCES_MAX:
                break
            at = item.id, self._position(plan, text, item)
            leans = bool(_LEANING.match(text.lstrip(_QUOTES)))
            if leans and before != (at[0], at[1] - 1):
                continue
            if self._take(text):
                said.append(Cited(text, (self._number(item),)))
                before = at
        plan.is_told = plan.is_told or bool(said)
        return said

    @staticmethod
    def _position(plan: Plan, text: str, item: Evidence) -> int:
        held = next(one for one in plan.story.members if one.evidence is item)
        return held.reading.sentences.index(text)

    def _section(self, plan: Plan, said: tuple[Cited, ...]) -> Section:
        heading = self._label(plan) if _key(plan.heading) in self._texts else plan.heading
        self._labels.add(heading)
        self._take(plan.heading)
        cited = tuple(self._number(item) for item in plan.members)
        shown = {number for sentence in said for number in sentence.citations}
        return Section(
            key=plan.story.key,
            heading=heading,
            sentences=said,
            citations=cited,
            corroborating=tuple(number for number in cited if number not in shown),
            topics=plan.lead.evidence.topics,
            language=plan.language,
            at=plan.lead.evidence.at,
            score=plan.story.score,
        )

    def _quote(self, plan: Plan, pool: list[tuple[str, Evidence]], *, alone: bool) -> list[Cited]:
        """The next sentence of a pool that is new to the draft, cited, or nothing."""
        for at, (text, item) in enumerate(pool):
            if (not alone or self._speaks(plan, text, item)) and self._take(text):
                del pool[at]
                plan.is_told = True
                return [Cited(text, (self._number(item),))]
        return []

    def _speaks(self, plan: Plan, text: str, item: Evidence) -> bool:
        """Whether a sentence can tell the story by itself: the first one, or one of its subject."""
        shared = set(tokens(text)) & set(tokens(plan.heading))
        first = self._position(plan, text, item) == 0
        return _stands_alone(text) and (first or len(shared) >= _SUBJECT_TERMS_MIN)

    def _headline(self, plan: Plan) -> list[Cited]:
        """The story's own headline with its sources."""
        if not plan.heading or not self._take(plan.heading):
            return []
        plan.is_told = True
        return [Cited(plan.heading, tuple(self._number(m) for m in plan.members[:CITATIONS_MAX]))]

    def _take(self, text: str) -> bool:
        terms = frozenset(tokens(text))
        if _key(text) in self._texts or any(_is_copy(terms, other) for other in self._taken):
            return False
        self._texts.add(_key(text))
        self._taken.append(terms)
        return True

    def _label(self, plan: Plan) -> str:
        """The names that a story is about, without the subject's own; else its
        topic, else its headline."""
        found = mentions([plan.lead.reading], plan.language)
        headline = plan.heading.casefold()
        named = sorted(
            (m for m in found if not set(tokens(m.name)) <= self._subject),
            key=lambda m: (m.name.casefold() not in headline, m.kind == OTHER, -m.count),
        )
        names = [mention.name for mention in named]
        topics = [topic.name for topic in TOPICS if topic.id in plan.lead.evidence.topics]
        labels = [", ".join(names[:size]) for size in range(_LABEL_NAMES, len(names) + 1)]
        single = names[:1] if len(names) < _LABEL_NAMES else []
        options = [*labels, *single, *topics]
        return next((one for one in options if one not in self._labels), plan.heading)

    def _number(self, item: Evidence) -> int:
        if item.id not in self._numbers:
            self._numbers[item.id] = len(self.sources) + 1
            self.sources.append(
                Source(
                    number=len(self.sources) + 1,
                    id=item.id,
                    title=" ".join(item.title.split()),
                    url=item.url,
                    name=item.source_name,
                    domain=item.source_domain,
                    source_id=item.source_id,
                    published_at=item.published_at,
                    language=item.language,
                )
            )
        return self._numbers[item.id]


def _key(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .!?…\"'“”‘’")


def _is_new(sentence: str, said: list[frozenset[str]]) -> bool:
    terms = frozenset(tokens(sentence))
    if any(_is_copy(terms, other) for other in said):
        return False
    said.append(terms)
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


def _stands_alone(text: str) -> bool:
    words = len(text.split())
    unspaced = words == 1
    fits = _WORDS_MIN <= words <= _WORDS_MAX or unspaced
    if _BROKEN.search(text) or _CAPTION.search(text) or text.count("“") != text.count("”"):
        return False
    return fits and bool(_ENDED.search(text)) and not _LEANING.match(text.lstrip(_QUOTES))
