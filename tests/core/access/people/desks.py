"""A place where people sign in: the catalogue over any store, with lockouts and passkeys."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from attrs import field, frozen

from svc_core.access import one_use_links, sign_ins
from svc_core.access.lockout import MemoryLockouts
from svc_core.access.one_use_links import LinkGrant, LinkPurpose
from svc_core.access.passkeys import PasskeyJudge
from svc_core.access.person_sessions import Device, IssuedSession, SignedIn, resume
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.access.sign_ins import LinkAnswer, PasswordAttempt
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.executor import Execution
from svc_core.operation.host import Host
from svc_core.operation.parsing import Call, Site, prepare
from svc_core.operation.ports import SYSTEM, Lockouts
from svc_core.operation.units import Units, WorkContext
from svc_http.outside.webauthn_judge import WebAuthnJudge
from tests.core.access.accounts.offices import LOCAL, Offices

PASSWORD = "four wild horses ran"
ORIGIN = "https://svc.example"
HOME, CAFE = Device("192.0.2.1", "Firefox on Linux"), Device("198.51.100.7", "Safari on iPhone")


@frozen
class Bench(Units):
    """Units of work that remember what was computed beside them; `meanwhile` happens before it."""

    jobs: list[Any] = field(factory=list)
    meanwhile: list[Callable[[], Awaitable[Any]]] = field(factory=list)

    async def aside(self, work: Any) -> Any:
        self.jobs.append(work)
        for act in self.meanwhile:
            await act()
        return work()


class Desk(Offices):
    """Signs people in and runs operations in their sessions."""

    def __init__(self, kind: str = "memory", folder: Path | None = None, store: Any = None) -> None:
        super().__init__(kind, folder, store)
        lends = {
            PlanTable: DEFAULT_PLANS,
            Lockouts: MemoryLockouts(),
            PasskeyJudge: WebAuthnJudge(),
        }
        units = self.units
        host = Host(ORIGIN, providers=lends)
        self.units: Bench = Bench(units.storage, units.ids, units.now, units.keyring, host)

    @property
    def work(self) -> WorkContext:
        return self.units.context(Actor(SYSTEM))

    async def link(self, purpose: LinkPurpose, **grant: Any) -> str:
        issue = partial(one_use_links.issue_link, purpose=purpose, grant=LinkGrant(**grant))
        token: str = (await self.system(issue)).token
        return token

    async def follow(self, token: str, handle: str | None, **answer: Any) -> IssuedSession:
        answer = {"password": PASSWORD, **answer}
        return await sign_ins.follow_link(
            self.work, token, LinkAnswer(handle=handle, **answer), HOME
        )

    async def founder(self, handle: str = "ann") -> IssuedSession:
        """The first person, operator and owner."""
        token = await self.link("setup", role="owner", is_operator=True)
        return await self.follow(token, handle, name="Ann Lee")

    async def guest(self, workspace_id: str, role: Any, handle: str) -> IssuedSession:
        """A person invited into a workspace."""
        token = await self.link("invite", workspace_id=workspace_id, role=role)
        return await self.follow(token, handle)

    async def sign_in(
        self, handle: str, password: str = PASSWORD, device: Device = HOME, **more: Any
    ) -> IssuedSession:
        attempt = PasswordAttempt(handle, password)
        return await sign_ins.sign_in(self.work, attempt, device, **more)

    async def resume(self, token: str) -> SignedIn | None:
        return await self.units.read(SYSTEM, partial(resume, token=token))

    async def person(self, session: IssuedSession) -> SignedIn:  # type: ignore[override]
        row = await self.resume(session.token)
        assert row is not None
        return row

    async def run(self, session: IssuedSession | None, operation_id: str, **body: Any) -> Any:
        """The data that an operation answers a person in their session, or the terminal."""
        if session is None:
            return await self._run(Actor(SYSTEM, roles=frozenset({"operator"})), operation_id, body)
        person = await self.person(session)
        [home] = person.memberships
        actor = Actor(
            SYSTEM,
            home.workspace_id,
            home.user_id,
            roles=frozenset({home.role}),
            session_id=person.session.id,
        )
        return await self._run(actor, operation_id, body)

    async def _run(self, actor: Actor, operation_id: str, body: Any) -> Any:
        fields = {"content-type": "application/json"}
        call = Call({}, "", fields.get, json.dumps(body).encode())
        invocation = prepare(LOCAL[operation_id], call, Site(ORIGIN))
        reply = await Execution(invocation, actor, self.clock.now(), self.units).reply()
        return json.loads(reply.body)["data"]


def role_in(person: SignedIn, workspace_id: str | None) -> str | None:
    """The role of a person in a workspace; None where they are no member."""
    roles = {member.workspace_id: member.role for member in person.memberships}
    return roles.get(workspace_id or "")


async def code_of(work: Any) -> str:
    """`done`, or the code of the refusal."""
    try:
        await work
    except Problem as refusal:
        return refusal.type.code
    return "done"


async def refusal_of(work: Any) -> Problem:
    """The refusal, which must come."""
    try:
        await work
    except Problem as refusal:
        return refusal
    raise AssertionError("it was not refused")
