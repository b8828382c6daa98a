"""The contract finds a store whose units mix."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any

import pytest

from svc_core.base import drive
from svc_core.operation.ports import SYSTEM, Transaction
from svc_core.testing.promises.concurrency_promises import ConcurrencyPromises
from svc_core.testing.sample import SAMPLES
from svc_http.stores import MemoryStorage


class FaultyStorage(MemoryStorage):
    """Commits every call by itself, and lets others go first."""

    async def write(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        return await unit(_Part(super().write, tenant))  # type: ignore[arg-type]

    async def read(self, tenant: str, unit: Callable[[Transaction], Awaitable[Any]]) -> Any:
        return await unit(_Part(super().read, tenant))  # type: ignore[arg-type]


class _Part:
    def __init__(self, run: Any, tenant: str, room: str | None = None) -> None:
        self._run, self.tenant, self._room = run, tenant, room

    def __getattr__(self, name: str) -> Any:
        if self._room is None:
            return _Part(self._run, self.tenant, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            await asyncio.sleep(0)
            return await self._run(
                self.tenant, lambda tx: getattr(getattr(tx, self._room), name)(*args, **kwargs)
            )

        return call


class _Promises(ConcurrencyPromises):
    def make_store(self) -> MemoryStorage:
        return FaultyStorage(SAMPLES)

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(coroutine)

    def at_once(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        async def gather() -> list[Any]:
            return await asyncio.gather(*coroutines, return_exceptions=True)

        return asyncio.run(gather())


HARMLESS = {
    "test_a_row_is_claimed_by_one_of_those_who_saw_it",  # a single call
    "test_a_purge_and_a_new_answer_do_not_hinder_each_other",
}
PROMISES = sorted(name for name in dir(_Promises) if name.startswith("test_"))


@pytest.mark.parametrize("name", [name for name in PROMISES if name not in HARMLESS])
def test_a_store_whose_units_mix_is_found_out(name: str) -> None:
    promises = _Promises()
    promises.setup_method()

    with pytest.raises(AssertionError):
        getattr(promises, name)()


def test_the_planted_store_is_right_where_units_are_alone() -> None:
    promises = _Promises()
    promises.setup_method()
    promises.note("a")
    assert promises.list_ids() == ["a"]
    assert drive.run(MemoryStorage(SAMPLES).read(SYSTEM, lambda tx: tx.changes.epoch()))
