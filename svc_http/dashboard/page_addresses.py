"""The address of every operation's page, and the operations that one page leads to.

    {group}                   the list of a group, or what a workspace has one of
    {group}/new               a form that creates
    {group}/{id}              one row
    {group}/{id}/edit         a form that changes it
    {group}/{id}/{verb}       what else is done with it, or what it has
    {group}/{id}/{verb}/{id}  the same with what is in it
    {group}/{verb}            everything else

Rule 1: the words are those of the command line; an operation without a verb has its id as one.
Rule 2: the ids of a local operation, which has no path, are the first input that must name a row.
Rule 3: an id that takes the rest of a path stands last.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final
from urllib.parse import quote, urlencode

from attrs import frozen

from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_core.operation.declaration import OPERATOR, Operation
from svc_core.operation.inputs import Input, inputs_of
from svc_core.wire import shapes

PREFIX: Final = "/dashboard"
EVERY: Final = (*OPERATIONS, *LOCAL_OPERATIONS)
BY_ID: Final[Mapping[str, Operation[Any, Any]]] = {operation.id: operation for operation in EVERY}
READING: Final = frozenset({"list", "show", "status"})
"""Verbs of operations that change nothing, whatever their method."""


def is_safe(operation: Operation[Any, Any]) -> bool:
    """Whether it only reads, so that a link may lead to it."""
    return operation.method == "GET" or operation.verb in READING


@cache  # Bounded: one entry for each operation of the catalogue, as below.
def page_ids(operation: Operation[Any, Any]) -> tuple[str, ...]:
    """The names of the inputs that stand in the address of its page."""
    items = inputs_of(operation.request)
    if not operation.local:
        return tuple(item.name for item in items if item.place == "path")
    rows = (
        item.name
        for item in items
        if item.required
        and item.is_positional
        and (item.id_of or item.name == "id")
        and not shapes.is_tuple(shapes.plain_type(item.annotation)[0])
    )
    return tuple(rows)[:1]


@cache
def tail_of(operation: Operation[Any, Any]) -> str:
    """The address below that of a workspace or of the installation, with its ids in braces."""
    verb = operation.verb or re.sub("(?=[A-Z])", "-", operation.id).lower()
    group, ids = operation.group, [f"{{{name}}}" for name in page_ids(operation)]
    if "{+" in operation.path:
        return "/".join((group, verb, *ids)).replace("{", "{+")
    match verb, ids:
        case "list" | "show" | "status", []:
            return group
        case "create", []:
            return f"{group}/new"
        case "show", [id_]:
            return f"{group}/{id_}"
        case "update", [*_]:
            verb = "edit"
    return "/".join((group, *ids[:1], verb, *ids[1:]))


def is_for_operators(operation: Operation[Any, Any]) -> bool:
    """Whether its only page is below `/dashboard/operate`, not below a workspace."""
    return operation.binding == "system" and operation.roles == OPERATOR


def base_of(operation: Operation[Any, Any], workspace_id: str | None) -> str:
    """The address that its page is below: that of the workspace, or of the installation."""
    if workspace_id is None or is_for_operators(operation):
        return f"{PREFIX}/operate"
    return f"{PREFIX}/w/{workspace_id}"


def page_address(
    operation: Operation[Any, Any],
    workspace_id: str | None,
    ids: Mapping[str, str],
    **query: str,
) -> str:
    """The address of its page with these ids, and with a query."""
    parts = (
        quote(ids[part.strip("{+}")], safe="/" if "+" in part else "") if part[0] == "{" else part
        for part in tail_of(operation).split("/")
    )
    text = "/".join((base_of(operation, workspace_id), *parts))
    return f"{text}?{urlencode(query)}" if query else text


def paths_of(operation: Operation[Any, Any]) -> tuple[str, ...]:
    """The paths of its page: below every workspace, below the installation, or both."""
    tail, is_system = tail_of(operation), operation.binding == "system"
    below = () if is_for_operators(operation) else (f"{PREFIX}/w/{{workspaceId}}/{tail}",)
    return (*below, *((f"{PREFIX}/operate/{tail}",) if is_system else ()))


# -- what a page leads to ----------------------------------------------------------------------


@frozen
class PageStep:
    """An operation that a page leads to, with the ids and the query of its address."""

    operation: Operation[Any, Any]
    ids: Mapping[str, str]
    query: Mapping[str, str] = {}


@cache
def members_of(group: str) -> tuple[Operation[Any, Any], ...]:
    """The operations of a group that need no row: what its pages lead to."""
    return tuple(each for each in EVERY if each.group == group and each.verb and not page_ids(each))


@cache
def show_of(operation: Operation[Any, Any]) -> Operation[Any, Any] | None:
    """The operation that shows a row of this list; None where a row is all there is to see."""
    for each in EVERY:
        ids = page_ids(each)
        if is_safe(each) and len(ids) == len(page_ids(operation)) + 1:
            if operation.local:
                is_row = each.local and (each.group, each.verb) == (operation.group, "show")
            else:
                is_row = each.method == "GET" and each.path == f"{operation.path}/{{{ids[-1]}}}"
            if is_row:
                return each
    return None


def row_id_for(item: Input, row: Mapping[str, Any], *, is_own: bool = True) -> str | None:
    """The id of a row that an input takes: the member of that name, else an `id` of its kind.

    A row of another group (`is_own` false) has members that name other rows.
    """
    own, id_ = row.get(item.name), row.get("id")
    if is_own and isinstance(own, str):
        return own
    is_kind = item.name == "id" or (item.id_of is not None and item.id_of.matches(str(id_)))
    return id_ if isinstance(id_, str) and is_kind else None


def steps_of(group: str, ids: Mapping[str, str], row: Mapping[str, Any]) -> Iterator[PageStep]:
    """What can be done with a row of a group: the operations that take its id.

    `ids` are those that lead to the row, by the names of inputs. An operation that takes several
    rows, or can do without any, has this one in its form.
    """
    for operation in EVERY:
        names = page_ids(operation)
        if operation.verb and names and set(ids) <= set(names):
            values = dict(ids)
            for item in inputs_of(operation.request):
                if item.name == names[-1] and item.name not in ids:
                    values[item.name] = row_id_for(item, row, is_own=operation.group == group) or ""
            if set(names) == {name for name, value in values.items() if value}:
                yield PageStep(operation, values)
        elif operation.verb and operation.local and not names:
            for item in inputs_of(operation.request):
                id_ = (
                    row_id_for(item, row, is_own=False)
                    if item.id_of and item.is_positional
                    else None
                )
                if id_ is not None:
                    yield PageStep(operation, {}, {item.name: id_})
