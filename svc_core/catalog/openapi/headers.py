"""The response header fields of the service, and which of them each answer carries."""

from collections.abc import Collection, Iterable
from typing import Any

from svc_core.catalog.openapi import descriptions as words
from svc_core.catalog.openapi.failures import KEY, PAYMENT, SCOPE
from svc_core.contract import problem
from svc_core.contract.problem import ProblemType
from svc_core.contract.result import Accepted, Created, Page, PagedResource
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.parsing import request_shape
from svc_core.operation.stream import Stream
from svc_core.wire.schema import Schema

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "integer", "minimum": 0}

_WINDOWS = {"Minute": "in the current UTC minute", "Day": "on the current UTC day"}


def _header(description: str, schema: Schema = _TEXT) -> Schema:
    return {"description": description, "schema": schema}


def _limits(form: str, owner: str) -> dict[str, Schema]:
    """The four fields of one pool, named by `form` with kind and window."""
    return {
        form.format(kind, window): _header(f"{words} {span}, {owner}.", _COUNT)
        for window, span in _WINDOWS.items()
        for kind, words in (("Limit", "Requests allowed"), ("Remaining", "Requests left"))
    }


ACCOUNT_LIMITS: dict[str, Schema] = {
    **_limits("X-RateLimit-{}-{}", "for this key"),
    **_limits("X-RateLimit-{}-User-{}", "over the account"),
    "X-RateLimit-Reset-Minute": _header("Unix time at which the minute ends.", _COUNT),
    "X-RateLimit-Reset-Day": _header("Unix time at which the day ends.", _COUNT),
    "RateLimit-Policy": _header("The limits and their windows, in one structured field."),
    "RateLimit": _header("What is left of each limit, and the seconds until it resets."),
}

AGENT_LIMITS: dict[str, Schema] = {
    **_limits("X-Svc-Agent-RateLimit-{}-{}", "for this key"),
    **_limits("X-Svc-Agent-RateLimit-Account-{}-{}", "over the account"),
}

HEADERS: dict[str, Schema] = {
    "X-Request-Id": _header("Identifier of this request; quote it to support."),
    "X-Svc-API-Version": _header(
        "Version of the interface.", {"type": "string", "enum": ["1.0", "2.0"]}
    ),
    "X-Svc-Schema-Version": _header("Version of the v1 schemas."),
    **ACCOUNT_LIMITS,
    **AGENT_LIMITS,
    "ETag": _header("Strong entity tag of the resource, where it has one."),
    "Location": _header("Address of the resource.", {"type": "string", "format": "uri"}),
    "Link": _header('The next page as `<...>; rel="next"`, where there is one.'),
    "Idempotency-Key": _header("The key of the request, repeated."),
    "Idempotency-Replayed": _header(
        "`true` where this is the stored answer of an earlier request.",
        {"type": "string", "const": "true"},
    ),
    "Deprecation": _header("When the deprecated input was deprecated (RFC 9745)."),
    "Sunset": _header("When the deprecated input will be refused (RFC 8594)."),
    "Retry-After": _header("Seconds to wait.", {"type": "integer", "minimum": 1}),
    "WWW-Authenticate": _header("The Bearer challenge (RFC 6750)."),
    "X-Svc-Ledger-Size": _header(
        "Records in the log, or in the part of it that was asked for.", _COUNT
    ),
    "X-Svc-Ledger-Root": _header("The Merkle root of that many records, base64."),
    "X-Svc-Ledger-Vkey": _header("The key that verifies checkpoints (C2SP signed-note)."),
    "X-Thread-Id": _header("The thread of the answer; send it to go on from there."),
    "X-Svc-Agent": _header("Who answers.", {"type": "string", "const": "svc-agent"}),
    "X-Svc-Agent-Mode": _header("How; there is one mode.", {"type": "string", "const": "standard"}),
    "X-Vercel-AI-UI-Message-Stream": _header("Version of the stream of messages."),
    "PAYMENT-REQUIRED": _header("What to pay and how, as base64 JSON (x402)."),
    "PAYMENT-RESPONSE": _header("How the payment was settled, as base64 JSON (x402)."),
    "X-Svc-Payment-Receipt": _header("The receipt of the payment, which anybody may look up."),
}


_HEADER_OF = {401: "WWW-Authenticate", 412: "ETag"} | dict.fromkeys((409, 429, 503), "Retry-After")


_SETTLEMENT_CODES = frozenset({"SETTLEMENT_FAILED", "SETTLEMENT_PENDING", "SETTLEMENT_UNKNOWN"})


UNCOUNTED_PROBLEMS = frozenset(
    {*KEY, *PAYMENT, *SCOPE, problem.URI_TOO_LONG, problem.SHUTTING_DOWN}
)
"""The refusals of requests that were not counted, which carry no rate-limit fields."""


def header_references(names: Iterable[str]) -> dict[str, Schema]:
    """References to header components."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def common_headers(operation: Operation[Any, Any]) -> list[str]:
    """The fields of every answer of an operation."""
    version = ["X-Svc-Schema-Version"] if operation.version == "1.0" else []
    return ["X-Request-Id", "X-Svc-API-Version", *version]


def _limits_of(operation: Operation[Any, Any]) -> tuple[str, ...]:
    """The rate-limit fields of an answer to a request that was counted."""
    if operation.auth == "public" or operation.pool not in {"account", "agent"}:
        return ()
    return (*ACCOUNT_LIMITS, *(AGENT_LIMITS if operation.pool == "agent" else ()))


def for_redirect(operation: Operation[Any, Any]) -> list[str]:
    """The fields of a 3xx answer beside its own, without the draft `RateLimit` fields."""
    limits = [name for name in _limits_of(operation) if name.startswith("X-")]
    return [*common_headers(operation), *limits]


def for_payment(operation: Operation[Any, Any]) -> tuple[str, ...]:
    """The fields of the answer to a paid request."""
    return () if operation.tier is None else ("PAYMENT-RESPONSE", "X-Svc-Payment-Receipt")


def for_success(operation: Operation[Any, Any], results: Iterable[type]) -> list[str]:
    """The fields of a success; `results` are its possible result classes."""
    names = [*common_headers(operation), *_limits_of(operation)]
    if Created in results or Accepted in results:
        names.append("Location")
    if Page in results or PagedResource in results:
        names.append("Link")
    is_untagged = operation.success == 204 or not {Page, PagedResource, Stream}.isdisjoint(results)
    if words.is_tagged(operation) or not (operation.method == "GET" or is_untagged):
        names.append("ETag")
    if operation.idempotency != "none":
        names += ["Idempotency-Key", "Idempotency-Replayed"]
    if request_shape(operation).has(Trait.DEPRECATED):
        names += ["Deprecation", "Sunset"]
    names += for_payment(operation)
    return [*names, *operation.fields]


def for_failure(operation: Operation[Any, Any], kinds: Collection[ProblemType]) -> list[str]:
    """The fields of the problem answers of one status."""
    names = {_HEADER_OF[kind.status] for kind in kinds if kind.status in _HEADER_OF}
    if all(kind.status == 409 and not kind.retryable for kind in kinds):
        names.clear()
    if problem.INSUFFICIENT_SCOPE in kinds:
        names.add("WWW-Authenticate")
    if problem.PAYMENT_REQUIRED in kinds:  # other kinds of 402 never offer to be paid
        names.add("PAYMENT-REQUIRED")
    if not _SETTLEMENT_CODES.isdisjoint(kind.code for kind in kinds):
        names.add("PAYMENT-RESPONSE")
    limits = () if UNCOUNTED_PROBLEMS.issuperset(kinds) else _limits_of(operation)
    return [*common_headers(operation), *limits, *sorted(names)]
