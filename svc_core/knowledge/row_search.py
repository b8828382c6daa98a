"""The search for rows of all kinds at once, as somebody types who wants to go to one of them.

Rule 1: a kind is looked through by its own list or show operation, so nobody finds what they may
        not read; a kind that their scopes or roles do not cover is left out.
Rule 2: an id or a CVE id that is typed whole finds that row, and words find the rows that the list
        of the kind finds by them, the best first.
Rule 3: where a list takes no words, the newest `WALKED_MAX` rows are looked through for those whose
        title and detail contain all of the words. So an answer reads a bounded number of rows.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, Final

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.access import operations as accounts
from svc_core.base import ids
from svc_core.contract.problem import Problem
from svc_core.contract.result import Page
from svc_core.intel.entities import operations as entities
from svc_core.intel.events import operations as events
from svc_core.intel.graphs import operations as graphs
from svc_core.intel.incidents import operations as incidents
from svc_core.intel.vulnerabilities import operations as cves
from svc_core.knowledge.retrieval import retrieve
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
from svc_core.wire.constraints import Arg, MaxLen, MinLen

ROWS_MAX: Final = 8
"""Rows of one kind: as many as somebody looks through before they type on."""
WALKED_MAX: Final = 500
"""Rows of a kind without an index of words that are looked through: some ten milliseconds."""
DETAIL_MAX: Final = 160
"""Characters of a detail: one line."""
_PAGE: Final = 100
_FOLDED_MAX: Final = 16  # subjects

JsonRow = Mapping[str, Any]


@frozen
class SearchEverything:
    """What is sought, in all kinds of rows that the caller may read."""

    q: Annotated[str, Arg(positional=True), MinLen(1), MaxLen(200), NOT_BLANK]
    """Words, an id, or the beginning of a key as lists show it."""


@frozen
class SearchRow:
    """A row and the operation that shows it, with the values that this takes."""

    kind: str
    id: str
    title: str
    detail: str
    operation: str
    values: Mapping[str, str]


_OPERATIONS: Final[Mapping[str, Operation[Any, Any]]] = {
    operation.id: operation
    for room in (reports, profiles, entities, graphs, cves, incidents, events, ledger)
    for operation in (*room.OPERATIONS, *accounts.LOCAL_OPERATIONS)
}

KindSearch = Callable[[WorkContext, str, Callable[[JsonRow], bool]], Awaitable[Sequence[JsonRow]]]
"""Gives rows as lists do that answer to words; the last argument says whether a row holds them."""


async def _run(ctx: WorkContext, id_: str, *values: Any, **members: Any) -> Any:
    """What an operation that reads answers to the caller."""
    operation = _OPERATIONS[id_]
    tenant = SYSTEM if operation.binding == "system" else ctx.actor.tenant
    actor, request = attrs.evolve(ctx.actor, tenant=tenant), operation.request(*values, **members)
    run: Any = operation.run
    return await ctx.work.read(tenant, lambda own: run(attrs.evolve(own, actor=actor), request))


def _by_words(list_id: str) -> KindSearch:
    """The search of a list that takes words."""

    async def search(ctx: WorkContext, q: str, _: Any) -> Sequence[JsonRow]:
        page = await _run(ctx, list_id, q=q, limit=ROWS_MAX)
        return [json.loads(raw) for raw in page.rows]

    return search


def _by_walking(list_id: str) -> KindSearch:
    """The search of a list that takes no words, which looks through its newest rows."""

    async def search(
        ctx: WorkContext, q: str, holds: Callable[[JsonRow], bool]
    ) -> Sequence[JsonRow]:
        matches, word = list[JsonRow](), q.casefold().split()[0]
        is_paged = "limit" in attrs.fields_dict(_OPERATIONS[list_id].request)
        members: dict[str, Any] = {"limit": _PAGE} if is_paged else {}
        for _ in range(0, WALKED_MAX, _PAGE):
            page = await _run(ctx, list_id, **members)
            # Most rows are told apart before they are decoded.
            texts = (raw for raw in page.rows if word in raw.decode().casefold())
            matches += filter(holds, map(json.loads, texts))
            members["cursor"] = page.next_cursor
            if page.next_cursor is None or len(matches) >= ROWS_MAX:
                break
        return matches

    return search


async def _reports(ctx: WorkContext, q: str, _: Any) -> Sequence[JsonRow]:
    query = KnowledgeQuery(q, kinds=("report",), limit=ROWS_MAX, mode="lexical")
    return [json.loads(wire.to_bytes(row)) for row in (await retrieve(ctx, query)).rows]


async def _subjects(
    ctx: WorkContext, q: str, holds: Callable[[JsonRow], bool]
) -> Sequence[JsonRow]:
    """Subjects by a designator, else the newest whose first record contains the words."""
    if ":" in q:
        page = await _run(ctx, "listSubjects", designator=q, limit=ROWS_MAX)
        return [json.loads(raw) for raw in page.rows]
    word = q.casefold().split()[0]

    async def look(own: Context) -> Sequence[JsonRow]:
        openings = await own.tx.ledger.opened(limit=WALKED_MAX)
        matches = [line for line in openings if word in line.line.decode().casefold()]
        rows = await queries.subject_rows(own, matches[:_FOLDED_MAX])
        return [row for row in json.loads(wire.to_bytes(rows)) if holds(row)]

    return await ctx.work.read(ctx.actor.tenant, look)


@frozen(eq=False)
class SearchKind:
    """A kind of rows that is searched: the operation that `shows` one, and how they are found.

    The operation takes an id of the `prefix` as its `item`. `titles` are the members that name a
    row, the first that is there, and `details` those that tell more of it, as paths with dots.
    """

    name: str
    shows: str
    item: str
    prefix: str
    find: KindSearch
    titles: str
    details: str

    def row(self, row: JsonRow) -> SearchRow:
        """What is shown of a row."""
        titles, details = (
            [text for path in paths.split() if (text := _text(row, path))]
            for paths in (self.titles, self.details)
        )
        title, detail = (titles or [row["id"]])[0], " · ".join(details)[:DETAIL_MAX]
        return SearchRow(self.name, row["id"], title, detail, self.shows, {self.item: row["id"]})

    def may_be_read(self, actor: Actor) -> bool:
        """Whether the caller may see rows of this kind."""
        operation = _OPERATIONS[self.shows]
        return not operation.roles.isdisjoint(actor.roles) or not operation.scopes.isdisjoint(
            actor.scopes
        )

    async def search(self, ctx: WorkContext, q: str) -> Sequence[JsonRow]:
        """The rows of this kind that answer best; none where they cannot be read now."""
        words = q.casefold().split()

        def holds(row: JsonRow) -> bool:
            text = f"{self.row(row).title} {self.row(row).detail}".casefold()
            return all(word in text for word in words)

        with suppress(Problem):
            if self.prefix and ids.is_id(self.prefix, q):
                return [json.loads((await _run(ctx, self.shows, q)).raw)]
            return (await self.find(ctx, q, holds))[:ROWS_MAX]
        return ()


def _text(row: JsonRow, path: str) -> str:
    part: Any = row
    for name in path.split("."):
        part = part.get(name) if isinstance(part, Mapping) else None
    text = ", ".join(part) if isinstance(part, list) else str(part or "")
    return " ".join(text.split())


_CVES, _ENTITIES, _INCIDENTS = map(_by_words, ("listCves", "listEntities", "listIncidents"))
_EVENTS, _PROFILES, _KEYS = map(_by_walking, ("listOsintEvents", "listProfiles", "listKeys"))
_LABEL = "label identity.label"
_HARM, _PLACE = "category severity status", "type severity place.name"
SEARCH_KINDS: Final = (
    SearchKind("report", "getReport", "reportId", "rpt", _reports, "title", "excerpt.text"),
    SearchKind("cve", "getEntity", "entityId", "", _CVES, "name", "title description"),
    SearchKind("entity", "getEntity", "entityId", "ent", _ENTITIES, "name", "type countryCodes"),
    SearchKind("incident", "getIncident", "incidentId", "inc", _INCIDENTS, "title", _HARM),
    SearchKind("event", "getOsintEvent", "eventId", "obs", _EVENTS, "title", _PLACE),
    SearchKind("subject", "getSubject", "subjectId", "sbj", _subjects, _LABEL, "type description"),
    SearchKind("profile", "getProfile", "profileId", "prf", _PROFILES, "name", "topic frequency"),
    SearchKind("key", "getKey", "keyId", "key", _KEYS, "name", "prefix status"),
)


# -- the operation -----------------------------------------------------------------------------


async def search_everything(ctx: WorkContext, request: SearchEverything) -> Page[SearchRow]:
    """Entities, reports, incidents, events, CVEs, subjects of the ledger and profiles that the
    caller may read, and for those who manage them keys: at most eight of a kind, the best first.
    Each row names the operation that shows it. An id that is typed whole finds its row.
    """
    q, rows = request.q.strip(), dict[str, SearchRow]()
    for kind in SEARCH_KINDS:
        if kind.may_be_read(ctx.actor):
            for row in await kind.search(ctx, q):
                rows.setdefault(row["id"], kind.row(row))
    return Page(tuple(map(wire.to_bytes, rows.values())))


LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    local(
        "search all",
        "Search for rows of every kind",
        search_everything,
        method="GET",
        binding="workspace",
        roles=EVERYBODY,
        columns=("kind", "id", "title", "detail"),
    ),
)
