"""People who run operations of their workspace on any store, as the pages have them do it."""

import json
from pathlib import Path
from typing import Any

import attrs
from attrs import frozen

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.audit import AuditCaller
from svc_core.access.audit_witness import witness_of
from svc_core.access.creation import KeyWish, Role
from svc_core.access.keys import ApiKey
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.access.roles import actor_of
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.declaration import OPERATOR
from svc_core.operation.executor import Execution, Witness
from svc_core.operation.host import Host
from svc_core.operation.parsing import Call, Site, prepare
from svc_core.operation.ports import SYSTEM
from svc_core.operation.reply import Reply
from svc_core.operation.units import Units
from svc_core.testing.clock import CountingIds, FrozenClock
from tests.backends import store_of

LOCAL = {operation.id: operation for operation in catalog.LOCAL_OPERATIONS}
EVERY = {**LOCAL, **{operation.id: operation for operation in catalog.OPERATIONS}}


@frozen
class Person:
    """Somebody with a role in a workspace; the operator of a terminal has neither."""

    workspace_id: str | None = None
    user_id: str | None = None
    role: Role | None = None


TERMINAL = Person()


class Offices:
    """Workspaces over one store, with makers for their people and keys."""

    def __init__(self, kind: str, folder: Path | None = None, store: Any = None) -> None:
        self.clock = FrozenClock()
        self.store = store or store_of(kind, catalog.COLLECTIONS, folder=folder)
        host = Host(providers={PlanTable: DEFAULT_PLANS})
        ids, ring = CountingIds(self.clock), Keyring({1: b"k" * 32}, 1)
        self.units = Units(self.store, ids, self.clock.now, ring, host)
        self.is_watched = False

    async def system(self, usecase: Any) -> Any:
        return await self.units.write(SYSTEM, usecase)

    async def owner(self, name: str) -> Person:
        """The owner of a new workspace."""
        home = await self.system(
            lambda ctx: accounts.create_workspace(ctx, name=name, plan="elite", plans=DEFAULT_PLANS)
        )
        (membership,) = await self.system(
            lambda ctx: accounts.scan_values(
                ctx, accounts.MEMBERS, where={"workspace_id": (home.id,)}, limit=2
            )
        )
        return Person(home.id, membership.user_id, "owner")

    async def person(self, beside: Person, role: Role, name: str = "Bo") -> Person:
        """A new person with a role in the workspace of somebody."""
        home = beside.workspace_id or ""
        user = await self.system(
            lambda ctx: accounts.create_user(ctx, name=name, plans=DEFAULT_PLANS)
        )
        await self.system(lambda ctx: accounts.add_member(ctx, home, user.id, role))
        return Person(home, user.id, role)

    async def key(self, owner: Person, name: str = "ci") -> ApiKey:
        wish = KeyWish(name, ("news:read",), workspace_id=owner.workspace_id, user_id=owner.user_id)
        issue = await self.system(lambda ctx: accounts.create_key(ctx, wish, plans=DEFAULT_PLANS))
        key: ApiKey = issue.key
        return key

    async def act(self, person: Person, operation_id: str, /, **body: Any) -> Any:
        """The data that a local operation answers."""
        return json.loads((await self.send(person, operation_id, body)).body)["data"]

    async def send(
        self, person: Person, operation_id: str, body: Any, path: Any = None, **headers: str
    ) -> Reply:
        """The reply to a person, whose acts are written down where the office is watched."""
        operation = EVERY[operation_id]
        fields = {name.replace("_", "-"): value for name, value in headers.items()}
        fields.setdefault("content-type", "application/json")
        call = Call(path or {}, "", fields.get, json.dumps(body).encode())
        actor = Actor(SYSTEM, roles=OPERATOR)
        if person.role is not None:
            actor = actor_of(
                operation,
                workspace_id=person.workspace_id,
                user_id=person.user_id or "",
                role=person.role,
                is_operator=False,
            )
            actor = attrs.evolve(actor, session_id="ses_1")
        invocation = prepare(operation, call, Site("https://api.example"))
        witness = self.witness(person) if self.is_watched else None
        run = Execution(invocation, actor, self.clock.now(), self.units, witness)
        return await run.reply()

    def witness(self, person: Person) -> Witness:
        """What writes down the acts of a person, or of the operator at a terminal."""
        if person.role is None:
            return witness_of(AuditCaller(who="operator"), takes_refusals=False)
        name = f"{person.role}@example.org"
        return witness_of(
            AuditCaller(
                who=name,
                user_id=person.user_id,
                address="203.0.113.9",
                request_id="req_1",
            )
        )

    async def outcome(self, person: Person, operation_id: str, /, **body: Any) -> str:
        """`done`, or the code of the refusal."""
        try:
            await self.act(person, operation_id, **body)
        except Problem as refusal:
            return refusal.type.code
        return "done"
