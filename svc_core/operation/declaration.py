"""The declaration of an operation: its inputs, results, access rules and price, stated once.

Routing, parsing, security, the OpenAPI documents, the reference pages and the test matrix are
read from `Operation`. No fact (path, scope, price, bound, status) stands twice.

A use case receives a `Context` and its request object, and returns one of the classes of
`svc_core.contract.result`; it loads, asks a rule, saves.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import Enum
from inspect import cleandoc
from typing import Any, Generic, Literal, TypeVar, get_args, get_origin

from attrs import field, frozen

from svc_core.contract import problem
from svc_core.contract.negotiation import Representation
from svc_core.contract.problem import ProblemType
from svc_core.contract.result import Accepted, Created, Empty
from svc_core.operation.caller import CallContext
from svc_core.operation.context import Context
from svc_core.operation.ports import BASE_V1, BASE_V2, Collection
from svc_core.operation.units import WorkContext
from svc_core.wire import camel
from svc_core.wire.shapes import is_union

Req = TypeVar("Req")
Res = TypeVar("Res")

JSON = Representation("json", "application/json")
NDJSON = Representation("ndjson", "application/x-ndjson")
GEOJSON = Representation("geojson", "application/geo+json")
MARKDOWN = Representation("markdown", "text/markdown")
HTML = Representation("html", "text/html")
TEXT = Representation("text", "text/plain")
UTF8_TEXT = f"{TEXT.media_type}; charset=utf-8"
"""What plain text is sent as: without a charset some readers would take it for Latin-1."""
STIX = Representation("stix", "application/stix+json;version=2.1")
SSE = Representation("sse", "text/event-stream")
OCTETS = Representation("octets", "application/octet-stream")


# -- inputs ------------------------------------------------------------------------------------


@frozen
class In:
    """The part of a request that an input comes from; `name` overrides the camelCase name."""

    place: Literal["path", "query", "header", "body", "member"]
    name: str | None = None


PATH = In("path")
QUERY = In("query")
BODY = In("body")
MEMBER = In("member")
"""A member of the body, which is the request class itself."""


@frozen
class InputRefusal:
    """The problem type for a malformed input, where it is not INVALID_PARAMETER."""

    kind: ProblemType


class Trait(Enum):
    """A property that few inputs have."""

    DEPRECATED = "a former name"
    LIVE = "has the answer as an event stream and as nothing else, where it is true"
    EXACT = "holds no number that could not be written again as it was sent"
    FOREIGN = "is a body of clients that were not made for this service"
    """Any `Accept` and any content type do, and it is 400 where others are 408 or 413."""
    OPERATOR = "is said by the operator alone"
    """For others the workspace and the person are those of the session."""


def header_field(name: str) -> In:
    """An input that travels in the header field `name`."""
    return In("header", name)


# -- the declaration ---------------------------------------------------------------------------

UseCase = Callable[[Context, Req], Awaitable[Res]] | Callable[[WorkContext, Req], Awaitable[Res]]
"""The function that runs an operation, in one unit of work or with several."""

PoolName = Literal["account", "agent", "address", "none"]
"""The rate-limit pools that requests of an operation are counted in."""


@frozen
class Tier:
    """An x402 price class: its name and the price of one request in US cents."""

    name: str
    cents: int

    @property
    def price_usd(self) -> str:
        """The price in US dollars, with two decimals."""
        return f"{self.cents // 100}.{self.cents % 100:02}"


T3_ENRICHED = Tier("T3_ENRICHED", 1)
T4_PREMIUM_LIST = Tier("T4_PREMIUM_LIST", 5)
T4_PREMIUM_SINGLE = Tier("T4_PREMIUM_SINGLE", 25)
T4_PREMIUM_AUDIO = Tier("T4_PREMIUM_AUDIO", 50)
TIERS = (T3_ENRICHED, T4_PREMIUM_LIST, T4_PREMIUM_SINGLE, T4_PREMIUM_AUDIO)


@frozen
class Target:
    """The row that a mutation is about: loaded and compared with `If-Match` before the body.

    `list_model` is the model of its rows in lists, where these show more than the answer does.
    `foreign` is a collection whose rows the caller may read and not change: an id that names one
    of them is answered 403 instead of 404.
    """

    collection: Collection[Any]
    param: str
    list_model: type[Any] | None = None
    foreign: Collection[Any] | None = None


@frozen
class Unit:
    """The unit of work that an operation runs in: one that reads, one that writes, or several.

    `ahead` returns, for a request, what to read on a snapshot before a writing unit begins, so that
    no other writer waits for that reading; the result is `Context.ahead`. What takes longer, with
    units of its own, is `prepared` instead: its block lasts until the writing unit has ended, and
    is not begun for a request whose answer is replayed. An operation that `is_queued` takes long,
    and runs once at a time for each tenant.
    """

    kind: Literal["read", "write", "several"]
    ahead: Callable[[Any], Callable[[Context], Awaitable[Any]] | None] | None = None
    prepared: Callable[[WorkContext, Any], AbstractAsyncContextManager[Any]] | None = None
    is_queued: bool = False


@frozen
class Confidential:
    """Marks an answer with a secret in it: its stored copy for idempotent replay is encrypted.

    `replay` turns the stored body into what a replay may still show; without it a replay shows all.
    """

    replay: Callable[[Context, bytes], Awaitable[bytes]] | None = None


@frozen(eq=False)
class Operation(Generic[Req, Res]):
    """One operation: a route, a command, a form, and the tests of all three.

    `path` is relative to the base of its `version`, `BASE_V1` or `BASE_V2`. `scopes` is an any-of
    set; an empty one with `auth="public"` needs no key. A `tier` makes it payable.
    `pool` is what its requests are counted in: those of the key and its account, those of the
    agent as well, that of the address where there is no key, or none.
    `idempotency` says whether an `Idempotency-Key` is required, optional or ignored.
    `timeless` promises that the answer depends on nothing but caller, request and stored rows,
    so a page of it may be kept until the next commit. `fails` names the problems that do not follow
    from the rest: with PRECONDITION_FAILED it honours `If-Match` though it has no target row, for
    its use case compares `Context.if_match`.
    `fields` names the header fields that a success has beside the usual ones.
    One that `signs` needs the signer of its host.
    A path may end in `{+name}`: the rest of the path with its slashes (RFC 6570, 3.2.3).

    A `personal` one works on rows of one person: its answers are kept for that person alone, and
    the operator, who says nothing else, runs it for the owner of the workspace.

    Its `unit` of work follows from its method, or from `run`: several where that takes a
    `WorkContext`, none where it takes a `CallContext`.
    `svc GROUP VERB` runs it, and documents show it under the `tag` of its group; one without a
    verb is run by a command that stands by hand. What cannot be undone `foresees`, by the local
    operation of that name, what it takes with it: a person at a terminal is told, and asked.
    `columns` are the members of a row that a table shows, as paths with dots, those of most weight
    first: a narrow terminal leaves out the last. `notes` are those that say what is wrong with a
    row; they are told below it.
    A `local` one has no route: the control socket, the command line and the dashboard run it, for
    the operator and for those of its `roles`; its request class is its JSON object itself.
    One that is bound to the `system` works on what belongs to no tenant, or on what the system
    keeps of one workspace: an actor with a `workspace_id` sees and changes that workspace alone.
    A `guarded` one is for people who signed in a short while ago; the pages see to that.
    What is `audited` leaves a row in the audit log where a person or the operator does it: what
    changes something or is guarded, and what gives out an export or a link, by its declaration.
    """

    id: str
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    summary: str
    description: str
    request: type[Req]
    response: Any
    run: UseCase[Req, Res]
    version: Literal["1.0", "2.0"] = "1.0"
    scopes: frozenset[str] = frozenset()
    auth: Literal["bearer", "bearer-or-x402", "public"] = "bearer"
    tier: Tier | None = None
    binding: Literal["any", "workspace", "system"] = "any"
    pool: PoolName = "account"
    media: tuple[Representation, ...] = (JSON,)
    target: Target | None = None
    idempotency: Literal["required", "optional", "none"] = "none"
    confidential: Confidential | None = None
    signs: bool = False
    fields: tuple[str, ...] = ()
    fails: tuple[ProblemType, ...] = ()
    timeless: bool = False
    examples: Mapping[str, Any] = field(factory=dict)
    group: str = ""
    tag: str = field()
    verb: str = ""
    foresees: str = ""
    columns: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    local: bool = False
    roles: frozenset[str] = frozenset()
    guarded: bool = False
    personal: bool = False
    unit: Unit = field()
    audited: bool = field()

    @tag.default
    def _default_tag(self) -> str:
        return self.group.capitalize()

    @unit.default
    def _default_unit(self) -> Unit:
        parameters = getattr(self.run, "__annotations__", {}).values()
        if CallContext in parameters or WorkContext in parameters:
            return Unit("several")
        return Unit("read" if self.method == "GET" else "write")

    @audited.default
    def _default_audited(self) -> bool:
        is_act = self.local and self.unit.kind == "several" and self.method != "GET"
        return self.writes or is_act or self.guarded

    @property
    def results(self) -> tuple[tuple[Any, Any], ...]:
        """The result classes of the response annotation, each with its model or None."""
        members = get_args(self.response) if is_union(self.response) else (self.response,)
        return tuple(
            (get_origin(member) or member, next(iter(get_args(member)), None)) for member in members
        )

    @property
    def success(self) -> int:
        """The HTTP status of a success, which follows from the result classes."""
        kinds = {kind for kind, _ in self.results}
        if Accepted in kinds:
            return 202
        return 201 if Created in kinds else 204 if kinds == {Empty} else 200

    @property
    def writes(self) -> bool:
        """Whether it runs in a transaction that may write."""
        return self.unit.kind == "write"

    @property
    def takes_if_match(self) -> bool:
        """Whether it honours `If-Match`."""
        return self.target is not None or problem.PRECONDITION_FAILED in self.fails

    @property
    def address(self) -> str:
        """The full path under the origin, with its values in braces."""
        return self.route.replace("{+", "{")

    @property
    def route(self) -> str:
        """The full path as the dispatcher takes it, with `{+name}` where it is the rest."""
        return (BASE_V1 if self.version == "1.0" else BASE_V2) + self.path


OPERATOR = frozenset({"operator"})
OWNERS = OPERATOR | {"owner"}
MANAGERS = OWNERS | {"admin"}
"""Who runs what is bound to one workspace: its owners and admins, and the operator for them."""
EVERYBODY = MANAGERS | {"member"}
PEOPLE = EVERYBODY | {"person"}
"""Who runs what is about themself, be they in a workspace or in none."""


_LINE_END = re.compile(r"(?<!\n)\n(?![\n-])")
"""The end of a line within a paragraph; items of a list begin with a dash."""
_LOCAL: Mapping[str, Any] = {"local": True, "roles": OPERATOR, "description": ""}


def declare(
    command: str,
    address: str,
    summary: str,
    run: UseCase[Req, Res],
    *,
    id_: str = "",
    **members: Any,
) -> Operation[Req, Res]:
    """Declare an operation: `command` is its group and verb, `address` its method and path.

    Its request class and its response are those that `run` is annotated with, its id is the name of
    `run`, and its description the docstring of that, but for what it raises, unless others are
    given.
    """
    _, request, response = run.__annotations__.values()
    text, _, _ = cleandoc(run.__doc__ or "").partition("\n\nRaises:")
    group, _, verb = command.partition(" ")
    method, _, path = address.partition(" ")
    defaults: dict[str, Any] = {
        "id": id_ or camel(run.__name__.strip("_")),
        "group": group,
        "verb": verb,
        "method": method,
        "path": path,
        "description": _LINE_END.sub(" ", text),
        "request": request,
        "response": response,
    }
    return Operation(summary=summary, run=run, **{**defaults, **members})


def local(
    command: str, summary: str, run: UseCase[Req, Res], **members: Any
) -> Operation[Req, Res]:
    """Declare an operation without a route, as `declare` does."""
    return declare(command, "POST", summary, run, **{**_LOCAL, **members})
