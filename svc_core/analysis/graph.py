"""The graph of one report: what it says about whom, and who said it.

Nodes: the report, its incidents (stories), the entities they name, the sources that report them.
Edges: `reports` (report to incident), `mentions` (incident to entity), `reportedBy` (incident to
source), `coMentioned` (entity to entity, undirected, in two incidents or more).
Rule 1: both ends of every edge are nodes; ids are derived from keys, so the same report has the
same graph. Rule 2: caps cut the least connected first and are owned up to in `truncated`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

from attrs import frozen

from svc_core.analysis.draft import Draft
from svc_core.analysis.entities import OTHER, Mention, mentions
from svc_core.analysis.grouping import Story

NODES_MAX = 200
EDGES_MAX = 600
ENTITIES_PER_STORY_MAX = 12
CO_MENTIONS_MIN = 2

REPORT, INCIDENT, ENTITY, SOURCE = "report", "incident", "entity", "source"


@frozen
class Node:
    """A node; `kind` tells an entity's kind, `key` is the story's, name's or source's own key."""

    id: str
    type: str
    label: str
    key: str
    kind: str | None = None
    country_code: str | None = None
    degree: int = 0


@frozen
class Edge:
    """An edge between two nodes; `citations` are source numbers of the draft that show it."""

    id: str
    type: str
    source_id: str
    target_id: str
    directed: bool
    weight: int
    citations: tuple[int, ...]


@frozen
class Graph:
    """The graph; `anchors` are the incidents' node ids, `citations` the numbers used by edges."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    anchors: tuple[str, ...]
    citations: tuple[int, ...]
    counts: Mapping[str, int]
    truncated: bool


def build(draft: Draft, stories: Sequence[Story]) -> Graph:
    """The graph of a draft and the stories it tells (those with a cited item)."""
    numbers = {source.id: source.number for source in draft.sources}
    cited = [s for s in stories if any(one.evidence.id in numbers for one in s.members)]
    named = {story.key: _named(story, draft.language) for story in cited}
    wanted = [
        Node(REPORT, REPORT, draft.title, REPORT),
        *(Node(_id(INCIDENT, s.key), INCIDENT, _headline(s), s.key) for s in cited),
        *_sources(draft),
        *_entities(named),
    ]
    nodes = wanted[:NODES_MAX]
    held = {node.id for node in nodes}
    drawn = [
        edge for edge in _edges(cited, named, numbers) if {edge.source_id, edge.target_id} <= held
    ]
    edges = drawn[:EDGES_MAX]
    degree = Counter(end for edge in edges for end in (edge.source_id, edge.target_id))
    return Graph(
        nodes=tuple(_with_degree(node, degree[node.id]) for node in nodes),
        edges=tuple(edges),
        anchors=tuple(node.id for node in nodes if node.type == INCIDENT),
        citations=tuple(sorted({number for edge in edges for number in edge.citations})),
        counts=_counts(nodes, edges),
        truncated=len(wanted) > NODES_MAX or len(drawn) > EDGES_MAX,
    )


def _id(type_: str, key: str) -> str:
    return f"{type_}:{key}"


def _with_degree(node: Node, degree: int) -> Node:
    return Node(node.id, node.type, node.label, node.key, node.kind, node.country_code, degree)


def _counts(nodes: Sequence[Node], edges: Sequence[Edge]) -> Mapping[str, int]:
    types = Counter(node.type for node in nodes)
    return {
        "nodes": len(nodes),
        "edges": len(edges),
        "incidents": types[INCIDENT],
        "entities": types[ENTITY],
        "sources": types[SOURCE],
    }


def _headline(story: Story) -> str:
    best = max(story.members, key=lambda one: (one.score, one.evidence.id)).reading
    return best.headline or next(iter(best.sentences), story.key)


def _named(story: Story, language: str) -> tuple[Mention, ...]:
    found = mentions((member.reading for member in story.members), language)
    telling = [m for m in found if m.kind != OTHER or " " in m.name or m.count > 1]
    return tuple(telling[:ENTITIES_PER_STORY_MAX])


def _sources(draft: Draft) -> list[Node]:
    names = {source.source_id: source.name for source in draft.sources}
    return [Node(_id(SOURCE, key), SOURCE, name, key) for key, name in names.items()]


def _entities(named: Mapping[str, Sequence[Mention]]) -> list[Node]:
    """Entities, those of most incidents first."""
    spread = Counter(mention.key for found in named.values() for mention in found)
    first = {mention.key: mention for found in named.values() for mention in found}
    ranked = sorted(spread, key=lambda key: (-spread[key], key))
    return [
        Node(
            _id(ENTITY, key), ENTITY, first[key].name, key, first[key].kind, first[key].country_code
        )
        for key in ranked
    ]


def _edges(
    stories: Sequence[Story], named: Mapping[str, Sequence[Mention]], numbers: Mapping[str, int]
) -> list[Edge]:
    """All edges, the weightiest kinds first."""
    found: list[Edge] = []
    together: dict[tuple[str, str], set[int]] = {}
    counts: Counter[tuple[str, str]] = Counter()
    for story in stories:
        anchor = _id(INCIDENT, story.key)
        shown = _numbers(story, numbers)
        found.append(_edge("reports", REPORT, anchor, len(shown), shown))
        for source_id, held in _by_source(story, numbers).items():
            found.append(_edge("reportedBy", anchor, _id(SOURCE, source_id), len(held), held))
        found.extend(
            _edge("mentions", anchor, _id(ENTITY, mention.key), mention.count, shown)
            for mention in named[story.key]
        )
        for pair in combinations(sorted(mention.key for mention in named[story.key]), 2):
            counts[pair] += 1
            together.setdefault(pair, set()).update(shown)
    pairs = sorted(
        (p for p in counts if counts[p] >= CO_MENTIONS_MIN), key=lambda p: (-counts[p], p)
    )
    return [
        *found,
        *(
            _edge(
                "coMentioned", _id(ENTITY, a), _id(ENTITY, b), counts[a, b], sorted(together[a, b])
            )
            for a, b in pairs
        ),
    ]


def _edge(type_: str, source: str, target: str, weight: int, shown: Sequence[int]) -> Edge:
    directed = type_ != "coMentioned"
    return Edge(f"{type_}:{source}>{target}", type_, source, target, directed, weight, tuple(shown))


def _numbers(story: Story, numbers: Mapping[str, int]) -> list[int]:
    held = (numbers.get(member.evidence.id) for member in story.members)
    return sorted(number for number in held if number is not None)


def _by_source(story: Story, numbers: Mapping[str, int]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for member in story.members:
        number = numbers.get(member.evidence.id)
        if number is not None:
            found.setdefault(member.evidence.source_id, []).append(number)
    return found
