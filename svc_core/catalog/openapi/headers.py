"""The response header fields of the service, and which of them each answer carries."""

import json
from collections.abc import Collection, Iterable
from typing import Any

from svc_core import data
from svc_core.catalog.openapi import descriptions as words
from svc_core.catalog.openapi.failures import KEY, PAYMENT, SCOPE
from svc_core.contract import problem
from svc_core.contract.problem import ProblemType
from svc_core.contract.result import Accepted, Created, Page, PagedResource
from svc_core.operation.declaration import Operation, Trait
from svc_core.operation.parsing import request_shape
from svc_core.operation.stream import Stream
from svc_core.wire.schema import Schema

_ROWS = data.table_rows("header_fields.tsv")

HEADERS: dict[str, Schema] = {
    name: {"description": text, "schema": json.loads(schema) if schema else {"type": "string"}}
    for name, _, text, schema in _ROWS
}

ACCOUNT_LIMITS = tuple(name for name, pool, *_ in _ROWS if pool == "account")

AGENT_LIMITS = tuple(name for name, pool, *_ in _ROWS if pool == "agent")

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
