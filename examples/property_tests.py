"""A store of your own, held to every promise, and a law about an operation.

    pytest examples/property_tests.py

`svc_core.testing` brings the contract that any store must keep, a clock and identifiers that a
test decides, and strategies. Nothing here needs a server, a file or an event loop.
"""

import json
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from svc_core import (
    COLLECTIONS,
    OPERATIONS,
    Actor,
    Call,
    Collection,
    Execution,
    Keyring,
    Reply,
    Site,
    Transaction,
    Units,
    drive,
    prepare,
)
from svc_core.testing.clock import CountingIds, FrozenClock
from svc_core.testing.sample import SAMPLES
from svc_core.testing.storage_contract import StorageContract
from svc_http.stores import MemoryStorage

R = TypeVar("R")


# -- a store of one's own ----------------------------------------------------------------------


class AuditedStore(MemoryStorage):
    """A store that counts the units of work of each tenant."""

    def __init__(self, collections: Iterable[Collection[Any]]) -> None:
        super().__init__(collections)
        self.units: dict[str, int] = {}

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[R]]) -> R:
        """Run `unit`, and count it when it was committed."""
        result = await super().write(tenant, unit)
        self.units[tenant] = self.units.get(tenant, 0) + 1
        return result


class TestAuditedStore(StorageContract):
    """Every promise of a store, each with a fresh one."""

    def make_store(self) -> AuditedStore:
        """An empty store for the sample collections."""
        return AuditedStore(SAMPLES)

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:
        """The result of a coroutine; this store never waits."""
        return drive.run(coroutine)

    def at_once(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        """What coroutines came to that ran at the same time, each in a thread of its own."""
        with ThreadPoolExecutor(len(coroutines)) as pool:
            futures = [pool.submit(drive.run, coroutine) for coroutine in coroutines]
        return [future.exception() or future.result() for future in futures]


# -- a law about an operation ------------------------------------------------------------------

CREATE = next(operation for operation in OPERATIONS if operation.id == "createProfile")
SITE = Site(base_url="https://api.example")
TEXT = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=3, max_size=60)
BODIES = st.fixed_dictionaries({"name": TEXT, "topic": TEXT, "frequency": st.just("manual")})


def send(store: AuditedStore, ids: CountingIds, tenant: str, body: object) -> Reply:
    """Create a profile with an `Idempotency-Key` that is always the same."""
    fields = {"content-type": "application/json", "idempotency-key": "one-key-for-all"}
    call = Call({}, "", fields.get, json.dumps(body).encode())
    units = Units(store, ids, FrozenClock().now, Keyring({1: bytes(32)}, 1))
    execution = Execution(prepare(CREATE, call, SITE), Actor(tenant), units.now(), units)
    return drive.run(execution.reply())


@given(body=BODIES, times=st.integers(1, 4))
def test_a_repeated_creation_makes_one_profile_for_each_tenant(
    body: dict[str, str], times: int
) -> None:
    """The same key and body give the same answer, and one profile."""
    store, ids = AuditedStore(COLLECTIONS), CountingIds()

    for tenant in ("ann", "bob"):
        first, *repeats = [send(store, ids, tenant, body) for _ in range(times)]
        assert first.status == 201
        assert all(repeat.body == first.body for repeat in repeats)
        assert all(("Idempotency-Replayed", "true") in repeat.headers for repeat in repeats)

    assert store.units == {"ann": times, "bob": times}
