"""Runs operations of the catalogue for a signed-in person, as the pages of the dashboard do.

Rule 1: a page reads and writes through operations alone, with the same parsing, checks, units of
        work and problems as every other caller.
Rule 2: what a person may do follows from the role in the workspace of the address. What is not for
        them is answered as if it were not there.
"""

import json
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import datetime
from typing import Any, Protocol
from urllib.parse import urlencode

import attrs
from attrs import field, frozen

from svc_core.access.audit import AuditCaller
from svc_core.access.audit_witness import witness_of
from svc_core.access.creation import Role
from svc_core.access.person_sessions import FRESH
from svc_core.access.roles import actor_of, may_run
from svc_core.base.compact import compact_text
from svc_core.contract import problem
from svc_core.operation.caller import Actor
from svc_core.operation.declaration import Operation
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import MERGE_PATCH, Call, prepare
from svc_core.operation.reply import Reply
from svc_core.operation.units import Units
from svc_core.wire import Json
from svc_http.adapter.surroundings import Surroundings
from svc_http.dashboard.hashing import HashingLine, HashingUnits
from svc_http.dashboard.page_addresses import page_address
from svc_http.exchange.http_exchange import Exchange


@frozen
class Home:
    """A workspace that a person is a member of, with their role in it."""

    id: str
    name: str
    plan: str
    role: Role


@frozen
class Person:
    """A signed-in person: who they are, their session, and the workspaces they are a member of.

    `home` is the workspace of the page's address; None on pages of the whole installation. Somebody
    with neither password nor passkey has no proof that a fresh sign-in could ask for.
    """

    user_id: str
    handle: str
    name: str
    session_id: str
    signed_in_at: datetime
    is_operator: bool
    homes: tuple[Home, ...] = ()
    home: Home | None = None
    has_proof: bool = True

    @property
    def role(self) -> Role | None:
        """The role in the workspace of the page."""
        return None if self.home is None else self.home.role


class Office(Surroundings, Protocol):
    """A running service, as the dashboard sees it."""

    @property
    def desk_units(self) -> Units:
        """Runs units of work, with the providers that local operations need."""

    async def count_visit(self, session_id: str, now: datetime) -> None:
        """Count one page of a session; or RATE_LIMITED is raised."""


@frozen
class Request:
    """The inputs of an operation by their place; those of a local one are all in its body."""

    path: Mapping[str, str] = field(factory=dict)
    query: dict[str, str] = field(factory=dict)
    body: dict[str, Any] = field(factory=dict)
    whole: Json = None

    @property
    def json(self) -> Json:
        """The body: its members, or the one value that it is."""
        return self.body if self.whole is None else self.whole


@frozen
class Desk:
    """A person at work on one page: runs operations with their authority."""

    person: Person
    office: Office
    exchange: Exchange
    now: datetime = field()
    line: HashingLine = field(factory=HashingLine, kw_only=True)

    @now.default
    def _now(self) -> datetime:
        return self.office.now()

    def may(self, operation: Operation[Any, Any]) -> bool:
        """Whether the person may run the operation here."""
        person = self.person
        return may_run(operation, person.role, is_operator=person.is_operator)

    def address(
        self, operation: Operation[Any, Any], ids: Mapping[str, str] = {}, **query: str
    ) -> str:
        """The address of the page of an operation in the workspace, or in the installation."""
        home = self.person.home
        return page_address(operation, None if home is None else home.id, ids, **query)

    def actor(self, operation: Operation[Any, Any]) -> Actor:
        """The person as the caller of the operation.

        Raises:
            Problem: NOT_FOUND; it is not for them.
        """
        person, home = self.person, self.person.home
        actor = actor_of(
            operation,
            workspace_id=None if home is None else home.id,
            user_id=person.user_id,
            role=person.role,
            is_operator=person.is_operator,
        )
        return attrs.evolve(actor, session_id=person.session_id)

    async def run(
        self, operation: Operation[Any, Any], request: Request | None = None, **headers: str
    ) -> Reply:
        """The reply of an operation; `headers` are as in `execution`.

        Raises:
            Problem: whatever refuses it.
        """
        execution = self.execution(operation, request, **headers)
        async with self._turn(operation, execution.actor):
            return await execution.reply()

    async def read(self, operation: Operation[Any, Any], request: Request | None = None) -> Any:
        """The data of an operation's JSON answer.

        Raises:
            Problem: whatever refuses it.
        """
        return json.loads((await self.run(operation, request)).body)["data"]

    def execution(
        self, operation: Operation[Any, Any], request: Request | None = None, **headers: str
    ) -> Execution:
        """One run of an operation with the person's authority.

        Names of header fields are lower-case, with `_` for the hyphen; an empty one is not sent.

        Raises:
            Problem: NOT_FOUND, or a fault of the inputs.
        """
        actor = self.actor(operation)
        kind = MERGE_PATCH if operation.method == "PATCH" else "application/json"
        fields = {name.replace("_", "-"): text for name, text in headers.items() if text}
        fields["content-type"], request = kind, request or Request()
        raw = compact_text(request.json).encode()
        call = Call(request.path, urlencode(request.query), fields.get, raw)
        invocation = prepare(operation, call, self.office.site(self.now))
        witness = witness_of(
            AuditCaller(
                who=self.person.handle,
                user_id=self.person.user_id,
                address=self.office.gate.facts(self.exchange).address.text,
                request_id=self.exchange.request_id,
            )
        )
        units = self.office.desk_units
        if operation.id == "setPassword":  # it hashes, in the line of sign-ins
            units = HashingUnits.of(units, self.line, self.office.gate.block(self.exchange))
        return Execution(invocation, actor, self.now, units, witness)

    def _turn(
        self, operation: Operation[Any, Any], actor: Actor
    ) -> AbstractAsyncContextManager[None]:
        """The turn of an operation that takes long and runs once at a time for each workspace."""
        if not operation.unit.is_queued:
            return nullcontext()
        key = actor.tenant, operation.id
        return self.office.locks.take(key, self.exchange, problem.OVERLOADED)

    @property
    def is_fresh(self) -> bool:
        """Whether the person has signed in so lately that dangerous acts need no other sign-in."""
        return self.now < self.person.signed_in_at + FRESH

    def at_home(self, home: Home) -> "Desk":
        """The same person in another of their workspaces."""
        return attrs.evolve(self, person=attrs.evolve(self.person, home=home))
