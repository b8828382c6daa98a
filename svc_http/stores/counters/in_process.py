"""Coordination within a single process: nothing ever waits or is unavailable."""

from collections.abc import Awaitable, Callable

from attrs import frozen

from svc_core.access.lockout import MemoryLockouts
from svc_core.access.quotas import MemoryCounters
from svc_core.operation.ports import CommitListener, Counters, Leases, Lockouts, Signals
from svc_http import system
from svc_http.stores.counters.circuit import Circuit


@frozen
class Coordination:
    """A coordination backend: its four ports, its circuit breaker, and `close`."""

    counters: Counters
    lockouts: Lockouts
    leases: Leases
    signals: Signals
    close: Callable[[], Awaitable[None]]
    circuit: Circuit


class MemoryLeases:
    """Leases within this process."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._leases: dict[str, tuple[str, float]] = {}

    async def take(self, name: str, holder: str, seconds: float) -> bool:
        """Take or extend the lease of a name; see the port."""
        now = self._monotonic()
        self._leases = {name: lease for name, lease in self._leases.items() if lease[1] > now}
        if self._leases.setdefault(name, (holder, now))[0] != holder:
            return False
        self._leases[name] = holder, now + seconds
        return True

    async def release(self, name: str, holder: str) -> None:
        """End the lease of a name; see the port."""
        if name in self._leases and self._leases[name][0] == holder:
            del self._leases[name]


class MemorySignals:
    """Signals within this process."""

    def __init__(self) -> None:
        self._listeners: list[CommitListener] = []

    async def tell(self, names: frozenset[str]) -> None:
        """Call every listener."""
        for listener in self._listeners:
            listener(names)

    async def hear(self, listener: CommitListener) -> None:
        """Call `listener` for every signal from now on."""
        self._listeners.append(listener)


async def _close_nothing() -> None:
    pass


def in_memory(monotonic: Callable[[], float] = system.monotonic) -> Coordination:
    """The coordination backend of a single process."""
    return Coordination(
        MemoryCounters(),
        MemoryLockouts(),
        MemoryLeases(monotonic),
        MemorySignals(),
        _close_nothing,
        Circuit(),
    )
