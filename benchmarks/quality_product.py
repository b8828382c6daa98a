"""What is measured: the public functions that reports are made with, asked as the service does."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from quality_meaning import nearness
from quality_sets import NOW, Subject, evidence

from svc_core.reports.composition import ComposedReport, Material, Window, compose
from svc_core.reports.draft import StorySelection, draft_report
from svc_core.reports.model import ReportWords
from svc_core.reports.narration import reading_order
from svc_core.reports.profiles.model import Profile
from svc_core.text.evidence import EvidenceTexts, Reading, ScoredItem, readings
from svc_core.text.extracts import extract_sentences, vector_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import NEAR, Nearness, Ranking, rank
from svc_core.text.sentiment import sentiment_of
from svc_core.text.stories import group_stories
from svc_core.text.topics import assign


def frequencies_of(corpus: Iterable[Reading]) -> Frequencies:
    """How common terms are in a store that holds these."""
    return Frequencies.of((*reading.title, *reading.lead, *reading.rest) for reading in corpus)


BY_MEANING: list[str] = []  # the model, where items are found by their meaning, too


def query_of(
    corpus: Sequence[Reading], topic: str, language: str
) -> tuple[Query, Mapping[str, Nearness]]:
    """The query for a subject, and how near each item is to it where meaning is compared."""
    near = nearness(BY_MEANING[0], corpus, topic) if BY_MEANING else {}
    return Query.of(topic, (), language), near


def candidates_of(
    corpus: Sequence[Reading], query: Query, near: Mapping[str, Nearness]
) -> list[Reading]:
    """The items that the service reads for a query."""
    near_ids = {id_ for id_, row in near.items() if row.in_window > NEAR}
    return [
        item
        for item in corpus
        if item.evidence.id in near_ids or not query.terms.keys().isdisjoint(item.counts)
    ]


def ranking_of(
    corpus: Sequence[Reading], frequencies: Frequencies, topic: str, language: str
) -> Ranking:
    """What is found for a subject."""
    query, near = query_of(corpus, topic, language)
    candidates = candidates_of(corpus, query, near)
    return rank(query, candidates, frequencies, near, window_total=len(corpus))


def matched_ids(
    corpus: Sequence[Reading], frequencies: Frequencies, topic: str, language: str
) -> set[str]:
    """The ids of what is chosen for a subject."""
    ranking = ranking_of(corpus, frequencies, topic, language)
    return {hit.reading.evidence.id for hit in ranking.hits}


def groups_of(items: Sequence[EvidenceTexts], frequencies: Frequencies) -> list[list[str]]:
    """The ids of the items of each story."""
    hits = [ScoredItem(reading, 1.0) for reading in readings(items)]
    return [
        [member.evidence.id for member in story.members]
        for story in group_stories(hits, frequencies)
    ]


def composed(
    subject: Subject, items: Sequence[EvidenceTexts], frequencies: Frequencies
) -> ComposedReport:
    """The report on a subject over all items."""
    profile = Profile(
        id="prf_0123456789abcdefghjkmnpqrs",
        name=subject.key,
        topic=subject.wordings[0],
        frequency="daily",
        schedule_time_of_day="06:00",
        schedule_day=None,
        timezone="UTC",
        language=subject.language,
        keywords=(),
        status="active",
        created_at=NOW,
        updated_at=NOW,
    )
    material = Material(
        tenant="tnt_quality",
        profile=profile,
        window=Window(NOW),
        evidence=tuple(items),
        frequencies=frequencies,
    )
    return compose(material, NOW)


def marks(report: ComposedReport) -> Iterator[tuple[str, list[str]]]:
    """Every statement of a report with the ids of the items that its marks name."""
    ids = {source.number: source.id for source in report.facets.sources}
    words: Any = report.facets
    sections = [section.statements for section in words.sections]
    for statements in (words.opening, words.key_points, *sections, words.briefs):
        for statement in statements:
            yield statement.text, [ids[number] for number in statement.citations]


def words_of(items: Sequence[EvidenceTexts], frequencies: Frequencies) -> ReportWords:
    """What a report of all these items says."""
    hits = [ScoredItem(reading, 1.0) for reading in readings(items)]
    stories = tuple(reading_order(group_stories(hits, frequencies)))
    selection = StorySelection(stories, (), len(hits), frequencies)
    return draft_report("All", "all", None, selection).words


def also_pairs(words: ReportWords) -> Iterator[tuple[str, str]]:
    """The item that a passage is taken from and each that is named as also reporting it."""
    ids = {source.number: source.id for source in words.sources}
    passages = [(line, line.also_reported_by) for line in (*words.key_points, *words.briefs)]
    passages += [(line, line.also_reported_by) for line in words.opening]
    passages += [
        (part.statements[0], part.statements[-1].also_reported_by) for part in words.sections
    ]
    for line, also in passages:
        yield from ((ids[line.citations[0]], ids[number]) for number in also)


def line_pairs(words: ReportWords) -> Iterator[tuple[str, str]]:
    """The item that a section begins with and that of each later sentence, where they differ."""
    ids = {source.number: source.id for source in words.sources}
    for section in words.sections:
        first, *rest = (ids[line.citations[0]] for line in section.statements)
        yield from ((first, id_) for id_ in rest if id_ != first)


def sentences_of(
    title: str, sentences: Sequence[str], frequencies: Frequencies, count: int
) -> set[int]:
    """The places of the best sentences of an article, as far as ours are split as its own are."""
    (reading,) = readings([evidence("article", title, "\n".join(sentences))])
    head = vector_of(title, reading.language, frequencies)
    best = sorted(
        extract_sentences([ScoredItem(reading, 1.0)], head, frequencies),
        key=lambda extract: -extract.score,
    )
    place = {" ".join(text.split()): at for at, text in enumerate(sentences)}
    return {place[extract.text] for extract in best[:count] if extract.text in place}


def topics_of(title: str, text: str, language: str | None) -> tuple[str, ...]:
    """The topics of an item."""
    options = {"language": language} if "language" in inspect.signature(assign).parameters else {}
    return assign(title, text, **options)


def tone(title: str) -> str:
    """The label of a headline's tone."""
    tone_ = sentiment_of(title, "", "en")
    return "neutral" if tone_ is None else tone_.label
