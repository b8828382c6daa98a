"""Roles of people: scopes, the actor of an operation, and what only the operator says.

Who may run what is a table of its own, `tests/golden/files/names/roles.txt`.
"""

import itertools

import pytest

from svc_core.access.roles import SCOPES_OF_ROLES, actor_of, may_run
from svc_core.access.scopes import SCOPES
from svc_core.catalog import LOCAL_OPERATIONS, OPERATIONS
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.executor import check_role
from svc_core.operation.ports import SYSTEM

EVERY = {operation.id: operation for operation in (*OPERATIONS, *LOCAL_OPERATIONS)}
PEOPLE = list(itertools.product((None, "member", "admin", "owner"), (False, True)))
HOME = {"workspace_id": "wsp_1", "user_id": "usr_1"}


def test_the_scopes_of_a_member_are_those_that_read_and_their_own_work():
    changing = {"profiles:write", "webhooks:manage", "ledger:write"}
    assert SCOPES_OF_ROLES["member"] == set(SCOPES) - changing
    assert SCOPES_OF_ROLES["admin"] == SCOPES_OF_ROLES["owner"] == set(SCOPES)


@pytest.mark.parametrize(("role", "is_operator"), PEOPLE)
def test_whoever_may_run_an_operation_has_an_actor_whom_its_checks_let_pass(role, is_operator):
    for operation in EVERY.values():
        members = {**HOME, "role": role, "is_operator": is_operator}
        if not may_run(operation, role, is_operator=is_operator):
            if role is None and "person" in operation.roles:
                continue
            with pytest.raises(Problem) as refusal:
                actor_of(operation, **members)
            assert refusal.value.type is problem.NOT_FOUND
            continue
        actor = actor_of(operation, **members)
        assert actor.user_id == "usr_1"
        assert actor.tenant == (SYSTEM if operation.binding == "system" else "wsp_1")
        if operation.local:
            check_role(operation, actor)
        elif operation.scopes:
            assert actor.scopes & operation.scopes


@pytest.mark.parametrize("is_operator", [False, True])
def test_what_is_ones_own_needs_no_workspace(is_operator):
    own = {operation.id for operation in EVERY.values() if "person" in operation.roles}
    sessions = {"listSessions", "revokeSession"}
    assert own - sessions == {"showSignInMethods", "setPassword", "addPasskey", "removePasskey"}
    for id_ in own:
        actor = actor_of(EVERY[id_], **HOME, role=None, is_operator=is_operator)
        check_role(EVERY[id_], actor)
        assert (actor.tenant, actor.workspace_id, actor.user_id) == (SYSTEM, None, "usr_1")
        assert actor.roles == {"person"}


@pytest.mark.parametrize("role", SCOPES_OF_ROLES)
def test_each_role_may_what_the_one_below_it_may(role):
    below = {"member": None, "admin": "member", "owner": "admin"}[role]
    for operation in EVERY.values():
        if may_run(operation, below, is_operator=False):
            assert may_run(operation, role, is_operator=False), operation.id


@pytest.mark.parametrize(("role", "is_operator"), PEOPLE)
def test_nobody_works_for_the_system_without_a_workspace_but_the_operator(role, is_operator):
    for operation in EVERY.values():
        if operation.binding == "system" and may_run(operation, role, is_operator=is_operator):
            actor = actor_of(operation, **HOME, role=role, is_operator=is_operator)
            assert (actor.workspace_id is None) == (actor.roles == {"operator"}), operation.id
            assert is_operator or actor.workspace_id == "wsp_1"


def test_the_operator_reaches_the_rows_of_a_workspace_by_a_role_in_it_alone():
    for operation in EVERY.values():
        if operation.binding != "system":
            assert not may_run(operation, None, is_operator=True), operation.id
        if operation.roles != {"operator"} and operation.group not in {"credits", "plans"}:
            for role in ("member", "admin", "owner"):
                may = may_run(operation, role, is_operator=True)
                assert may == may_run(operation, role, is_operator=False), operation.id
