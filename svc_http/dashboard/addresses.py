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

from svc_core.base.ids import EXAMPLE_DIGITS
from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_core.operation.declaration import OPERATOR, Operation
from svc_core.operation.inputs import inputs_of
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
def ids_of(operation: Operation[Any, Any]) -> tuple[str, ...]:
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
    group, ids = operation.group, [f"{{{name}}}" for name in ids_of(operation)]
    if "{+" in operation.path:
        return "/".join((group, verb, *ids)).replace("{", "{+")
    match verb, ids:
        case "list" | "show", []:
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


def address_of(
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


# -- what a page leads to ----------------------------------------------------------------------


@frozen
class Step:
    """An operation that a page leads to, with the ids and the query of its address."""

    operation: Operation[Any, Any]
    ids: Mapping[str, str]
    query: Mapping[str, str] = {}


@cache
def members_of(group: str) -> tuple[Operation[Any, Any], ...]:
    """The operations of a group that need no row: what its pages lead to."""
    return tuple(each for each in EVERY if each.group == group and each.verb and not ids_of(each))


@cache
def show_of(operation: Operation[Any, Any]) -> Operation[Any, Any] | None:
    """The operation that shows a row of this list; None where a row is all there is to see."""
    own = ids_of(operation)
    for each in EVERY:
        is_below = each.path == f"{operation.path}/{{{ids_of(each)[-1]}}}" if ids_of(each) else False
        is_local = each.local and (each.group, each.verb) == (operation.group, "show")
        if each is not operation and is_safe(each) and len(ids_of(each)) == len(own) + 1:
            if is_local if operation.local else is_below and each.method == "GET":
                return each
    return None


def steps_of(ids: Mapping[str, str], row: Mapping[str, Any]) -> Iterator[Step]:
    """What can be done with a row: the operations that take its id.

    `ids` are those that lead to the row, by the names of inputs. The row has what they lack: a
    member of that name, or an `id` of the kind that is wanted. One that takes several rows, or can
    do without, has this one in its form.
    """
    for operation in EVERY:
        names = ids_of(operation)
        if not operation.verb:
            continue
        values = {**ids, **{name: str(row[name]) for name in names[-1:] if row.get(name)}}
        if names and set(names) <= values.keys() and set(ids) <= set(names):
            yield Step(operation, {name: values[name] for name in names})
        elif not names and operation.local:
            yield from _prefilled(operation, row.get("id"))


def _prefilled(operation: Operation[Any, Any], id_: Any) -> Iterator[Step]:
    for item in inputs_of(operation.request):
        if item.id_of and item.is_positional and isinstance(id_, str) and item.id_of.matches(id_):
            yield Step(operation, {}, {item.name: id_})
