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

from svc_core.access.roles import may_run
from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_core.operation.declaration import OPERATOR, Operation
from svc_core.operation.inputs import Input, inputs_of
from svc_core.wire import shapes
from svc_http.exchange.http_exchange import DASHBOARD

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
    has_list = any((each.group, each.verb) == (group, "list") for each in EVERY)
    match verb, ids:
        case ("list", []) | ("status", []):
            return group
        case "show", [] if not has_list:
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


def page_address(
    operation: Operation[Any, Any],
    workspace_id: str | None,
    ids: Mapping[str, str],
    **query: str,
) -> str:
    """The address of its page with these ids, and with a query: what no place has is in that.

    It is below that of the workspace, or, where that is None, of the installation.
    """
    is_office = workspace_id is None or is_for_operators(operation)
    base = f"{DASHBOARD}/operate" if is_office else f"{DASHBOARD}/w/{workspace_id}"
    parts = (
        quote(ids[part.strip("{+}")], safe="/" if "+" in part else "") if part[0] == "{" else part
        for part in tail_of(operation).split("/")
    )
    text = "/".join((base, *parts))
    query |= {name: id_ for name, id_ in ids.items() if f"{name}}}" not in tail_of(operation)}
    return f"{text}?{urlencode(query)}" if query else text


def paths_of(operation: Operation[Any, Any]) -> tuple[str, ...]:
    """The paths of its page: below every workspace, below the installation, or both."""
    tail, is_office = tail_of(operation), may_run(operation, None, is_operator=True)
    below = () if is_for_operators(operation) else (f"{DASHBOARD}/w/{{workspaceId}}/{tail}",)
    return (*below, *((f"{DASHBOARD}/operate/{tail}",) if is_office else ()))


# -- what a page leads to ----------------------------------------------------------------------


@cache
def show_of(operation: Operation[Any, Any]) -> Operation[Any, Any] | None:
    """The operation that shows a row of this list; None where a row is all there is to see."""
    for each in EVERY:
        ids, is_row = page_ids(each), (each.group, each.verb) == (operation.group, "show")
        if is_safe(each) and len(ids) == len(page_ids(operation)) + 1:
            if not operation.local:
                is_row = each.path == f"{operation.path}/{{{ids[-1]}}}"
            if is_row and each.local == operation.local:
                return each
    return None


@cache
def row_pages() -> Mapping[str, Operation[Any, Any] | None]:
    """What shows a row, by the name and the prefix of its id; None where several kinds have it."""
    pages: dict[str, Operation[Any, Any] | None] = {}
    for operation in filter(None, map(show_of, EVERY)):
        *outer, item = _id_inputs(operation)
        for name in (item.name, *item.id_of.prefixes) if item.id_of and not outer else ():
            other = pages.setdefault(name, operation)
            if other is None or other.results[0] != operation.results[0]:
                pages[name] = None
    return pages


@cache
def _id_inputs(operation: Operation[Any, Any]) -> tuple[Input, ...]:
    """The inputs that take the id of a row: in the address, or one of a form."""
    items, names = inputs_of(operation.request), page_ids(operation)
    forms = (item for item in items if operation.local and item.id_of and item.is_positional)
    return tuple(item for item in items if item.name in names) or tuple(forms)


def row_id_for(operation: Operation[Any, Any], row: Mapping[str, Any]) -> str | None:
    """The id of a row that an operation takes: the member of that name, or an id of its kind.

    An id of no kind, such as the code of a country, is what a row begins with.
    """
    item = _id_inputs(operation)[-1]
    values = (row.get(item.name), row.get("id"), (row.get("head") or {}).get("id"))
    texts = values if item.id_of else (*values, *row.values())
    ids = (text for text in texts if isinstance(text, str))
    return next((text for text in ids if not item.id_of or item.id_of.matches(text)), None)


@cache
def _takers(group: str) -> tuple[Operation[Any, Any], ...]:
    """The operations that may take a row of a group: those of it, and those that say its kind."""
    rows = ((each, _id_inputs(each)) for each in EVERY if each.verb)
    return tuple(each for each, ids in rows if ids and (each.group == group or ids[-1].id_of))


def steps_of(
    group: str, ids: Mapping[str, str], row: Mapping[str, Any]
) -> Iterator[tuple[Operation[Any, Any], Mapping[str, str]]]:
    """What can be done with a row of a group: the operations that take its id, with their ids.

    `ids` are those that lead to the row, by the names of inputs. An operation that takes several
    rows, or can do without any, has this one in its form. Those of another group take the kinds of
    rows that have their page in this one: a prefix that several groups share leads nowhere.
    """
    kind = str(row.get("id") or ["", *ids.values()][-1]).partition("_")[0]
    page = row_pages().get(kind)
    for operation in _takers(group):
        names, item = page_ids(operation), _id_inputs(operation)[-1]
        if operation.group != group and not (page and page.group == group and names):
            continue
        id_ = ids.get(item.name) or (row_id_for(operation, row) if item.id_of else None)
        is_reached = set(ids) <= set(names) and set(names[:-1]) <= set(ids)
        if id_ is not None and (is_reached or not names):
            yield operation, {**(ids if names else {}), item.name: id_}
