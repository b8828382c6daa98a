"""Writes down what a caller does by way of operations: who, what and about what, never a value."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from svc_core.access.audit import DONE, AuditCaller, record_act
from svc_core.access.operations import find_workspace
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.declaration import JSON
from svc_core.operation.executor import Witness
from svc_core.operation.inputs import inputs_of
from svc_core.operation.parsing import Invocation
from svc_core.operation.ports import SYSTEM
from svc_core.operation.reply import Reply

_Members = Mapping[str, Any]


def witness_of(caller: AuditCaller, *, takes_refusals: bool = True) -> Witness:
    """What writes down the acts of a caller."""

    async def record(ctx: Context, invocation: Invocation, outcome: Reply | Problem) -> None:
        body = _body_of(invocation)
        is_done = isinstance(outcome, Reply)
        answer = _row_of(outcome) if isinstance(outcome, Reply) else {}
        await record_act(
            ctx,
            caller,
            invocation.operation.id,
            target_id=_target(invocation, body) or answer.get("id"),
            members=tuple(body) if is_done else (),  # of a refused body even the names are made up
            outcome=DONE if isinstance(outcome, Reply) else outcome.type.code,
            workspace_id=await _workspace(ctx, body, answer),
        )

    return Witness(record, takes_refusals)


def _body_of(invocation: Invocation) -> _Members:
    """The members of a body; none where it has no such form."""
    body = None
    with suppress(Problem):
        body = invocation.json
    return body if isinstance(body, dict) else {}


def _row_of(reply: Reply) -> _Members:
    """The members of a row that was answered; none of anything else."""
    is_json = reply.body and reply.media_type == JSON.media_type
    row = json.loads(reply.body).get("data") if is_json else None
    return row if isinstance(row, dict) else {}


def _target(invocation: Invocation, body: _Members) -> str:
    """The ids of rows that the request names, joined by `/`."""
    items = inputs_of(invocation.operation.request) if invocation.operation.local else ()
    named = ((item.id_of, body.get(item.name)) for item in items)
    ids = [id_ for form, id_ in named if form and isinstance(id_, str) and form.matches(id_)]
    return "/".join([*invocation.path_values.values(), *ids])


async def _workspace(ctx: Context, body: _Members, answer: _Members) -> str | None:
    """The workspace that an act was about; for the operator as the answer or the request says."""
    if ctx.actor.workspace_id is not None or ctx.actor.tenant != SYSTEM:
        return ctx.actor.workspace_id
    id_, name = str(answer.get("workspaceId") or answer.get("id")), body.get("workspace")
    if id_.startswith("wsp_"):
        return id_
    return (await find_workspace(ctx, name)).id if name and answer else None
