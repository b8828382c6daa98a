"""Descriptions of operations: the declared text, with paragraphs derived from the declaration.

Every derived paragraph follows from a declared property, so it stands with every operation that has
the property and with no other.
"""

from collections.abc import Iterator
from typing import Any

from svc_core.contract import idempotency, problem
from svc_core.contract.result import Accepted, Bare, Content, Created, Page, PagedResource, Single
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of

CURSOR = "cursor"
TAG_KINDS = frozenset({Single, Bare, Content})
"""The results that have an ETag when they are read."""

_HOURS = int(idempotency.RETENTION.total_seconds() // 3600)


def description(operation: Operation[Any, Any]) -> str:
    """The declared description, then a Markdown paragraph for each declared property."""
    return "\n\n".join([operation.description, *_promises(operation)])


def cursor_of(operation: Operation[Any, Any]) -> str | None:
    """The query parameter that continues the list, None where there is no list to continue.

    That of a feed is the one that takes its watermark.
    """
    if all(kind not in (Page, PagedResource) for kind, _ in operation.results):
        return None
    refusals = {item.name: item.refusal for item in inputs_of(operation.request)}
    marks = (name for name, refusal in refusals.items() if refusal is problem.INVALID_WATERMARK)
    return next(marks, CURSOR if CURSOR in refusals else None)


def is_tagged(operation: Operation[Any, Any]) -> bool:
    """Whether the answer has an ETag that `If-None-Match` revalidates.

    Not where several units of work make the answer: it has no single version.
    """
    is_read = (operation.method, operation.unit.kind) == ("GET", "read")
    return is_read and any(kind in TAG_KINDS for kind, _ in operation.results)


def _promises(operation: Operation[Any, Any]) -> Iterator[str]:
    yield from _of_lists(operation)
    yield from _of_versions(operation)
    yield from _of_repetition(operation)
    yield from _of_forms(operation)
    yield from _of_access(operation)


def _of_lists(operation: Operation[Any, Any]) -> Iterator[str]:
    name = cursor_of(operation)
    if name == CURSOR:
        yield (
            "**Paging.** Send `meta.page.nextCursor` back as `cursor`, with the same filters, or "
            "follow `links.next`; both are null on the last page. A cursor of another list, or of "
            "other filters, answers 400 `INVALID_CURSOR`."
        )
    elif name is not None:
        yield (
            f"**Paging.** Send `meta.watermark` back as `{name}`. While `links.next` is not null "
            "there is more to read now; after that, ask again from the watermark whenever you "
            "like. "
            f"`meta.page.nextCursor` is taken back as `{CURSOR}`, as by every list."
        )


def _of_versions(operation: Operation[Any, Any]) -> Iterator[str]:
    if is_tagged(operation):
        yield (
            "**Caching.** The answer has an `ETag`. Send it as `If-None-Match` and the answer is "
            "304 without a body for as long as nothing has changed. Sent as `If-Match`, it must be "
            "the current one, or the answer is 412."
        )
    if operation.takes_if_match:
        yield (
            "**Lost updates.** Send the `ETag` that you have read as `If-Match`: if somebody else "
            "has written meanwhile, the answer is 412 and nothing is written. Without it the "
            "change is made to whatever version there is."
        )
    if any(kind in (Created, Accepted) for kind, _ in operation.results):
        yield "The answer names the new resource in `Location` and its version in `ETag`."


def _of_repetition(operation: Operation[Any, Any]) -> Iterator[str]:
    if operation.idempotency != "none":
        duty = "is required" if operation.idempotency == "required" else "may be sent"
        yield (
            f"**Safe to repeat.** An `Idempotency-Key` {duty}. The same key with the same body "
            f"gives the first answer again for {_HOURS} hours, marked "
            "`Idempotency-Replayed: true`, and does nothing twice; with another body it answers "
            "409 `IDEMPOTENCY_CONFLICT`. A refusal is not kept: fix the request and send it with "
            "the same key."
        )


def _of_forms(operation: Operation[Any, Any]) -> Iterator[str]:
    if len(operation.media) > 1:
        offers = ", ".join(f"`{offer.format}` ({offer.media_type})" for offer in operation.media)
        yield f"**Formats.** {offers}, chosen by `format`, else by `Accept`."


def _of_access(operation: Operation[Any, Any]) -> Iterator[str]:
    if operation.auth == "public":
        yield "**Access.** No key is needed."
        return
    if operation.scopes:
        scopes = " or ".join(f"`{scope}`" for scope in sorted(operation.scopes))
        binding = " that is bound to a workspace" if operation.binding == "workspace" else ""
        yield f"**Access.** A key{binding} with the scope {scopes}."
    if operation.tier is not None:
        yield (
            f"**Without a key** the answer is 402: one request costs {operation.tier.price_usd} US "
            f"dollars (x402, {operation.tier.name}). A key that is refused is answered 401 or 403, "
            "never with an offer to pay."
        )
