"""Tools of the agent and of MCP: operations of the catalogue under tool names.

Rule 1: the arguments of a tool are its operation's inputs by their names, checked by the same
        reading as a request's, and its refusals are the operation's problems. The agent has those
        that read, and no other.
Rule 2: a tool runs inside the tenant of its caller; who may call it at all is for the host to ask.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode

import attrs
from attrs import frozen

from svc_core.agent.agent_ports import ToolAnswer, ToolHit, ToolSpec
from svc_core.catalog import COLLECTIONS, LOCAL_OPERATIONS, OPERATIONS
from svc_core.catalog.tool_schemas import concise_object, tool_text
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.knowledge.retrieval import MODEL_SECONDS, meaning_of, within
from svc_core.knowledge.rows import KnowledgeQuery
from svc_core.operation.caller import Actor
from svc_core.operation.declaration import JSON, Operation
from svc_core.operation.executor import Execution
from svc_core.operation.inputs import Input, inputs_of
from svc_core.operation.parsing import Call, Site, prepare
from svc_core.operation.reply import Reply
from svc_core.operation.units import Units
from svc_core.search.vector_likeness import NotEmbedded
from svc_core.wire import shapes
from svc_core.wire.schema import Schema, Schemas

_OPERATIONS: Final = {operation.id: operation for operation in (*OPERATIONS, *LOCAL_OPERATIONS)}
_HIDDEN_INPUTS: Final = frozenset({"tail", "Last-Event-ID"})
_FIELDS: Final = {"content-type": JSON.media_type}
_TITLES: Final = ("title", "name", "question", "label", "cveId", "id")


@frozen(eq=False)
class Tool:
    """A tool: a name for an operation, with `constants` for some of its inputs.

    Where `only` is set, the model may send these inputs alone, and `text` says what it then does.
    `kind` is the kind of its rows, where the prefix of their ids does not tell it.
    """

    name: str
    operation_id: str
    constants: Mapping[str, str] = attrs.field(factory=dict, hash=False)
    only: tuple[str, ...] = ()
    text: str = ""
    kind: str | None = None

    @property
    def operation(self) -> Operation[Any, Any]:
        """What it runs."""
        return _OPERATIONS[self.operation_id]

    @property
    def inputs(self) -> tuple[Input, ...]:
        """What it takes: in the place of a body the members of it."""
        items = inputs_of(self.operation.request)
        body = next((item for item in items if item.place == "body"), None)
        if body is None:
            return items
        others = (item for item in items if item is not body)
        return (*others, *inputs_of(shapes.split_annotation(body.annotation)[0]))


_SEARCH: Final = Tool("search_rows", "searchEverything")
TOOLS: tuple[Tool, ...] = (
    Tool("search_reports", "listReports"),
    Tool(
        "get_report",
        "getReport",
        {"view": "agent"},
        ("reportId",),
        "Read a report: its text, key points, signals and sources.",
    ),
    Tool("generate_report", "generateReport"),
    Tool("retrieve_knowledge", "retrieveKnowledge"),
    Tool("list_incidents", "listIncidents"),
    Tool("get_incident", "getIncident"),
    Tool("list_entities", "listEntities"),
    Tool("get_entity", "getEntity"),
    Tool("entity_graph", "getEntityGraph"),
    Tool("list_financial_observations", "listFinancialObservations"),
    Tool("entity_fusion", "getFusion"),
    Tool("list_markets", "listMarkets"),
    Tool("list_finint", "listFinancialIndicators"),
    Tool("list_signals", "listSignals"),
    Tool("cyber_graph", "getCyberGraph"),
    Tool("get_cve", "listCves", {}, ("cveId",), "Read vulnerabilities by their CVE ids."),
    Tool("list_cves", "listCves"),
    Tool(
        "get_actor",
        "listActors",
        {"include": "techniques,software,campaigns"},
        ("q",),
        "Read threat actors by name, with their techniques, software and campaigns.",
    ),
    Tool("list_actors", "listActors"),
    Tool("list_osint_events", "listOsintEvents"),
    Tool("search_ledger_subjects", "listSubjects"),
    Tool("fold_ledger_subject", "getSubject"),
    Tool("list_news", "listNews", kind="newsItem"),
    Tool("list_changes", "listChanges"),
    _SEARCH,
)
"""The tools of MCP, which the agent has too as far as they read."""
_COUNTRIES: Final = Tool("list_countries", "listCountries", kind="country")
_READING: Final = (_COUNTRIES, *(tool for tool in TOOLS if not tool.operation.writes))
_SCOPES: Final = frozenset[str]().union(*(tool.operation.scopes for tool in _READING))
"""What the agent may read for whoever may ask it."""


@cache
def tool_spec(tool: Tool) -> ToolSpec:
    """The description of a tool for a language model."""
    operation, schemas = tool.operation, Schemas("#/$defs/")
    items = [item for item in tool.inputs if _is_open(tool, item.name)]
    properties = {item.name: _input_schema(schemas, item) for item in items}
    parameters: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [item.name for item in items if item.required]
    if required:
        parameters["required"] = required
    if schemas.components:
        parameters["$defs"] = schemas.components
    return ToolSpec(tool.name, tool.text or tool_text(operation), concise_object(parameters))


def _is_open(tool: Tool, name: str) -> bool:
    return name in tool.only or not (tool.only or name in _HIDDEN_INPUTS or name in tool.constants)


def _input_schema(schemas: Schemas, item: Any) -> Schema:
    schema = schemas.of(item.described, "input")
    return {"description": item.doc, **schema} if item.doc else schema


# -- running -----------------------------------------------------------------------------------


async def tool_reply(
    tool: Tool, arguments: Mapping[str, Any], work: Units, actor: Actor, site: Site
) -> Reply:
    """Run the operation of a tool with these arguments; its reply.

    Raises:
        Problem: whatever the operation refuses with.
    """
    invocation = prepare(tool.operation, build_call(tool, arguments), site)
    if tool.operation.local:  # whose roles a key has none of: its scopes say what it reads
        actor = attrs.evolve(actor, roles=frozenset({"member"}))
    return await Execution(invocation, actor, work.now(), work).reply()


def build_call(tool: Tool, arguments: Mapping[str, Any]) -> Call:
    """The request for the operation that these arguments mean.

    Raises:
        Problem: VALIDATION_FAILED, one is unknown, or is no text, number, truth value or list.
    """
    places = {item.name: item.place for item in tool.inputs}
    members = {name: value for name, value in arguments.items() if value is not None}
    unknown = [name for name in members if name not in places or not _is_open(tool, name)]
    if unknown:
        raise Problem(problem.VALIDATION_FAILED, f"Not known here: {', '.join(unknown)[:200]}.")
    missing = [
        name for name in tool_spec(tool).parameters.get("required", ()) if name not in members
    ]
    if missing:
        raise Problem(problem.VALIDATION_FAILED, f"Needed: {', '.join(missing)}.")
    body = {name: members.pop(name) for name in [*members] if places[name] == "member"}
    texts = {**{name: _text(value) for name, value in members.items()}, **tool.constants}
    path = {name: text for name, text in texts.items() if places[name] == "path"}
    query = {name: text for name, text in texts.items() if places[name] == "query"}
    try:
        return Call(path, urlencode(query), _FIELDS.get, json.dumps(body).encode())
    except UnicodeEncodeError as error:
        raise Problem(problem.INVALID_ENCODING, "A text holds half of a character.") from error


def arguments_of(request: Call) -> dict[str, str]:
    """The parameters in the query of a request."""
    return dict(parse_qsl(request.query, keep_blank_values=True))


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    raise Problem(problem.VALIDATION_FAILED, "An argument is a text, a number, a list, or true.")


# -- what was found ----------------------------------------------------------------------------

_PLACES: Final = {collection.prefix: collection for collection in COLLECTIONS if collection.kind}
_KINDS: Final = {collection.kind: collection for collection in COLLECTIONS}


def tool_answer(tool: Tool, arguments: Mapping[str, Any], body: Mapping[str, Any]) -> ToolAnswer:
    """The rows in the body of an answer, with their titles and addresses."""
    data = body.get("data", body)
    rows = data if isinstance(data, list) else [data]
    page = body.get("meta", {}).get("page", {})
    request = build_call(tool, arguments)
    path = _address(tool.operation, request.path_values, request.query)
    named = ({"id": row["countryCode"], **row} if tool is _COUNTRIES else row for row in rows)
    return ToolAnswer(
        tuple(_tool_row(tool, row, path) for row in named if isinstance(row, dict) and "id" in row),
        page.get("nextCursor") is not None,
        body,
        path,
    )


def _tool_row(tool: Tool, row: Mapping[str, Any], path: str | None) -> ToolHit:
    title = next((str(row[name]) for name in _TITLES if row.get(name)), "")
    if tool is _SEARCH:
        shows = _OPERATIONS[row["operation"]]
        return ToolHit(row["id"], title, _address(shows, row["values"]), row)
    place = _KINDS[tool.kind] if tool.kind else _PLACES.get(row["id"].partition("_")[0])
    own = place.address(row["id"]) if place and "concept" not in row else path
    return ToolHit(row["id"], title, row.get("links", {}).get("self", own), row)


def _address(
    operation: Operation[Any, Any], values: Mapping[str, str], query: str = ""
) -> str | None:
    """Where the service answers a request of these values; None where no GET does."""
    if operation.local or operation.method != "GET":
        return None
    path = operation.address.format_map(values)
    return f"{path}?{query}" if query else path


# -- the agent's -------------------------------------------------------------------------------


@frozen
class CatalogueTools:
    """The tools of the catalogue for questions (`svc_core.agent.agent_ports.Tools`)."""

    site: Site

    def of(self, work: Units, actor: Actor, now: datetime) -> "CallersTools":  # noqa: ARG002
        """The reading tools of one caller; of a personal key none that needs a workspace."""
        bindings = {"any", "system", "workspace" if actor.workspace_id else "any"}
        tools = [t for t in _READING if t is _SEARCH or t.operation.binding in bindings]
        reader = attrs.evolve(actor, scopes=_SCOPES)
        return CallersTools({tool.name: tool for tool in tools}, work, reader, self.site)


@frozen
class CallersTools:
    """The tools of one caller (`svc_core.agent.agent_ports.Toolbox`)."""

    _tools: Mapping[str, Tool]
    _work: Units
    _actor: Actor
    _site: Site

    @property
    def origin(self) -> str:
        """The origin of the paths."""
        return self._site.base_url

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The descriptions of all tools."""
        return tuple(map(tool_spec, self._tools.values()))

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Run a tool.

        Raises:
            Problem: the tool is not one of these; or whatever its operation refuses with.
        """
        if name not in self._tools:
            raise Problem(problem.VALIDATION_FAILED, f"There is no tool {name[:64]!r}.")
        tool = self._tools[name]
        answer = await tool_reply(tool, arguments, self._work, self._actor, self._site)
        return tool_answer(tool, arguments, json.loads(answer.body))

    async def nearness(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """How near texts are to a question in meaning, in deviations from what is usual."""
        ctx = self._work.context(self._actor)
        if not texts or (meaning := await meaning_of(ctx, KnowledgeQuery(question))) is None:
            return ()
        model = meaning.embedder
        try:
            vectors = await within(ctx, MODEL_SECONDS, model.embed(texts))
        except (NotEmbedded, TimeoutError):  # the words have to do
            return ()
        mean, deviation = model.usual
        return [(x - mean) / deviation for x in model.cosines(meaning.vector, vectors)]
