"""The audit log: a row for each act and no other, without a value, in one order on every store."""

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core.access.audit import ACTS, SYSTEM_ACTS, AuditCaller, AuditedAct, record_act
from svc_core.base import drive
from svc_core.base.instants import render
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM
from svc_http.service.service_units import Service
from svc_http.service.workers.retention import forget_acts
from tests.backends import NAMES
from tests.core.access.accounts.offices import EVERY, TERMINAL, Offices, Person
from tests.themes import each

SECRET = "whsec_" + "U0VD" * 8
ASKED = {"idempotency_key": "a-key-of-the-caller"}

Scene = Callable[[Offices], Awaitable[None]]


def play(scene: Scene) -> None:
    offices = Offices("memory")
    offices.is_watched = True
    drive.run(scene(offices))


async def acts_of(offices: Offices, owner: Person, **filters: Any) -> list[tuple[str, str]]:
    """Operation and outcome of the acts in a workspace, newest first."""
    rows = await offices.act(owner, "listAudit", **filters)
    return [(row["operation"], row["outcome"]) for row in rows]


async def stored(offices: Offices, tenant: str = SYSTEM) -> list[AuditedAct]:
    collection = SYSTEM_ACTS if tenant == SYSTEM else ACTS

    async def unit(ctx: Context) -> list[AuditedAct]:
        page = await ctx.tx.documents.scan(collection, limit=99)
        return [collection.decode(row.raw) for row in page.rows]

    return await offices.units.read(tenant, unit)


# -- what leaves a row -------------------------------------------------------------------------


def test_an_act_leaves_who_did_it_where_and_to_what() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        key = await offices.key(owner)
        await offices.act(owner, "updateKey", keyId=key.id, name="another", perDay=5)
        (row,) = await offices.act(owner, "listAudit")
        assert row == {
            "id": row["id"],
            "at": render(offices.clock.now()),
            "who": "owner@example.org",
            "userId": owner.user_id,
            "sessionId": "ses_1",
            "address": "203.0.113.9",
            "requestId": "req_1",
            "operation": "updateKey",
            "targetId": key.id,
            "members": ["keyId", "name", "perDay"],
            "outcome": "done",
            "workspaceId": owner.workspace_id,
        }

    play(scene)


def test_a_row_is_there_where_the_act_is_and_where_a_person_was_refused() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        await offices.act(owner, "listKeys")  # reading leaves nothing
        await offices.act(owner, "createKey", name="ci")
        assert await offices.outcome(owner, "createKey", name="ci") == "RESOURCE_CONFLICT"
        assert await offices.outcome(owner, "createKey", nothing=1) == "VALIDATION_FAILED"
        assert await offices.outcome(owner, "createKey", user="me") == "VALIDATION_FAILED"
        assert await acts_of(offices, owner) == [
            ("createKey", "VALIDATION_FAILED"),
            ("createKey", "VALIDATION_FAILED"),
            ("createKey", "RESOURCE_CONFLICT"),
            ("createKey", "done"),
        ]
        refusals = await offices.act(owner, "listAudit", outcome="VALIDATION_FAILED")
        assert [row["members"] for row in refusals] == [[], []]

    play(scene)


def test_what_is_replayed_or_rolled_back_leaves_no_other_row() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        body = {"url": "https://hooks.example.com/svc", "secret": SECRET}
        for _ in range(2):
            await offices.send(owner, "createWebhook", body, **ASKED)
        (act,) = await stored(offices, owner.workspace_id or "")
        assert (act.operation, act.target_id, act.members) == (
            "createWebhook",
            act.target_id,
            ("url", "secret"),
        )
        assert (act.target_id or "").startswith("whk_")

        async def fail(*_: Any) -> None:
            raise RuntimeError("the process ends here")

        witness = attrs.evolve(offices.witness(owner), record=fail)
        offices.witness = lambda _: witness  # type: ignore[method-assign]
        with pytest.raises(RuntimeError):
            await offices.send(owner, "createKey", {"name": "ci"})
        assert await offices.act(owner, "listKeys") == []

    play(scene)


def test_a_malformed_body_and_a_made_up_target_leave_their_code_alone() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        for body in ([], {"keyId": "svc_a-secret-in-the-wrong-place"}, {"keyId": 7}):
            with pytest.raises(Problem):
                await offices.send(owner, "revokeKey", body)
        assert {act.target_id for act in await stored(offices)} == {None}
        assert {act.outcome for act in await stored(offices)} == {"VALIDATION_FAILED"}
        path = {"webhookId": "whk_" + "0" * 24}
        with pytest.raises(Problem):
            await offices.send(owner, "enableWebhook", None, path)
        (act,) = await stored(offices, owner.workspace_id or "")
        assert (act.target_id, act.outcome) == (path["webhookId"], "NOT_FOUND")

    play(scene)


def test_of_a_sealed_answer_and_a_sent_secret_the_log_has_nothing() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        body = {"url": "https://hooks.example.com/svc", "secret": SECRET}
        await offices.send(owner, "createWebhook", body, **ASKED)
        key = await offices.act(owner, "createKey", name="a name of its own")
        again = await offices.act(owner, "regenerateKey", keyId=key["id"])
        rows = [await stored(offices), await stored(offices, owner.workspace_id or "")]
        text = str([attrs.asdict(row) for part in rows for row in part])
        for value in (SECRET, key["key"], again["key"], "a name of its own", "hooks.example.com"):
            assert value not in text

    play(scene)


@each(EVERY.values())
def test_what_changes_something_is_audited_and_what_reads_is_not(operation: Any) -> None:
    exports = {"openReport", "exportRecords", "exportSubject"}
    if operation.guarded or operation.unit.kind == "write":
        assert operation.audited
    elif operation.method == "GET":
        assert operation.audited == (operation.id in exports)
    else:
        assert operation.audited == (operation.local and operation.id != "matchEntities")


# -- the operator ------------------------------------------------------------------------------


def test_what_the_operator_does_is_seen_by_the_workspace_that_it_is_about() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        other = await offices.owner("other")
        admin, key = await offices.person(owner, "admin"), await offices.key(owner)
        home = owner.workspace_id
        lines: list[tuple[str, dict[str, Any]]] = [
            ("createWorkspace", {"name": "third"}),
            ("createUser", {"name": "Cy", "workspace": "acme"}),
            ("createUser", {"name": "Di"}),
            ("setPlan", {"workspace": "acme", "plan": "pro"}),
            ("createKey", {"name": "x", "workspace": "acme"}),
            ("revokeKey", {"keyId": key.id}),
            ("deleteKey", {"keyId": key.id}),
            ("removeMember", {"userId": admin.user_id, "workspace": "acme"}),
            ("renameWorkspace", {"name": "Acme", "workspace": "acme"}),
        ]
        for id_, body in lines:
            await offices.act(TERMINAL, id_, **body)
        assert await offices.outcome(TERMINAL, "revokeKey", keyId=key.id) == "NOT_FOUND"
        expected = [id_ for id_, _ in reversed(lines)]
        everywhere = await offices.act(TERMINAL, "listAudit")
        assert [row["operation"] for row in everywhere] == expected
        assert {row["who"] for row in everywhere} == {"operator"}
        assert await offices.act(other, "listAudit") == []
        rows = await offices.act(owner, "listAudit")
        elsewhere = {"createWorkspace"}
        assert [row["operation"] for row in rows] == [
            id_
            for id_, body in reversed(lines)
            if id_ not in elsewhere and body.get("name") != "Di"
        ]
        assert await offices.act(TERMINAL, "listAudit", workspace=home) == rows

    play(scene)


def test_an_operation_of_several_units_leaves_its_row_when_it_is_over() -> None:
    async def scene(offices: Offices) -> None:
        owner = await offices.owner("acme")
        await offices.act(TERMINAL, "grantCredits", workspaceId=owner.workspace_id, credits=5)
        await offices.act(TERMINAL, "showCredits", workspaceId=owner.workspace_id)
        assert await acts_of(offices, owner) == [("grantCredits", "done")]

    play(scene)


# -- reading on every store --------------------------------------------------------------------


async def fill(offices: Offices, homes: list[Person]) -> list[AuditedAct]:
    """Acts of three people in two workspaces, in units of both kinds, some at one instant."""
    for number in range(36):
        home, who = homes[number % 2], ("ann", "bob", "operator")[number % 3]
        if number % 4:
            offices.clock.advance(1)
        is_own = number % 5 < 3

        async def unit(
            ctx: Context, who: str = who, number: int = number, home: Any = home
        ) -> None:
            await record_act(
                ctx,
                AuditCaller(who=who, user_id=f"usr_{who}"),
                ("createKey", "createWebhook")[number % 7 % 2],
                outcome="done" if number % 6 else "FORBIDDEN",
                workspace_id=home.workspace_id if number != 8 else None,
            )

        await offices.units.write(home.workspace_id if is_own else SYSTEM, unit)
    rows = [*await stored(offices)]
    for home in homes:
        rows += await stored(offices, home.workspace_id or "")
    return sorted(rows, key=lambda act: (act.at, act.id), reverse=True)


async def walk(offices: Offices, person: Person, limit: int, /, **filters: Any) -> list[str]:
    """The ids of a whole list, page after page."""
    ids: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        body = {**filters, **cursor, "limit": limit}
        page = json.loads((await offices.send(person, "listAudit", body)).body)
        assert len(page["data"]) == limit or page["meta"]["page"]["nextCursor"] is None
        ids += [row["id"] for row in page["data"]]
        if page["meta"]["page"]["nextCursor"] is None:
            return ids
        cursor = {"cursor": page["meta"]["page"]["nextCursor"]}


async def compare(offices: Offices) -> None:
    homes = [await offices.owner(name) for name in ("acme", "other")]
    acts = await fill(offices, homes)
    middle = acts[len(acts) // 2].at
    questions: list[tuple[dict[str, str], Callable[[AuditedAct], bool]]] = [
        ({}, lambda _: True),
        ({"person": "ann"}, lambda act: act.who == "ann"),
        ({"person": "usr_bob"}, lambda act: act.who == "bob"),
        ({"operation": "createKey"}, lambda act: act.operation == "createKey"),
        ({"outcome": "FORBIDDEN", "person": "operator"},
         lambda act: act.outcome == "FORBIDDEN" and act.who == "operator"),
        ({"start": render(middle)}, lambda act: act.at >= middle),
        ({"end": render(middle)}, lambda act: act.at < middle),
    ]  # fmt: skip
    for home, (filters, matches), limit in itertools.product(homes, questions, (1, 5, 100)):
        expected = [
            act.id for act in acts if act.workspace_id == home.workspace_id and matches(act)
        ]
        assert await walk(offices, home, limit, **filters) == expected
    system_ids = {act.id for act in await stored(offices)}
    assert await walk(offices, TERMINAL, 7) == [act.id for act in acts if act.id in system_ids]
    page = json.loads((await offices.send(homes[0], "listAudit", {"limit": 2})).body)
    cursor = page["meta"]["page"]["nextCursor"]
    for person, filters in ((homes[1], {}), (homes[0], {"person": "ann"}), (TERMINAL, {})):
        code = await offices.outcome(person, "listAudit", limit=2, cursor=cursor, **filters)
        assert code == problem.INVALID_CURSOR.code


async def age(offices: Offices) -> None:
    homes = [await offices.owner(name) for name in ("acme", "other")]
    acts = await fill(offices, homes)
    units = attrs.asdict(offices.units, recurse=False)
    service = Service(**units, plans=None)  # type: ignore[arg-type]
    keeps = service.host.audit_retention
    limit_at = acts[10].at
    offices.clock.advance((limit_at + keeps - offices.clock.now()) / timedelta(seconds=1))
    await forget_acts(service)
    rest = [*await stored(offices)]
    for home in homes:
        rest += await stored(offices, home.workspace_id or "")
    assert {act.id for act in rest} == {act.id for act in acts if act.at >= limit_at}


@pytest.mark.parametrize("work", [compare, age])
@pytest.mark.parametrize("kind", NAMES)
def test_every_store_gives_and_forgets_the_same_rows(
    kind: str, work: Scene, tmp_path: Path
) -> None:
    async def scene() -> None:
        offices = Offices(kind, tmp_path)
        try:
            await work(offices)
        finally:
            await offices.store.close()

    asyncio.run(scene())
