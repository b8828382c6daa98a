"""The search for rows of all kinds at once: for the palette, the command line and the agent.

Rule 1: rows of all kinds stand in one order (`svc_core.search.ranked_rows`). A kind that the scopes
        or roles of the caller do not cover is left out, so nobody finds what they may not read.
Rule 2: an id or a CVE id that is typed whole finds that row.
Rule 3: reports are those that the knowledge retrieves; of subjects, profiles and keys the newest
        are ranked. So an answer reads a bounded number of rows.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access import operations as accounts
from svc_core.base import ids
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page
from svc_core.intel.countries import operations as countries
from svc_core.intel.economy import indicators, market_lists
from svc_core.intel.entities import actors
from svc_core.intel.entities import operations as entities
from svc_core.intel.events import operations as events
from svc_core.intel.graphs import operations as graphs
from svc_core.intel.incidents import operations as incidents
from svc_core.intel.news import operations as news
from svc_core.intel.signals import operations as signals
from svc_core.intel.vulnerabilities import operations as cves
from svc_core.knowledge.retrieval import (
    READ_SECONDS,
    meaning_of,
    nearest_rows,
    newest_vectors,
    retrieve,
    within,
)
from svc_core.knowledge.rows import KnowledgeQuery
from svc_core.ledger import operations as ledger
from svc_core.ledger import queries
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import EVERYBODY, Operation, local
from svc_core.operation.members import NOT_BLANK
from svc_core.operation.ports import SYSTEM
from svc_core.operation.units import WorkContext
from svc_core.reports import operations as reports
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.report_index import REPORT_INDEX
from svc_core.search.ranked_rows import WHOLE, Near, RankedRow, SearchKind, rank_rows
from svc_core.search.row_names import Named
from svc_core.text.words import split_words
from svc_core.wire.constraints import Arg, Ge, Le, MaxLen, MinLen

WALKED_MAX: Final = 500
"""Subjects whose first record is looked through: some ten milliseconds."""
_FOLDED_MAX: Final = 16  # subjects
_SPAN: Final = 4  # standard deviations of cosines, from what is near to what is nearest


@frozen
class SearchEverything:
    """What is sought, in all kinds of rows that the caller may read."""

    q: Annotated[str, Arg(positional=True), MinLen(1), MaxLen(1_000), NOT_BLANK]
    """A question, words, an id, or the beginning of a key as lists show it."""
    kinds: tuple[str, ...] = ()
    """Kinds of rows; all where none is given. An actor is an entity."""
    limit: Annotated[int, Ge(1), Le(50)] = 20
    """Rows at most."""


@frozen
class SearchRow:
    """A row, why it was found, and the operation that shows it, with the values that this takes."""

    kind: str
    id: str
    title: str
    detail: str
    score: float
    """What rows are ordered by: 1 for all words of the question, more for a name and meaning."""
    named: Named
    """How the question, or some words of it side by side, name the row."""
    share: float
    """The share of the question's weight that the words of the row hold, from 0 to 1."""
    near: float
    """How near the row is to the question in meaning, from 0 to 1; 0 where that is not known."""
    operation: str
    values: Mapping[str, str]
    row: Any
    """The row as lists show it."""


_OPERATIONS: Final[Mapping[str, Operation[Any, Any]]] = {
    operation.id: operation
    for room in (reports, profiles, news, entities, cves, incidents, events, countries,
                 indicators, graphs, market_lists, signals, ledger)
    for operation in (*room.OPERATIONS, *accounts.LOCAL_OPERATIONS)
}  # fmt: skip

_LABEL = "label identity.label"
KINDS: Final = (
    entities.ENTITY_SEARCH,
    cves.CVE_SEARCH,
    countries.COUNTRY_SEARCH,
    indicators.INDICATOR_SEARCH,
    incidents.INCIDENT_SEARCH,
    events.EVENT_SEARCH,
    market_lists.MARKET_SEARCH,
    SearchKind("report", None, "getReport", "title", "excerpt.text", "rpt", REPORT_INDEX.vectors),
    news.NEWS_SEARCH,
    signals.SIGNAL_SEARCH,
    SearchKind("subject", None, "getSubject", _LABEL, "type description", "sbj"),
    SearchKind("profile", None, "getProfile", "name", "topic frequency", "prf"),
    SearchKind("key", None, "getKey", "name", "prefix status", "key"),
)
"""The kinds in the order in which equal rows come."""
_LISTS: Final = {"profile": "listProfiles", "key": "listKeys"}


async def _run(ctx: WorkContext, id_: str, *values: Any, **members: Any) -> Any:
    """What an operation that reads answers to the caller."""
    operation = _OPERATIONS[id_]
    tenant = SYSTEM if operation.binding == "system" else ctx.actor.tenant
    actor, request = attrs.evolve(ctx.actor, tenant=tenant), operation.request(*values, **members)
    run: Any = operation.run
    return await ctx.work.read(tenant, lambda own: run(attrs.evolve(own, actor=actor), request))


async def _subjects(ctx: Context, q: str) -> Sequence[bytes]:
    """The newest subjects whose first record holds a word of a question, most words first."""
    words = set(split_words(q))
    openings = await ctx.tx.ledger.opened(limit=WALKED_MAX)
    shares = {line: len(words.intersection(split_words(line.line.decode()))) for line in openings}
    lines = sorted(filter(shares.get, openings), key=lambda line: -shares[line])[:_FOLDED_MAX]
    return list(map(wire.to_bytes, await queries.subject_rows(ctx, lines)))


async def _given(ctx: WorkContext, kind: SearchKind, q: str) -> Sequence[bytes]:
    """Rows of a kind without an index of its own; none where they cannot be read now."""
    with suppress(Problem):
        if kind.name == "report":
            hits = (await retrieve(ctx, KnowledgeQuery(q, kinds=("report",)))).rows
            return list(map(wire.to_bytes, hits))
        if kind.name == "subject":
            return await ctx.work.read(ctx.actor.tenant, partial(_subjects, q=q))
        members = {"limit": 100} if kind.name == "profile" else {}
        page: Page[Any] = await _run(ctx, _LISTS[kind.name], **members)
        return page.rows
    return ()


async def _near(ctx: WorkContext, kinds: Sequence[SearchKind], q: str) -> Near:
    """How near rows are to a question in meaning.

    Nothing is known of kinds without vectors, and of those whose vectors are not read in time.
    """
    near: dict[str, Mapping[str, float]] = {}
    vectors = {kind.name: kind.vectors for kind in kinds if kind.vectors}
    asked = KnowledgeQuery(q.lower().rstrip(" ?!.") or q)
    if vectors and (meaning := await meaning_of(ctx, asked)):
        model, seconds = meaning.embedder, READ_SECONDS / len(vectors)
        for name, collection in vectors.items():
            newest = partial(newest_vectors, of=collection, limit=model.compared_max)
            with suppress(TimeoutError):
                rows = await within(ctx, seconds, ctx.work.read(ctx.actor.tenant, newest))
                cosines = await ctx.work.aside(partial(nearest_rows, meaning, rows))
                floor, span = sum(model.usual), _SPAN * model.usual[1]
                near[name] = {id_: min(1.0, (x - floor) / span) for id_, x in cosines.items()}
    return near


def may_be_read(kind: SearchKind, actor: Actor) -> bool:
    """Whether the caller may see rows of this kind."""
    operation = _OPERATIONS[kind.shows]
    return (operation.binding != "workspace" or actor.workspace_id is not None) and not (
        operation.roles.isdisjoint(actor.roles) and operation.scopes.isdisjoint(actor.scopes)
    )


async def _by_id(ctx: WorkContext, kinds: Sequence[SearchKind], id_: str) -> list[SearchRow]:
    """The row of an id of these kinds; none where it is not one of a row that may be seen."""
    for kind in kinds:
        with suppress(Problem):
            raw = (await _run(ctx, kind.shows, id_)).raw
            return [_row(kind, RankedRow(WHOLE, 0, 0, id_, row=json.loads(raw), named="code"))]
    return []


# -- the operation -----------------------------------------------------------------------------


async def search_everything(ctx: WorkContext, request: SearchEverything) -> Page[SearchRow]:
    """Rows of every kind that the caller may read in one order: those that the question, or words
    of it, names come first, then those that hold most of its weight. Each row names the operation
    that shows it. An id that is typed whole finds its row.
    """
    names, q = request.kinds, request.q.strip()
    names = (*names, "entity") if "actor" in names else names
    kinds = [k for k in KINDS if (not names or k.name in names) and may_be_read(k, ctx.actor)]
    if places := [kind for kind in kinds if kind.prefix and ids.is_id(kind.prefix, q)]:
        return Page(tuple(map(wire.to_bytes, await _by_id(ctx, places, q))))
    walked = {kind.name: await _given(ctx, kind, q) for kind in kinds if kind.listing is None}
    given: Any = {"rows": walked, "near": await _near(ctx, kinds, q)}
    search = partial(rank_rows, kinds=kinds, question=q, limit=request.limit, **given)
    hits = await ctx.work.read(ctx.actor.tenant, search)
    rows = [_row(kinds[hit.place], hit) for hit in hits]
    return Page(tuple(map(wire.to_bytes, rows)))


def _row(kind: SearchKind, hit: RankedRow) -> SearchRow:
    """A row of an answer; of a series that of its newest value, whose id is another."""
    name, row, id_ = kind.name, hit.row, hit.row.get("id", hit.id)
    shown = wire.camel(attrs.fields(_OPERATIONS[kind.shows].request)[0].name)  # its first input
    if row.get("type") == "threatActor":
        name, row = "actor", actors.flat(dict(row))
    head = name, id_, kind.title(row) or id_, kind.detail(row), hit.score, hit.named
    return SearchRow(*head, hit.share, hit.near, kind.shows, {shown: id_}, row)


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "search all",
        "Search for rows of every kind",
        search_everything,
        method="GET",
        binding="workspace",
        scopes=frozenset[str]().union(*(_OPERATIONS[kind.shows].scopes for kind in KINDS)),
        roles=EVERYBODY,
        columns=("kind", "id", "title", "detail"),
    ),
)
