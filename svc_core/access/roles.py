"""Roles of people: what a person may run in a workspace, and as which actor.

Rule 1: a role is a set of scopes, and the local operations that name it among their `roles`.
Rule 2: the operator of the installation runs what is for the operator alone, and credits and plans
        of every workspace; a workspace's own rows they reach by their role in it, as anybody does.
Rule 3: what is a person's own (`PEOPLE`) they run without any workspace as well.
Rule 4: what a person may not run does not exist for them.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any, Final

from svc_core import data
from svc_core.access.scopes import SCOPES
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.declaration import OPERATOR, Operation
from svc_core.operation.ports import SYSTEM

SCOPES_OF_ROLES: Final[Mapping[str, frozenset[str]]] = {
    role: frozenset(scope for form in row.split() for scope in SCOPES if fnmatchcase(scope, form))
    for role, row in data.table_rows("roles.tsv")
}
"""The scopes that each role has."""

_INSTALLATION: Final = frozenset({"credits", "plans"})
"""Groups of managers' operations that the operator runs for every workspace (rule 2)."""


def may_run(operation: Operation[Any, Any], role: str | None, *, is_operator: bool) -> bool:
    """Whether a person with this role, None without any, has a page of the operation."""
    return _by_role(operation, role) or (is_operator and _by_office(operation, role))


def actor_of(
    operation: Operation[Any, Any],
    *,
    workspace_id: str | None,
    user_id: str,
    role: str | None,
    is_operator: bool,
) -> Actor:
    """The actor of a person who runs an operation in a workspace, or as the operator of it all.

    Raises:
        Problem: NOT_FOUND, where they may not.
    """
    if role is None and "person" in operation.roles:
        return Actor(SYSTEM, user_id=user_id, roles=frozenset({"person"}))
    by_role = _by_role(operation, role)
    if not by_role and not (is_operator and _by_office(operation, role)):
        raise Problem(problem.NOT_FOUND, "There is no such page for you.")
    scopes = frozenset() if role is None else SCOPES_OF_ROLES[role]
    roles = frozenset(() if role is None else (role,)) if by_role else OPERATOR
    if operation.binding != "system":
        return Actor(workspace_id or "", workspace_id, user_id, scopes=scopes, roles=roles)
    return Actor(SYSTEM, workspace_id if by_role else None, user_id, roles=roles)


def _by_role(operation: Operation[Any, Any], role: str | None) -> bool:
    if role is None or operation.local:
        return role in operation.roles
    return operation.auth == "public" or not SCOPES_OF_ROLES[role].isdisjoint(operation.scopes)


def _by_office(operation: Operation[Any, Any], role: str | None) -> bool:
    """Whether the operator may; in a workspace only beside a role in it."""
    if operation.roles != OPERATOR and operation.group not in _INSTALLATION:
        return False
    return operation.binding == "system" or role is not None
