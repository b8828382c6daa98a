"""Operations that use every part of a declaration once."""

from datetime import datetime
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.instants import Interval
from svc_core.base.unset import UNSET, Maybe
from svc_core.contract import problem
from svc_core.contract.negotiation import Representation
from svc_core.contract.result import Bare, Content, Created, Empty, Page, Single
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    BODY,
    JSON,
    MARKDOWN,
    NDJSON,
    PATH,
    QUERY,
    T3_ENRICHED,
    TEXT,
    In,
    InputRefusal,
    Operation,
    Target,
    Trait,
    header_field,
)
from svc_core.operation.ports import Collection
from svc_core.wire import Json
from svc_core.wire.constraints import Doc, Example, Ge, IdOf, Le, MaxLen, MinLen, Pattern

ThingId = Annotated[str, IdOf("thg", noun="thing")]
PathId = Annotated[ThingId, PATH]
Limit = Annotated[int, QUERY, Ge(1), Le(100), Doc("Rows in one page.")]
GEOJSON = Representation("geojson", "application/geo+json")
EVENTS = Representation("sse", "text/event-stream")


@frozen
class Part:
    """A part of a thing,
    in two lines.

    More about it.
    """

    label: Annotated[str, MinLen(2), MaxLen(9)]


@frozen
class Thing:
    """A thing."""

    id: ThingId
    name: Annotated[str, Doc("Its name | title."), Example("Anvil")]
    parts: tuple[Part, ...]
    made_at: datetime
    weight: Annotated[float, Ge(0)] | None
    old_name: Annotated[Maybe[str], Doc("Deprecated: use name.")] = UNSET


@frozen
class ThingInput:
    """A whole thing."""

    name: str
    parts: Annotated[tuple[Part, ...], MaxLen(3)] = ()


@frozen
class ThingPatch:
    """What changes."""

    name: Maybe[str] = UNSET


@frozen
class ListThings:
    """Things."""

    limit: Limit = 20
    cursor: Annotated[
        Maybe[str], QUERY, InputRefusal(problem.INVALID_CURSOR), Doc("Where to go on.")
    ] = UNSET
    kinds: Annotated[Maybe[tuple[Literal["a", "b"], ...]], QUERY, Doc("Kinds.")] = UNSET
    since: Annotated[Maybe[datetime], QUERY, Trait.DEPRECATED] = UNSET
    when: Annotated[Maybe[Interval], In("query", "datetime")] = UNSET


@frozen
class OneThing:
    """One thing."""

    thing_id: PathId


@frozen
class MakeThing:
    """A new thing."""

    body: Annotated[ThingInput, BODY, Doc("The thing.")]
    agent: Annotated[Maybe[str], header_field("X-Agent"), Doc("Who asks.")] = UNSET


@frozen
class ChangeThing:
    """A changed thing."""

    thing_id: PathId
    body: Annotated[ThingPatch, BODY]


@frozen
class NoInput:
    """No input."""


@frozen
class Free:
    """Anything as a body."""

    body: Annotated[Json, BODY]


@frozen
class HeaderList:
    """A comma list in a header."""

    agents: Annotated[Maybe[tuple[str, ...]], header_field("X-Agents"), Doc("Who asks.")] = UNSET


@frozen
class CodeInput:
    """A code."""

    code: Annotated[str, Pattern("[A-Z]{2}")]


@frozen
class SendCode:
    """A request whose body cannot be made up."""

    body: Annotated[CodeInput, BODY]


@frozen
class OwnIfMatch:
    """A request that reads the precondition itself."""

    if_match: Annotated[Maybe[str], header_field("If-Match"), Doc("The tag.")] = UNSET


THINGS: Collection[Thing] = Collection("things", Thing, "thg", lambda _: 0)
READ = frozenset({"things:read"})
WRITE = frozenset({"things:write", "things:admin"})


async def run(ctx: Context, request: Any) -> Any:
    """Never called: the documents describe, they do not run."""
    raise AssertionError("not run")


def declare(
    id_: str, method: Any, path: str, request: type[Any], response: Any, **extra: Any
) -> Any:
    return Operation(
        **{
            "id": id_,
            "method": method,
            "path": path,
            "summary": f"Summary of {id_}",
            "description": f"Description of {id_}.",
            "tag": "Reports",
            "request": request,
            "response": response,
            "run": run,
            "scopes": READ,
            **extra,
        }
    )


OPERATIONS = (
    declare(
        "listThings",
        "GET",
        "/things",
        ListThings,
        Page[Thing],
        auth="bearer-or-x402",
        tier=T3_ENRICHED,
        media=(JSON, NDJSON, GEOJSON),
        fails=(problem.CONFLICTING_PARAMETERS, problem.NEWS_NOT_READY),
    ),
    declare(
        "createThing",
        "POST",
        "/things",
        MakeThing,
        Created[Thing],
        scopes=WRITE,
        idempotency="required",
        examples={"body": {"name": "Anvil"}},
    ),
    declare(
        "getThing",
        "GET",
        "/things/{thingId}",
        OneThing,
        Single[Thing] | Content,
        media=(JSON, MARKDOWN, TEXT),
    ),
    declare(
        "changeThing",
        "PATCH",
        "/things/{thingId}",
        ChangeThing,
        Single[Thing],
        scopes=WRITE,
        target=Target(THINGS, "thing_id"),
        idempotency="optional",
    ),
    declare(
        "deleteThing",
        "DELETE",
        "/things/{thingId}",
        OneThing,
        Empty,
        target=Target(THINGS, "thing_id"),
        tag="Profiles",
    ),
    declare("bareThing", "GET", "/things/{thingId}/bare", OneThing, Bare[Thing], version="2.0"),
    declare(
        "ask",
        "POST",
        "/ask",
        Free,
        Content,
        version="2.0",
        media=(EVENTS,),
        pool="agent",
        binding="workspace",
        fails=(problem.SUBSCRIPTION_REQUIRED,),
    ),
    declare(
        "follow", "GET", "/changes", NoInput, Page[Thing], auth="public", scopes=frozenset(),
        pool="none",
    ),
    declare("two", "GET", "/two", NoInput, Single[Thing] | Single[Part], scopes=frozenset()),
    declare("sendCode", "POST", "/code", SendCode, Page[Thing]),
    declare(
        "told", "GET", "/told", HeaderList, Single[Thing] | Content, media=(JSON, TEXT),
        examples={"text/plain": "Anvil\n"},
    ),
    declare("own", "DELETE", "/own", OwnIfMatch, Empty, target=Target(THINGS, "thing_id")),
)  # fmt: skip
