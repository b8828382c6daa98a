"""What is measured: the public functions that reports are made with, asked as the service does."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve
from quality_meaning import nearness, vectors_of_items
from quality_sets import FEEDS, NOW, Subject, evidence

from svc_core import catalog
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.formats.model import DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format
from svc_core.intel.incidents.story_grouping import (
    PASSES_MAX,
    WINDOW_MAX,
    first_members,
    group_new,
)
from svc_core.intel.intake import registry
from svc_core.intel.intake.record_intake import take_document
from svc_core.intel.news.model import NEWS
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import Units
from svc_core.reports.composition import LEADING, ComposedReport, Material, Window, compose
from svc_core.reports.draft import StorySelection, draft_report
from svc_core.reports.model import ReportWords
from svc_core.reports.narration import Narrator, reading_order
from svc_core.reports.profiles.model import Profile
from svc_core.search.corpus import term_weights
from svc_core.text.evidence import EvidenceTexts, Reading, ScoredItem, readings
from svc_core.text.extracts import extract_sentences, vector_of
from svc_core.text.frequencies import Frequencies
from svc_core.text.query import Query
from svc_core.text.ranking import NEAR, Nearness, Ranking, rank
from svc_core.text.sentiment import sentiment_of
from svc_core.text.stories import group_stories
from svc_core.text.topics import assign
from svc_http import system
from svc_http.stores import MemoryStorage


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


def stored_readings(items: Sequence[EvidenceTexts]) -> list[Reading]:
    """Items as a store has them: each of several that report one event names its story."""
    story = {id_: group[0] for group in groups_of(items) if len(group) > 1 for id_ in group}
    return readings(evolve(item, story=story.get(item.id)) for item in items)


def candidates_of(
    corpus: Sequence[Reading], query: Query, near: Mapping[str, Nearness], frequencies: Frequencies
) -> list[Reading]:
    """The items that the service reads for a query, with others of the stories of the first."""
    near_ids = {id_ for id_, row in near.items() if row.in_window > NEAR}
    held = [
        f"{item.evidence.title}\n{item.text}" for item in corpus if query.terms.keys() & item.counts
    ]
    weights = term_weights(query.with_holders(held).terms, frequencies)
    ranks = {
        item.evidence.id: sum(weights[term] for term in weights if term in item.counts)
        for item in corpus
    }
    firsts = sorted(corpus, key=lambda item: -ranks[item.evidence.id])[:LEADING]
    stories = {item.evidence.story for item in firsts if ranks[item.evidence.id]} - {None}
    return [
        item
        for item in corpus
        if item.evidence.id in near_ids or ranks[item.evidence.id] or item.evidence.story in stories
    ]


def ranking_of(
    corpus: Sequence[Reading], frequencies: Frequencies, topic: str, language: str
) -> Ranking:
    """What is found for a subject."""
    query, near = query_of(corpus, topic, language)
    candidates = candidates_of(corpus, query, near, frequencies)
    return rank(query, candidates, frequencies, near, window_total=len(corpus))


def matched_ids(
    corpus: Sequence[Reading], frequencies: Frequencies, topic: str, language: str
) -> set[str]:
    """The ids of what is chosen for a subject."""
    ranking = ranking_of(corpus, frequencies, topic, language)
    return {hit.reading.evidence.id for hit in ranking.hits}


def groups_of(items: Sequence[EvidenceTexts]) -> list[list[str]]:
    """The ids of the items of each event, grouped as intake groups a window."""
    groups: dict[str, list[str]] = {}
    rows = readings(items)
    vectors = vectors_of_items(BY_MEANING[0], rows) if BY_MEANING else {}
    for id_, first in first_members(rows, vectors).items():
        groups.setdefault(first, []).append(id_)
    return list(groups.values())


def agreement(folder: Path) -> tuple[int, int]:
    """How many events of the feeds under a folder are the same in two stores, of how many in both.

    One reads the feeds in the order of their names and groups once, the other backwards and groups
    after every third.
    """
    feeds = [path for name in FEEDS for path in sorted((folder / name).iterdir())]
    states = [_events(feeds, len(feeds)), _events(feeds[::-1], 3)]
    return len(states[0] & states[1]), len(states[0] | states[1])


def _events(feeds: Sequence[Path], at_once: int) -> frozenset[tuple[str, frozenset[str]]]:
    """The names and items of the events of a store that read these feeds, some at once."""
    store = MemoryStorage(catalog.COLLECTIONS)
    units = Units(store, system.SystemIds(), system.now, Keyring({1: b"k" * 32}, 1), Host())
    for number, path in enumerate(feeds, 1):
        body, location = Body(path.read_bytes()), f"https://{path.stem.lower()}.example/feed"
        try:
            document = read_document(body, recognise_format(body), Origin(base_url=location))
        except DocumentRefused:
            continue
        wish = registry.SourceWish(location)
        source = drive.run(units.write(SYSTEM, partial(registry.register_source, wish=wish)))
        take = partial(take_document, id_=source.id, document=document)
        drive.run(units.write(SYSTEM, take))
        if number % at_once == 0:
            drive.run(group_new(units))
    for _ in range(PASSES_MAX):
        drive.run(group_new(units, at_once=WINDOW_MAX))
    page = drive.run(units.read(SYSTEM, lambda ctx: ctx.tx.documents.scan(NEWS, limit=100_000)))
    groups: dict[str, set[str]] = {}
    for item in (NEWS.decode(row.raw) for row in page.rows):
        groups.setdefault(item.story_id or item.id, set()).add(item.id)
    return frozenset((name, frozenset(ids)) for name, ids in groups.items() if len(ids) > 1)


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


def opening_of(reading: Reading, frequencies: Frequencies) -> str | None:
    """The sentence that a report of one item begins with; None where its headline stands alone."""
    story = group_stories([ScoredItem(reading, 1.0)], frequencies)
    lines = Narrator(story, reading.language or "en", frequencies).narrate_stories().opening
    sentences = {line.text for line in lines} & {*reading.sentences}
    return next((line.text for line in lines if line.text in sentences), None)


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
