"""Builds the representations of a report: expansions, the agent's view, the facets.

Rule 1: an expansion that was not asked for is left out, one that is unknown is null, one that is
        known to be empty is `[]` (Spec: Missing-value semantics).
Rule 2: reports made before signals were extracted have no signals; those made before graphs were
        have a null graph with zero counts (Spec: Report).
"""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypeVar

import attrs
from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, Unset
from svc_core.base.views import reshape
from svc_core.operation.members import ReportId
from svc_core.reports.audio import AudioFacet
from svc_core.reports.model import (
    Anchors,
    Edges,
    GraphCounts,
    Language,
    Nodes,
    Period,
    ReportDetail,
    ReportFacets,
    ReportGraph,
    ReportRow,
    Signals,
    Sources,
    Statement,
    Summary,
    Title,
    Truncated,
    numbers_of,
)
from svc_core.reports.render import bare, reading_seconds, whole_passage, word_count
from svc_core.wire.constraints import Example

T = TypeVar("T")


@frozen
class SignalsFacet:
    """A report's signals."""

    report_id: ReportId
    signals: Signals


@frozen
class GraphFacet:
    """A report's graph; `graph` is null, and the counts zero, where none was extracted."""

    report_id: ReportId
    counts: GraphCounts
    nodes: Maybe[Nodes] = UNSET
    edges: Maybe[Edges] = UNSET
    incident_anchors: Maybe[Anchors] = UNSET
    citations: Maybe[Sources] = UNSET
    truncated: Maybe[Truncated] = UNSET
    graph: Maybe[ReportGraph | None] = UNSET
    """Null for reports made before graphs were, else left out."""


@frozen
class TextFacet:
    """A report's words without markup."""

    report_id: ReportId
    text: Annotated[str, Example("Port strikes\n\nDockworkers at Antwerp joined the walkout.\n")]
    """The words, paragraphs parted by an empty line."""
    word_count: Annotated[int, Example(8)]
    """Words of the text."""
    reading_time_seconds: Annotated[int, Example(3)]
    """At 238 words a minute."""


@frozen
class AudioTextFacet:
    """A report's words prepared for speech synthesis, with an intro and an outro."""

    report_id: ReportId
    text: Annotated[
        str,
        Example(
            "Port strikes: January 31st, 2026. This report covers January thirty-first, "
            "2026. It draws on 1 source.\n\nDockworkers at Antwerp joined the walkout.\n\nThat was "
            "the report: Port strikes: January 31st, 2026. Thank you for listening.\n"
        ),
    ]
    """What a voice reads as it stands: no markup, and signs and shortenings in words."""
    word_count: Annotated[int, Example(35)]
    """Words of the text."""
    estimated_duration_seconds: Annotated[int, Example(14)]
    """At 150 words a minute."""


@frozen
class AgentReport:
    """The compact form for language models: no markup, every claim with its citations."""

    id: ReportId
    title: Title
    summary: Summary
    period: Period
    language: Language
    key_points: tuple[Statement, ...]
    """The sentences that matter most, those of the summary first, each with its sources."""
    briefs: tuple[Statement, ...]
    """The other stories, a headline each."""
    notes: Annotated[tuple[str, ...], Example([])]
    """What to know of the sources as a whole, such as how many state no date."""
    signals: Signals
    sources: Sources


def expand(
    row: ReportRow,
    facets: ReportFacets,
    expansions: frozenset[str],
    audio: AudioFacet | None = None,
) -> ReportDetail:
    """The row with the expansions that are asked for."""
    parts = {
        "content": facets.content,
        "sources": facets.sources,
        "signals": facets.signals or (),
        "graph": facets.graph,
        "audio": audio,
    }
    return reshape(ReportDetail, row, **{name: parts[name] for name in expansions})


def agent_view(row: ReportRow, facets: ReportFacets) -> AgentReport:
    """A report in the compact form: the opening, then each story in a line.

    Sources of a section that none of its lines cites stand beside its first sentence.
    """
    points = {point.text for point in facets.key_points}
    opening = facets.opening if facets.sources else ()
    lead = tuple(statement for statement in opening if statement.text not in points)
    return reshape(
        AgentReport,
        row,
        title=bare(row.title),
        summary=bare(row.summary),
        key_points=_bare(_with_sections((*lead, *facets.key_points), facets), "text"),
        briefs=_bare(facets.briefs, "text"),
        notes=tuple(map(bare, facets.notes)),
        signals=_bare(facets.signals or (), "title", "summary", "statement"),
        sources=_bare(facets.sources, "title", "name"),
    )


def _with_sections(lines: tuple[Statement, ...], facets: ReportFacets) -> Iterator[Statement]:
    """The lines and the sections that none of them covers, each with its further sources."""
    numbers = {number for line in lines for number in numbers_of(line)}
    sections = {part[0].text: part for part in map(whole_passage, facets.sections) if part}
    for line in lines:
        more = sections.pop(line.text, (Statement("", ()),))[-1]
        yield attrs.evolve(
            line,
            also_reported_by=(*line.also_reported_by, *_without(more.also_reported_by, numbers)),
            same_event=(*line.same_event, *_without(more.same_event, numbers)),
        )
    for part in sections.values():
        also = part[-1].also_reported_by
        others = dict.fromkeys(number for line in part for number in numbers_of(line))
        rest = _without(others, {*part[0].citations, *also})
        yield attrs.evolve(part[0], also_reported_by=also, same_event=rest)


def _without(numbers: Iterable[int], others: set[int]) -> tuple[int, ...]:
    return tuple(number for number in numbers if number not in others)


def _bare(rows: Iterable[T], *names: str) -> tuple[T, ...]:
    """The rows, with these members of each without markup."""
    evolve: Any = attrs.evolve
    return tuple(evolve(row, **{name: bare(getattr(row, name)) for name in names}) for row in rows)


def audio_text(row: ReportRow, facets: ReportFacets) -> AudioTextFacet:
    """The report's text prepared for speech, with word count and duration.

    Headings become sentences; sources are counted, never listed; citations are left out.
    """
    from svc_core.text import wording  # noqa: PLC0415 - loads the word lists late
    from svc_core.text.speech import script as speech  # noqa: PLC0415

    words = wording.frame(row.language)
    texts = [
        *_texts(facets.opening),
        *facets.notes,
        *_list_texts(f"{words['key_points']}.", facets.key_points),
        *(text for part in facets.sections for text in (part.heading, *_texts(part.statements))),
        *_list_texts(f"{words['briefs']}.", facets.briefs),
    ]
    period, counts = row.period, row.counts
    text = speech.narrate(
        speech.NarrationScript(
            title=row.title,
            start=period.start,
            end=period.end,
            sources=counts.sources,
            publishers=None if isinstance(counts.publishers, Unset) else counts.publishers,
            language=row.language,
            paragraphs=tuple(texts),
        )
    )
    count = word_count(text)
    return AudioTextFacet(row.id, text, count, speech.spoken_seconds(count))


def _list_texts(name: str, statements: tuple[Statement, ...]) -> tuple[str, ...]:
    """The texts of a list behind its announcement; of an empty one, nothing."""
    return (name, *_texts(statements)) if statements else ()


def _texts(statements: tuple[Statement, ...]) -> tuple[str, ...]:
    return tuple(statement.text for statement in statements)


def text_facet(facets: ReportFacets) -> TextFacet:
    """The report's plain text with its word count and reading time."""
    text = facets.text
    return TextFacet(facets.report_id, text, word_count(text), reading_seconds(text))


def signals_facet(facets: ReportFacets) -> SignalsFacet:
    """The signals; empty for reports made before signals were."""
    return SignalsFacet(facets.report_id, facets.signals or ())


def graph_facet(facets: ReportFacets) -> GraphFacet:
    """The graph; null where the report has none."""
    if facets.graph is None:
        return GraphFacet(facets.report_id, GraphCounts(0, 0, 0, 0), graph=None)
    return GraphFacet(facets.report_id, **attrs.asdict(facets.graph, recurse=False))
