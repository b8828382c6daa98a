"""A store whose writing units are counted, and which may die between two of them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any


class KilledError(Exception):
    """The process ended here."""


class Counted:
    """Another store: `writes` counts its writing units; none begins after `dies_after` of them.

    `meanwhile` is what somebody else does before the unit after so many others.
    """

    def __init__(
        self,
        store: Any,
        dies_after: int | None = None,
        meanwhile: Mapping[int, Callable[[], Awaitable[Any]]] | None = None,
    ) -> None:
        self.store = store
        self.dies_after = dies_after
        self.meanwhile = meanwhile or {}
        self.writes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def write(self, tenant: str, unit: Callable[[Any], Awaitable[Any]]) -> Any:
        if self.writes == self.dies_after:
            raise KilledError
        if self.writes in self.meanwhile:
            await self.meanwhile[self.writes]()
        self.writes += 1
        return await self.store.write(tenant, unit)
