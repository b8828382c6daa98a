"""The graph of one report: which incidents it covers, whom they name, and who reported them.

Nodes: the report, its incidents (stories), the entities they name, the sources that report them.
Edges: `reports` (report to incident), `mentions` (incident to entity), `reportedBy` (incident to
source), `coMentioned` (entity to entity, undirected, in two incidents or more).
Rule 1: both ends of every edge are nodes; ids are derived from keys, so the same report has the
same graph. Rule 2: caps cut the least connected first, and `truncated` says that they did.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import chain, combinations

from attrs import evolve

from svc_core.intel.entities import directory
from svc_core.intel.linking.references import text_references
from svc_core.operation.context import Context
from svc_core.reports.draft import ReportDraft
from svc_core.reports.model import GraphCounts, IncidentAnchor, ReportEdge, ReportGraph, ReportNode
from svc_core.text.name_mentions import OTHER, Mention
from svc_core.text.stories import Story

NODES_MAX = 200
EDGES_MAX = 600
ENTITIES_PER_STORY_MAX = 12
CO_MENTIONS_MIN = 2

REPORT, INCIDENT, ENTITY, SOURCE = "report", "incident", "entity", "source"


def build_graph(draft: ReportDraft, names: Mapping[str, Sequence[Mention]]) -> ReportGraph:
    """The graph of a draft, over its stories with a cited item.

    `names` are the mentions of each story by its key (`entities.names_of`).
    """
    stories = [story for story in draft.stories if draft.citations(story)]
    mentions = {story.key: _specific(names[story.key]) for story in stories}
    candidates = [
        _node(REPORT, draft.title, REPORT),
        *(_node(_id(INCIDENT, s.key), _headline(s), INCIDENT) for s in stories),
        *_sources(draft),
        *_entities(mentions),
    ]
    ids = {node.id for node in candidates[:NODES_MAX]}
    all_edges = [e for e in _edges(draft, stories, mentions) if {e.source_id, e.target_id} <= ids]
    edges = all_edges[:EDGES_MAX]
    degree = Counter(end for edge in edges for end in (edge.source_id, edge.target_id))
    nodes = tuple(evolve(node, degree=degree[node.id]) for node in candidates[:NODES_MAX])
    anchors = tuple(_anchor(s, draft) for s in stories if _id(INCIDENT, s.key) in ids)
    return ReportGraph(
        nodes=nodes,
        edges=tuple(edges),
        incident_anchors=anchors,
        citations=draft.words.sources,
        counts=GraphCounts(len(nodes), len(edges), len(anchors), len(draft.items)),
        truncated=len(candidates) > NODES_MAX or len(all_edges) > EDGES_MAX,
    )


async def with_entity_ids(ctx: Context, graph: ReportGraph, day: date) -> ReportGraph:
    """The graph with the ids of the entities that its names mean on a day."""
    names = {node.label for node in graph.nodes if node.type == ENTITY}
    links = {name: tuple(text_references(name, day)) for name in names}
    rows = await directory.rows_by_reference(ctx, chain.from_iterable(links.values()))
    ids = {
        name: next((rows[link].id for link in links[name] if link in rows), None) for name in names
    }
    nodes = (
        evolve(node, entity_id=ids[node.label]) if node.type == ENTITY else node
        for node in graph.nodes
    )
    return evolve(graph, nodes=tuple(nodes))


def _id(type_: str, key: str) -> str:
    return f"{type_}:{key}"


def _node(
    id_: str, label: str, type_: str, kind: str | None = None, country_code: str | None = None
) -> ReportNode:
    return ReportNode(id_, type_, kind, label, country_code, degree=0)


def _anchor(story: Story, draft: ReportDraft) -> IncidentAnchor:
    return IncidentAnchor(
        node_id=_id(INCIDENT, story.key),
        story_id=story.key,
        title=_headline(story),
        first_reported_at=story.first_at,
        last_reported_at=story.last_at,
        citations=draft.citations(story),
    )


def _headline(story: Story) -> str:
    return story.best_reading.headline or next(iter(story.best_reading.sentences), story.key)


def _specific(mentions: Sequence[Mention]) -> tuple[Mention, ...]:
    specific = [m for m in mentions if m.kind != OTHER or " " in m.name or m.count > 1]
    return tuple(specific[:ENTITIES_PER_STORY_MAX])


def _sources(draft: ReportDraft) -> list[ReportNode]:
    names = {item.source_id: item.source_name for item in draft.items}
    return [_node(_id(SOURCE, key), name, SOURCE) for key, name in names.items()]


def _entities(mentions: Mapping[str, Sequence[Mention]]) -> list[ReportNode]:
    """The entity nodes, those of most incidents first."""
    spread = Counter(mention.key for group in mentions.values() for mention in group)
    first = {mention.key: mention for group in mentions.values() for mention in group}
    order = (first[key] for key in sorted(spread, key=lambda key: (-spread[key], key)))
    return [_node(_id(ENTITY, m.key), m.name, ENTITY, m.kind, m.country_code) for m in order]


def _edges(
    draft: ReportDraft, stories: Sequence[Story], mentions: Mapping[str, Sequence[Mention]]
) -> list[ReportEdge]:
    """All edges, the weightiest kinds first."""
    edges: list[ReportEdge] = []
    together: dict[tuple[str, str], set[int]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for story in stories:
        anchor = _id(INCIDENT, story.key)
        numbers = draft.citations(story)
        edges.append(_edge("reports", REPORT, anchor, len(numbers), numbers))
        for source_id, marks in _by_source(story, draft.numbers).items():
            edges.append(_edge("reportedBy", anchor, _id(SOURCE, source_id), len(marks), marks))
        edges.extend(
            _edge("mentions", anchor, _id(ENTITY, m.key), m.count, draft.marks(story, m.name))
            for m in mentions[story.key]
        )
        for pair in combinations(sorted(mention.key for mention in mentions[story.key]), 2):
            counts[pair] += 1
            together.setdefault(pair, set()).update(numbers)
    tied = sorted(
        (p for p in counts if counts[p] >= CO_MENTIONS_MIN), key=lambda p: (-counts[p], p)
    )
    for a, b in tied:
        ends = _id(ENTITY, a), _id(ENTITY, b)
        edges.append(_edge("coMentioned", *ends, counts[a, b], sorted(together[a, b])))
    return edges


def _edge(type_: str, source: str, target: str, weight: int, numbers: Sequence[int]) -> ReportEdge:
    is_directed = type_ != "coMentioned"
    id_ = f"{type_}:{source}>{target}"
    return ReportEdge(id_, type_, source, target, is_directed, weight, tuple(numbers))


def _by_source(story: Story, numbers: Mapping[str, int]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for member in story.members:
        groups.setdefault(member.evidence.source_id, []).append(numbers[member.evidence.id])
    return groups
