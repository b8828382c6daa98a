"""What a report found: its signals and its graph, in their public form."""

from collections.abc import Sequence

from attrs import frozen

from svc_core import ids
from svc_core.analysis import graph as drawing
from svc_core.analysis import signals as detecting
from svc_core.analysis.draft import Draft
from svc_core.analysis.graph import Graph
from svc_core.analysis.grouping import Story
from svc_core.analysis.signals import SignalDraft
from svc_core.resources.report import (
    GraphCounts,
    IncidentAnchor,
    ReportEdge,
    ReportGraph,
    ReportNode,
    ReportSignal,
    ReportSource,
    SignalConfidence,
    SignalParty,
    SignalPlace,
)

ENTITY = drawing.ENTITY


@frozen
class Findings:
    """The signals and the graph of one report."""

    signals: tuple[ReportSignal, ...]
    graph: ReportGraph


def find(
    report_id: str, draft: Draft, told: Sequence[Story], sources: tuple[ReportSource, ...]
) -> Findings:
    """Everything that the stories of a draft show beyond their words."""
    numbers = {source.id: source.number for source in draft.sources}
    cited = [story for story in told if story.key in set(draft.story_keys)]
    drafts = detecting.extract(cited, draft.period, language=draft.language)
    return Findings(
        signals=tuple(_signal(report_id, one, numbers) for one in drafts),
        graph=_graph(drawing.build(draft, cited), cited, numbers, sources),
    )


def _signal(report_id: str, one: SignalDraft, numbers: dict[str, int]) -> ReportSignal:
    parts = one.parts
    return ReportSignal(
        id=ids.derived_id("sig", "report-signal", report_id, one.key),
        type=one.type,
        title=one.title,
        summary=one.summary,
        tags=one.tags,
        direction=one.direction,
        entities=tuple(SignalParty(who.name, who.kind) for who in one.entities),
        places=tuple(SignalPlace(where.name, where.country_code) for where in one.places),
        occurred_date=None if one.occurred_on is None else one.occurred_on.isoformat(),
        first_reported_at=one.at,
        last_reported_at=one.last_at,
        confidence=one.confidence,
        confidence_parts=SignalConfidence(
            source_diversity=parts.source_diversity,
            trigger_strength=parts.trigger_strength,
            recency=parts.recency,
            specificity=parts.specificity,
        ),
        source_count=one.sources,
        story_id=one.story_key,
        citations=_numbers(one.evidence_ids, numbers),
    )


def _graph(
    graph: Graph,
    cited: Sequence[Story],
    numbers: dict[str, int],
    sources: tuple[ReportSource, ...],
) -> ReportGraph:
    stories = {story.key: story for story in cited}
    anchors = tuple(
        _anchor(node.id, node.label, stories[node.key], numbers)
        for node in graph.nodes
        if node.type == drawing.INCIDENT
    )
    return ReportGraph(
        nodes=tuple(
            ReportNode(node.id, node.type, node.kind, node.label, node.country_code, node.degree)
            for node in graph.nodes
        ),
        edges=tuple(
            ReportEdge(
                id=edge.id,
                type=edge.type,
                source_id=edge.source_id,
                target_id=edge.target_id,
                directed=edge.directed,
                weight=edge.weight,
                citations=edge.citations,
            )
            for edge in graph.edges
        ),
        incident_anchors=anchors,
        citations=sources,
        counts=GraphCounts(
            nodes=len(graph.nodes),
            edges=len(graph.edges),
            incident_anchors=len(anchors),
            citations=len(sources),
        ),
        truncated=graph.truncated,
    )


def _anchor(node_id: str, title: str, story: Story, numbers: dict[str, int]) -> IncidentAnchor:
    return IncidentAnchor(
        node_id=node_id,
        story_id=story.key,
        title=title,
        first_reported_at=story.first_at,
        last_reported_at=story.last_at,
        citations=_numbers([member.evidence.id for member in story.members], numbers),
    )


def _numbers(evidence_ids: Sequence[str], numbers: dict[str, int]) -> tuple[int, ...]:
    """The citation numbers of items; those that the draft does not cite have none."""
    return tuple(sorted(numbers[id_] for id_ in evidence_ids if id_ in numbers))
