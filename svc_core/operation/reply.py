"""Replies: the result of a use case as status, header fields and bytes."""

from typing import Any

from attrs import frozen

from svc_core.contract import envelope, etag, problem
from svc_core.contract.negotiation import Representation
from svc_core.contract.problem import Problem
from svc_core.contract.result import (
    Accepted,
    Bare,
    Content,
    Created,
    Empty,
    Fields,
    Page,
    Redirect,
    Single,
    Tag,
)
from svc_core.operation.caller import CallContext
from svc_core.operation.declaration import GEOJSON, JSON, NDJSON
from svc_core.operation.parsing import Invocation
from svc_core.operation.query_string import QueryString
from svc_core.operation.stream import Stream

_NO_FIELDS: Fields = ()


@frozen
class Reply:
    """A finished answer: its status, media type (None without a body), bytes and own headers.

    A `fleeting` reply depends on the time and is never cached. The body of a reply with a `stream`
    comes from there. `failed` marks an answer that reports a failure in its body.
    """

    status: int
    media_type: str | None = None
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    fleeting: bool = False
    stream: Stream | None = None
    failed: bool = False


def tag_of(context: CallContext, representation: Representation, tag: Tag) -> str:
    """The strong ETag of a representation; it depends on the tenant, never on the key."""
    if isinstance(tag, str):
        return f'"{tag}"'
    return etag.entity_tag(context.actor.tenant, representation.format, *tag)


def render_result(invocation: Invocation, context: CallContext, result: Any) -> Reply:
    """Render the result of a use case as a reply.

    Raises:
        Problem: PRECONDITION_FAILED, the row that was read does not match `If-Match`.
    """
    match result:
        case Page():
            return _page_reply(invocation, context, result)
        case Created() | Accepted():
            location = ("Location", invocation.site.base_url + result.location)
            etag_ = ("ETag", tag_of(context, JSON, result.tag))
            body = envelope.resource_body(result.raw)
            return Reply(invocation.operation.success, JSON.media_type, body, (location, etag_))
        case Empty():
            return Reply(204)
        case Stream():
            own = result.media_type, b"", result.fields
            return Reply(200, *own, fleeting=True, stream=result)
        case Redirect():
            return Reply(302, None, b"", (("Location", result.location),))
        case _:
            return _resource_reply(invocation, context, result)


def _resource_reply(invocation: Invocation, context: CallContext, result: Any) -> Reply:
    operation = invocation.operation
    media_type, fields = JSON.media_type, _NO_FIELDS
    match result:
        case Single():
            body = envelope.resource_body(result.raw)
        case Bare():
            body = result.raw
        case Content():
            body, media_type, fields = result.body, result.media_type, result.fields
        case _:
            raise AssertionError(f"{operation.id} returned {type(result).__name__}")
    fleeting = isinstance(result, Single | Content) and result.fleeting
    failed = isinstance(result, Single) and result.failed
    if result.tag is None:
        return Reply(200, media_type, body, fields, failed=failed)
    tag = tag_of(context, invocation.representation, result.tag)
    headers = (*fields, ("ETag", tag))
    if operation.method == "GET":
        # RFC 9110 13.2.2: If-Match first, and for reads as well.
        if invocation.if_match is not None and not etag.matches(invocation.if_match, tag):
            raise mismatch(tag)
        if is_unchanged(invocation, tag):
            return Reply(304, None, b"", headers, fleeting)
    return Reply(200, media_type, body, headers, fleeting)


def mismatch(current: str) -> Problem:
    """PRECONDITION_FAILED with the current ETag."""
    detail = "The resource's current ETag does not meet the precondition."
    return Problem(problem.PRECONDITION_FAILED, detail, {"ETag": current})


def is_unchanged(invocation: Invocation, tag: str) -> bool:
    """Whether `If-None-Match` names this tag, so that the caller has this version already."""
    condition = invocation.if_none_match
    return condition is not None and not etag.none_match(condition, tag)


def _page_reply(invocation: Invocation, context: CallContext, result: Page[Any]) -> Reply:
    link = None
    headers = result.fields
    form = invocation.representation.format
    is_map = form == GEOJSON.format
    query = invocation.query.with_parameter("format", form) if is_map else invocation.query
    if result.next_cursor is not None:
        next_query = query.with_parameter(result.next_parameter, result.next_cursor)
        link = _address(invocation, next_query)
        headers = (*headers, ("Link", f'<{link}>; rel="next"'))
    if form == NDJSON.format:
        return Reply(200, NDJSON.media_type, envelope.ndjson(result), headers)
    aliases = invocation.site.aliases and invocation.operation.version == "1.0"
    if is_map:
        own = _address(invocation, query)
        links = {"self": own} if link is None else {"self": own, "next": link}
        body = envelope.feature_collection(
            result, links=links, timestamp=context.now, aliases=aliases
        )
        return Reply(200, GEOJSON.media_type, body, headers, fleeting=True)
    body = envelope.page_body(result, next_link=link, aliases=aliases)
    return Reply(200, JSON.media_type, body, headers, failed=result.failed)


def _address(invocation: Invocation, query: QueryString) -> str:
    path = invocation.operation.address.format(**invocation.path_values)
    return f"{invocation.site.base_url}{path}?{query}"
