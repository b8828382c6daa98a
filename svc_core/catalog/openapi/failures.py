"""The problem types of an operation, derived from its declaration.

`Operation.fails` adds those that only the use case knows.
"""

from collections.abc import Iterator
from typing import Any

from svc_core import data
from svc_core.catalog.openapi.descriptions import is_tagged
from svc_core.contract import problem
from svc_core.contract.problem import ProblemType
from svc_core.operation.declaration import SSE, Operation, Trait
from svc_core.operation.inputs import inputs_of
from svc_core.operation.parsing import request_shape


def _types_of(part: str) -> tuple[ProblemType, ...]:
    """The problem types that a part of a request brings, whatever the operation."""
    rows = data.table_rows("problems.tsv")
    return tuple(problem.CATALOGUE[code] for code, _, _, own, *_ in rows if own == part)


_BODY, KEY, SCOPE, PAYMENT, _ALWAYS = map(_types_of, ("body", "key", "scope", "payment", "any"))


def failure_responses(operation: Operation[Any, Any]) -> tuple[ProblemType, ...]:
    """Every problem type of an operation, in the order of the catalogue."""
    codes = {kind.code for kind in _problem_types(operation)}
    return tuple(kind for code, kind in problem.CATALOGUE.items() if code in codes)


def _problem_types(operation: Operation[Any, Any]) -> Iterator[ProblemType]:
    yield from _ALWAYS
    yield from operation.fails
    yield from _of_inputs(operation)
    yield from _of_access(operation)
    if operation.takes_if_match:
        yield problem.PRECONDITION_FAILED
        yield problem.RESOURCE_CONFLICT
    if operation.target is not None and operation.target.foreign is not None:
        yield problem.FORBIDDEN
    if is_tagged(operation):
        yield problem.PRECONDITION_FAILED
    if operation.idempotency != "none":
        yield problem.INVALID_IDEMPOTENCY_KEY
        yield problem.IDEMPOTENCY_CONFLICT
        yield problem.IDEMPOTENCY_IN_PROGRESS
    if operation.idempotency == "required":
        yield problem.IDEMPOTENCY_KEY_REQUIRED
    if operation.writes:
        yield problem.STORAGE_UNAVAILABLE
    if operation.signs:
        yield problem.SERVICE_UNAVAILABLE


def _of_inputs(operation: Operation[Any, Any]) -> Iterator[ProblemType]:
    places = {item.place for item in inputs_of(operation.request)}
    # A query may always hold a name that is not known, or one twice, or be too long.
    yield problem.UNKNOWN_PARAMETER
    yield problem.DUPLICATE_PARAMETER
    yield problem.INVALID_PARAMETER
    yield problem.URI_TOO_LONG
    yield from {item.refusal for item in inputs_of(operation.request)}
    if "path" in places:
        yield problem.NOT_FOUND
    if "body" in places:
        foreign = problem.LENIENT if request_shape(operation).has(Trait.FOREIGN) else {}
        yield from (foreign.get(kind, kind) for kind in _BODY)
    # An `Accept` that excludes every offer is refused, but never on the agent streams.
    if any(offer != SSE for offer in operation.media):
        yield problem.NOT_ACCEPTABLE


def _of_access(operation: Operation[Any, Any]) -> Iterator[ProblemType]:
    if operation.pool == "address":
        yield problem.RATE_LIMITED
    if operation.auth == "public":
        return
    yield from KEY
    if operation.auth == "bearer":
        yield problem.MISSING_API_KEY
    if operation.scopes:
        yield problem.INSUFFICIENT_SCOPE
    if operation.binding == "workspace":
        yield problem.WORKSPACE_KEY_REQUIRED
    if operation.auth == "bearer-or-x402":
        yield from PAYMENT
    if operation.pool == "account":
        yield problem.RATE_LIMITED
    if operation.pool == "agent":
        yield problem.AGENT_RATE_LIMITED
