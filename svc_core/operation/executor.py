"""One admitted request from its parts to its answer: the pure half of every operation.

`prepare` judges everything that needs no storage; `perform` runs inside ONE unit of work. The
order of the checks is fixed, so that a request with several faults always gets the same answer:

    prepare   representation (406) · content type (415) · path, query, header values (404, 400)
              · form of the Idempotency-Key (400)
    perform   resource visible (404) · preconditions (412) · JSON (400) · idempotency (replay, 409)
              · schema (400) · the use case · the answer kept

RFC 9110 13.2.1 puts preconditions after the checks that would refuse anyway and before the
content is processed: a missing resource with `If-Match: *` is 404, a stale `If-Match` with an
invalid body is 412.
"""

from collections.abc import Awaitable, Callable
from itertools import chain
from typing import Any

import attrs
from attrs import frozen

from svc_core import wire
from svc_core.base import vault
from svc_core.contract import cursor, envelope, etag, idempotency, problem
from svc_core.contract.media import Representation
from svc_core.contract.problem import Problem, describe
from svc_core.operation import readonly
from svc_core.operation.declaration import GEOJSON, JSON, NDJSON, Actor, Context, Operation, Target
from svc_core.operation.inputs import inputs
from svc_core.operation.parsing import MERGE_PATCH, Call, Prepared, Query, Site, prepare
from svc_core.operation.parsing import declaration as _declared
from svc_core.operation.ports import Answer, Document
from svc_core.operation.result import (
    Accepted,
    Bare,
    Content,
    Created,
    Empty,
    Fields,
    One,
    Page,
    Redirect,
    Tag,
)
from svc_core.operation.stream import Stream
from svc_core.wire import shapes
from svc_core.wire.constraints import WriteOnly

__all__ = [
    "MERGE_PATCH",
    "Call",
    "Prepared",
    "Reply",
    "Site",
    "ahead",
    "perform",
    "prepare",
    "tag_of",
]

_NO_FIELDS: Fields = ()

_JSON_PROBLEMS = {
    "malformed": problem.MALFORMED_JSON,
    "duplicate": problem.DUPLICATE_JSON_MEMBER,
    "encoding": problem.INVALID_ENCODING,
    "too-deep": problem.JSON_TOO_DEEP,
    "number": problem.NUMBER_OUT_OF_RANGE,
    "precision": problem.NUMBER_PRECISION,
}


@frozen
class Reply:
    """A finished answer: its status, media type (None without a body), bytes and own headers.

    A `fleeting` one ages by itself and is made anew for every request. The body of one with a
    `stream` is yet to come, from there. `failed` is what the result says of itself.
    """

    status: int
    media_type: str | None = None
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    fleeting: bool = False
    stream: Stream | None = None
    failed: bool = False


# -- inside the transaction --------------------------------------------------------------------


def ahead(
    operation: Operation[Any, Any], prepared: Prepared
) -> Callable[[Context], Awaitable[Any]] | None:
    """What a host has to read for a request on a snapshot, as `Context.ahead`; None for nothing.

    Whatever is wrong with the request is for `perform` to say.
    """
    if operation.ahead is None:
        return None
    try:
        return operation.ahead(_request(operation, prepared, _json_body(operation, prepared)))
    except Problem:
        return None


async def perform(
    operation: Operation[Any, Any], prepared: Prepared, context: Context, site: Site
) -> Reply:
    """Judge what needs storage, run the use case and render its result.

    Raises:
        Problem: whatever refuses; the host then undoes the unit of work.
    """
    if operation.local:
        check_role(operation, context.actor)
    if operation.target is not None:
        context = await examined(operation, prepared, context)
    if prepared.key is not None:
        return await _once(operation, prepared, prepared.key, context, site)
    return await _run(operation, prepared, context, site, _json_body(operation, prepared))


def check_role(operation: Operation[Any, Any], actor: Actor) -> None:
    """Pass who may run a local operation.

    Raises:
        Problem: FORBIDDEN.
    """
    if operation.roles.isdisjoint(actor.roles):
        allowed = ", ".join(sorted(operation.roles))
        raise Problem(problem.FORBIDDEN, f"This is for: {allowed}.")


async def examined(operation: Operation[Any, Any], prepared: Prepared, context: Context) -> Context:
    """The context with the resource that a write is about, which is there and as expected.

    A host whose client fails to send the body asks this before it says so: whether there is
    anything to change is judged before what it is to become.

    Raises:
        Problem: NOT_FOUND, or PRECONDITION_FAILED with the current `ETag`.
    """
    if operation.target is None:
        return context
    return await _with_target(operation.target, prepared, context)


async def _once(
    operation: Operation[Any, Any], prepared: Prepared, key: str, context: Context, site: Site
) -> Reply:
    """The answer kept under the key, or the work and its answer, kept from now on."""
    raw = idempotency.raw_digest(prepared.body, prepared.path_values)
    answers, kind = context.tx.answers, _kind(operation, context)
    stored = await answers.get(kind, key)
    answer = idempotency.repeated(stored, raw, context.now)
    if answer is not None:
        return await _replayed(operation, context, answer, key, site)
    body = _json_body(operation, prepared)
    fingerprint = idempotency.fingerprint(body, prepared.path_values)
    match idempotency.decide(stored, fingerprint, context.now):
        case idempotency.Replay(answer):
            return await _replayed(operation, context, answer, key, site)
        case idempotency.Conflict():
            raise Problem(problem.IDEMPOTENCY_CONFLICT, "The key was used for another request.")
    reply = await _run(operation, prepared, context, site, body)
    kept = Answer(raw + fingerprint, reply.status, reply.headers, reply.body, context.now)
    await answers.put(kind, key, _sealed(operation, context, key, kept))
    return attrs.evolve(reply, headers=(*reply.headers, ("Idempotency-Key", key)))


def _kind(operation: Operation[Any, Any], context: Context) -> str:
    """What keys are told apart by besides the tenant."""
    return f"{operation.id} {context.actor.user_id}" if operation.personal else operation.id


async def _with_target(target: Target, prepared: Prepared, context: Context) -> Context:
    id_ = prepared.values[target.param]
    if target.foreign is not None and await context.find(target.foreign, id_) is not None:
        raise problem.foreign()
    document = await context.load(target.collection, id_)
    current = tag_of(context, JSON, document.tag)
    stale = prepared.if_match is not None and not etag.matches(prepared.if_match, current)
    if stale or _unchanged(prepared, current):
        raise _unmet(current)
    return attrs.evolve(context, target=document)


def _unmet(current: str) -> Problem:
    detail = "The resource's current ETag does not meet the precondition."
    return Problem(problem.PRECONDITION_FAILED, detail, {"ETag": current})


def _json_body(operation: Operation[Any, Any], prepared: Prepared) -> wire.Json:
    if not _declared(operation).reads_body:
        return None
    return read_json(prepared.body, exact=operation.exact)


def read_json(body: bytes, *, exact: bool) -> wire.Json:
    """The JSON value that somebody sent.

    Raises:
        Problem: it is none, or one that could not be kept as it is.
    """
    try:
        return wire.read_json(body, exact=exact)
    except wire.JsonError as fault:
        raise Problem(_JSON_PROBLEMS[fault.kind], f"{fault}.") from fault


async def _run(
    operation: Operation[Any, Any],
    prepared: Prepared,
    context: Context,
    site: Site,
    body: wire.Json,
) -> Reply:
    request = _request(operation, prepared, body, context.target)
    format_ = prepared.representation.format
    if context.format != format_:
        context = attrs.evolve(context, format=format_)
    result = await operation.run(context, request)
    return _render(operation, prepared, context, site, result)


def _request(
    operation: Operation[Any, Any],
    prepared: Prepared,
    body: wire.Json,
    target: Document[Any] | None = None,
) -> Any:
    item = _declared(operation).body
    body, faults = readonly.parted(operation, target, body)
    try:
        if operation.local:
            return wire.structure(operation.request, body)
        if item is None:
            return operation.request(**prepared.values)
        sent = wire.structure(item.annotation, body)
    except wire.WireError as fault:
        faults += fault.faults
        cure = "" if item is None else _cure(item.annotation, {one.where for one in faults})
        raise Problem(problem.VALIDATION_FAILED, describe(faults), resolution=cure) from fault
    problem.refuse(faults)
    return operation.request(**{**prepared.values, item.attribute: sent})


def _cure(body: Any, pointers: set[str]) -> str:
    """What a member that is refused says of how to make a good one; nothing where none does."""
    members = inputs(body) if shapes.is_model(body) else ()
    said = [shapes.said(item.annotation) for item in members if f"/{item.name}" in pointers]
    return next((one.cure for one in chain(*said) if isinstance(one, WriteOnly)), "")


def _sealed(operation: Operation[Any, Any], context: Context, key: str, answer: Answer) -> Answer:
    """The answer as it is kept: sealed where it holds what is shown only once."""
    if not operation.confidential:
        return answer
    keys, nonce = vault.vault(context.keyring), context.ids.random(cursor.NONCE_BYTES)
    sealed = vault.lock(keys, answer.body, _place(operation, context, key), nonce)
    return answer._replace(body=sealed.encode())


def _opened(operation: Operation[Any, Any], context: Context, key: str, answer: Answer) -> bytes:
    if not operation.confidential:
        return answer.body
    place = _place(operation, context, key)
    try:
        return vault.unlock(vault.vault(context.keyring), answer.body.decode(), place)
    except vault.VaultError as shut:
        detail = "The answer under this key cannot be opened any more; use another key."
        raise Problem(problem.IDEMPOTENCY_CONFLICT, detail) from shut


def _place(operation: Operation[Any, Any], context: Context, key: str) -> str:
    return f"answer {context.actor.tenant} {operation.id} {key}"


async def _replayed(
    operation: Operation[Any, Any], context: Context, answer: Answer, key: str, site: Site
) -> Reply:
    body = _opened(operation, context, key, answer)
    if operation.replay is not None:
        body = await operation.replay(context, body)
    replayed = (("Idempotency-Key", key), ("Idempotency-Replayed", "true"))
    media_type = JSON.media_type if body else None
    headers = (_at_site(site, *pair) for pair in answer.headers)
    return Reply(answer.status, media_type, body, (*headers, *replayed))


def _at_site(site: Site, name: str, value: str) -> tuple[str, str]:
    """A field of a kept answer; `Location` leads to the origin that is asked now."""
    if name != "Location":
        return name, value
    return name, site.base_url + value[value.rindex("/api/v") :]


# -- results as answers ------------------------------------------------------------------------


def tag_of(context: Context, representation: Representation, tag: Tag) -> str:
    """The strong ETag of a representation; it depends on the tenant, never on the key."""
    if isinstance(tag, str):
        return f'"{tag}"'
    return etag.make(context.actor.tenant, representation.format, *tag)


def _render(
    operation: Operation[Any, Any],
    prepared: Prepared,
    context: Context,
    site: Site,
    result: Any,
) -> Reply:
    match result:
        case Page():
            return _render_page(operation, prepared, context, site, result)
        case Created() | Accepted():
            location = ("Location", site.base_url + result.location)
            tagged = ("ETag", tag_of(context, JSON, result.tag))
            body = envelope.one(result.raw)
            return Reply(operation.success, JSON.media_type, body, (location, tagged))
        case Empty():
            return Reply(204)
        case Stream():
            own = result.media_type, b"", result.fields
            return Reply(200, *own, fleeting=True, stream=result)
        case Redirect():
            return Reply(302, None, b"", (("Location", result.location),))
        case _:
            return _render_resource(operation, prepared, context, result)


def _render_resource(
    operation: Operation[Any, Any], prepared: Prepared, context: Context, result: Any
) -> Reply:
    media_type, fields = JSON.media_type, _NO_FIELDS
    match result:
        case One():
            body = envelope.one(result.raw)
        case Bare():
            body = result.raw
        case Content():
            body, media_type, fields = result.body, result.media_type, result.fields
        case _:
            raise AssertionError(f"{operation.id} returned {type(result).__name__}")
    fleeting = isinstance(result, One | Content) and result.fleeting
    failed = isinstance(result, One) and result.failed
    if result.tag is None:
        return Reply(200, media_type, body, fields, failed=failed)
    tag = tag_of(context, prepared.representation, result.tag)
    headers = (*fields, ("ETag", tag))
    if operation.method == "GET":
        # RFC 9110 13.2.2: If-Match first, and for reads as well.
        if prepared.if_match is not None and not etag.matches(prepared.if_match, tag):
            raise _unmet(tag)
        if _unchanged(prepared, tag):
            return Reply(304, None, b"", headers, fleeting)
    return Reply(200, media_type, body, headers, fleeting)


def _unchanged(prepared: Prepared, tag: str) -> bool:
    return prepared.if_none_match is not None and not etag.none_match(prepared.if_none_match, tag)


def _render_page(
    operation: Operation[Any, Any],
    prepared: Prepared,
    context: Context,
    site: Site,
    result: Page[Any],
) -> Reply:
    link = None
    headers = result.fields
    form = prepared.representation.format
    is_map = form == GEOJSON.format
    query = prepared.query.having("format", form) if is_map else prepared.query
    if result.next_cursor is not None:
        next_query = query.having(result.next_parameter, result.next_cursor)
        link = _address(operation, prepared, site, next_query)
        headers = (*headers, ("Link", f'<{link}>; rel="next"'))
    if form == NDJSON.format:
        return Reply(200, NDJSON.media_type, envelope.lines(result), headers)
    aliases = site.aliases and operation.version == "1.0"
    if is_map:
        own = _address(operation, prepared, site, query)
        links = {"self": own} if link is None else {"self": own, "next": link}
        body = envelope.features(result, links=links, at=context.now, aliases=aliases)
        return Reply(200, GEOJSON.media_type, body, headers, fleeting=True)
    body = envelope.page(result, next_link=link, aliases=aliases)
    return Reply(200, JSON.media_type, body, headers, failed=result.failed)


def _address(operation: Operation[Any, Any], prepared: Prepared, site: Site, query: Query) -> str:
    path = operation.address.format(**prepared.path_values)
    return f"{site.base_url}{path}?{query}"
