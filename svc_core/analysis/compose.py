"""From a profile and its evidence to a draft: select, group, order, tell.

Rule 1: the same evidence in any order gives the same draft.
Rule 2: nothing matching gives a short draft that says so, with no source and no citation.
"""

from collections.abc import Iterable, Sequence

from attrs import frozen

from svc_core.analysis._wording import ended, nothing, title
from svc_core.analysis.draft import Draft, Period, Report
from svc_core.analysis.evidence import Evidence
from svc_core.analysis.grouping import Story, stories
from svc_core.analysis.query import Query
from svc_core.analysis.relevance import choose, readings
from svc_core.analysis.telling import KEY_POINTS_MAX, Teller, rank

STORIES_MAX = 60  # a report is read by people; stories beyond this are counted, not told


def report(
    name: str,
    topic: str,
    period: Period,
    evidence: Iterable[Evidence],
    *,
    keywords: Sequence[str] = (),
    language: str = "en",
) -> Report:
    """The whole way from a profile and the evidence of a period to a draft and its stories."""
    told = tell(topic, evidence, keywords=keywords, language=language)
    draft = compose(
        name, topic, period, told.stories, language=language, considered=told.considered
    )
    matches = sum(len(story.members) for story in told.stories)
    return Report(draft, told.stories[:STORIES_MAX], matches)


@frozen
class Told:
    """The stories about a subject in the order of their telling, out of `considered` items."""

    stories: tuple[Story, ...]
    considered: int


def tell(
    topic: str,
    evidence: Iterable[Evidence],
    *,
    keywords: Sequence[str] = (),
    language: str = "en",
) -> Told:
    """Select what is about the subject, group it into stories and order them."""
    held = readings(evidence)
    query = Query.of(topic, keywords, language)
    chosen = choose(query, held)
    found = stories(chosen, held, adopting=not query.excluded)
    return Told(tuple(rank(found, language)), len(held))


def compose(
    name: str,
    topic: str,
    period: Period,
    told: Sequence[Story],
    *,
    language: str = "en",
    considered: int = 0,
) -> Draft:
    """The draft of stories that are already in the order of their telling (`telling.rank`)."""
    teller = Teller(language)
    plans = [teller.plan(story) for story in told[:STORIES_MAX]]
    summary = teller.summarise(plans)
    sections = teller.sections(plans)
    headlines = teller.headlines(plans)
    return Draft(
        title=title(name, period, language),
        summary=" ".join(ended(cited.text) for cited in summary)
        or nothing(topic, period, language),
        summary_sentences=tuple(summary),
        key_points=tuple(headlines[:KEY_POINTS_MAX]),
        sections=tuple(sections),
        briefs=tuple(headlines[KEY_POINTS_MAX:]),
        sources=tuple(teller.sources),
        language=language,
        period=period,
        story_keys=tuple(plan.story.key for plan in plans),
        stories_untold=max(0, len(told) - STORIES_MAX),
        items_considered=considered,
    )
