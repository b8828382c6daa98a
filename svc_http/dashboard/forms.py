"""Turns what a form or a query says into the request of an operation, and faults into its fields.

Rule 1: a member that was not touched is not sent: of a change in part what differs from what stood
        in the form, else what differs from the default. What was cleared is sent as null.
Rule 2: what was typed is kept: a refused form comes back as it was sent.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import Operation
from svc_core.wire import InputFault
from svc_http.dashboard.control_texts import (
    ControlError,
    control_words,
    json_value,
    query_text,
    value_texts,
)
from svc_http.dashboard.desk import Request
from svc_http.dashboard.form_fields import Field
from svc_http.dashboard.value_shapes import member_at
from svc_http.dashboard.visit import Values

KEY: Final = "_key"
MATCH: Final = "_match"
FORMER: Final = "_was"
"""Hidden values of a form: its idempotency key, the tag that it was made from, and the texts."""


def request_of(
    operation: Operation[Any, Any],
    fields: Sequence[Field],
    values: Values,
    ids: Mapping[str, str],
) -> Request:
    """The request that the values of a form or a query make.

    Raises:
        Problem: VALIDATION_FAILED; a text is no JSON, or no pairs.
    """
    request = Request({}, body=dict(ids)) if operation.local else Request(ids)
    is_patch = operation.method == "PATCH"
    former = _former(values) if is_patch else {each.name: each.values for each in fields}
    faults = []
    for each in fields:
        words = control_words(each.kind, values.get(each.name, ()))
        is_same = words == control_words(each.kind, former.get(each.name, ()))
        is_sent = words or is_patch or each.kind == "check"
        if each.place == "query" and words:
            request.query[each.name] = query_text(each.kind, words)
        elif each.place != "query" and is_sent and (each.required or not is_same):
            try:
                request = _with(request, each, words)
            except ControlError as error:
                faults.append(InputFault("/" + each.name.replace(".", "/"), str(error)))
    problem.refuse(faults)
    return request


def _with(request: Request, each: Field, words: tuple[str, ...]) -> Request:
    is_null = not words and each.kind not in {"check", "lines", "choices", "picks"}
    value = None if is_null else json_value(each.kind, words, is_json=each.is_json)
    if each.lead:
        value = [{each.lead: word} for word in words]
    if each.place == "body":
        return attrs.evolve(request, whole=value)
    *path, name = each.name.split(".")
    members = request.body
    for part in path:
        members = members.setdefault(part, {})
    members[name] = value
    return request


def _former(values: Values) -> Mapping[str, tuple[str, ...]]:
    """The texts that stood in the form, which travelled with it; of no weight but for itself."""
    try:
        texts = json.loads(next(iter(values.get(FORMER, ())), "{}"))
        return {name: tuple(map(str, words)) for name, words in texts.items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return {}


# -- fields with values ------------------------------------------------------------------------


def with_values(
    fields: Sequence[Field], values: Values, *, is_new: bool = False
) -> tuple[Field, ...]:
    """The fields with what was typed; of which nothing came, they are blank, or new ones as is."""
    texts = {each.name: each.values for each in fields if is_new} | dict(values)
    return tuple(
        attrs.evolve(each, values=control_words(each.kind, texts.get(each.name, ())))
        for each in fields
    )


def with_row(fields: Sequence[Field], row: Mapping[str, Any]) -> tuple[Field, ...]:
    """The fields with the members of a resource."""
    return tuple(
        attrs.evolve(each, values=value_texts(each.kind, member_at(row, each.name)))
        for each in fields
    )


def with_faults(fields: Sequence[Field], refusal: Problem) -> tuple[tuple[Field, ...], list[str]]:
    """The fields with the faults that a refusal tells of them, and the faults of no field."""
    names = {each.name for each in fields}
    errors: dict[str, str] = {}
    rest: list[str] = []
    name = ""
    for part in refusal.detail.split("; "):
        place, _, reason = part.partition(": ")
        name = _name_at(place, names) if reason else ""
        if name:
            inner = place.removeprefix("/").replace("/", ".")[len(name) + 1 :]
            reason = f"{inner}: {reason}" if inner else reason
            errors[name] = f"{errors[name]}; {reason}" if name in errors else reason
        else:
            rest.append(part)
    marked = tuple(attrs.evolve(each, error=errors.get(each.name, "")) for each in fields)
    return marked, rest


def _name_at(place: str, names: set[str]) -> str:
    """The field that a pointer or a parameter name leads to, or into; empty for none."""
    name = place.removeprefix("/").replace("/", ".")
    while name and name not in names:
        name = name.rpartition(".")[0]
    return name
