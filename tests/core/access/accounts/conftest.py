"""An office that runs the use cases of accounts over the memory store, without a loop."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import pytest

from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.model import KEYS, MEMBERS, USERS, WORKSPACES, User, Workspace
from svc_core.access.operations import IssuedKey
from svc_core.access.plans import DEFAULT_PLANS, PlanTable
from svc_core.base import drive
from svc_core.base.seals import Keyring
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_http.stores import MemoryStorage

R = TypeVar("R")
LATER = datetime(2999, 1, 1, tzinfo=UTC)

COLLECTIONS = (WORKSPACES, USERS, MEMBERS, KEYS)


class Office:
    """Runs use cases as the system; makers for what most tests begin with."""

    def __init__(self) -> None:
        self.clock = FrozenClock()
        self.ids = CountingIds(self.clock)
        self.plans = DEFAULT_PLANS
        self.host = Host(providers={PlanTable: self.plans}, lite_keys_before=LATER)
        self.store = MemoryStorage(COLLECTIONS)

    def run(self, usecase: Callable[[Context], Awaitable[R]]) -> R:
        async def unit(tx: Transaction) -> R:
            keyring = Keyring({1: b"k" * 32}, 1)
            return await usecase(
                Context(
                    self.clock.now(), self.ids, Actor(SYSTEM), "", keyring, host=self.host, tx=tx
                )
            )

        return drive.run(self.store.write(SYSTEM, unit))

    def refusal_of(self, usecase: Callable[[Context], Awaitable[Any]]) -> tuple[str, str]:
        """The code and detail of the refusal."""
        return self.refusal_to(lambda: self.run(usecase))

    def refusal_to(self, make: Callable[[], Any]) -> tuple[str, str]:
        """The code and detail of the refusal to one of the makers below."""
        with pytest.raises(Problem) as failure:
            make()
        return failure.value.type.code, failure.value.detail

    def workspace(self, name: str = "acme", plan: str = "pro", **extra: Any) -> Workspace:
        return self.run(
            lambda ctx: accounts.create_workspace(
                ctx, name=name, plan=plan, plans=self.plans, **extra
            )
        )

    def user(self, name: str = "Ann", **extra: Any) -> User:
        return self.run(lambda ctx: accounts.create_user(ctx, name=name, plans=self.plans, **extra))

    def wish(self, **members: Any) -> KeyWish:
        return KeyWish(**({"name": "ci", "scopes": ("news:read",)} | members))

    def key(self, **members: Any) -> IssuedKey:
        wish = self.wish(**members)
        return self.run(lambda ctx: accounts.create_key(ctx, wish, plans=self.plans))

    def admission_of(self, digest_hex: str) -> accounts.Admission | None:
        async def unit(tx: Transaction) -> accounts.Admission | None:
            return await accounts.find_key(tx, digest_hex, self.plans)

        return drive.run(self.store.read(SYSTEM, unit))


@pytest.fixture
def office() -> Office:
    return Office()
