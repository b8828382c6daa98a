"""Lines of units of work, in which tenants take turns and share the places where units run.

Rule 1: a tenant that was served goes to the end of the line, however many units it has waiting.
Rule 2: the units that wait are bounded, and one tenant fills at most half of the line.
Rule 3: a tenant has at most half of the places where units run, so a newcomer finds one.
Rule 4: a tenant whose units take long, or of whom it is not known yet, gets a batch of one unit, so
        that no other waits in it. Those who take long leave one place to all others.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterator
from typing import Final, Generic, Protocol, TypeVar

from svc_core.operation.ports import Overloaded

UNITS_WAITING_MAX: Final = 10_000
"""At most a second of work; a caller behind a longer queue would give up before its answer."""
LONG_SECONDS: Final = 0.025
"""Units beyond this are long: ten times what a page of rows takes."""
SHORT_UNITS: Final = 20
"""So many short units after a long one, a tenant shares batches again."""
KNOWN_MAX: Final = 10_000
"""Tenants of whom it is remembered how long their units take."""


class TenantJob(Protocol):
    """A unit of work that waits for a tenant since a time (seconds of any clock)."""

    @property
    def tenant(self) -> str:
        """Whose it is."""

    @property
    def queued_at(self) -> float:
        """When it began to wait."""


J = TypeVar("J", bound=TenantJob)


class TenantLines(Generic[J]):
    """The units that wait for a number of places; not thread-safe.

    With `is_mixed` a batch holds one unit of each tenant in turn; otherwise it holds units of one
    tenant, which has no other place meanwhile.
    """

    def __init__(self, units_max: int, *, places: int, is_mixed: bool) -> None:
        self._units_max = units_max
        self._is_mixed = is_mixed
        self._places_each = max(1, places // 2) if is_mixed else 1
        self._long_places_max = max(1, places - 1)
        self._short_units_first = min(places - 1, 1)  # at one place everybody waits for everybody
        self._lines: dict[str, deque[J]] = {}
        self._turns: dict[str, None] = {}
        """The tenants with waiting units and a place free to them; the first is served next."""
        self._places: Counter[str] = Counter()
        self._short_units_due: dict[str, int] = {}
        """How many short units of a tenant would show that its units are short; 1 of a newcomer."""
        self.count = 0

    @property
    def is_ready(self) -> bool:
        """Whether a tenant waits for which a place is free."""
        return bool(self._turns)

    def add(self, job: J) -> None:
        """Let a unit wait for its turn.

        Raises:
            Overloaded: too many wait, in all or of its tenant; the unit does not wait.
        """
        line = self._lines.get(job.tenant, ())
        if self.count >= self._units_max or len(line) >= max(1, self._units_max // 2):
            raise Overloaded(f"{self.count} units of work are waiting")
        self._lines.setdefault(job.tenant, deque()).append(job)
        self.count += 1
        self._let_in(job.tenant)

    def take(self, count: int) -> list[J]:
        """The next batch of at most `count` units, whose tenants have a place until `release`.

        It leaves equal shares to the other places of a tenant. Empty where nobody may be served.
        """
        batch: list[J] = []
        count = min(count, -(-self.count // self._places_each))
        while len(batch) < count:
            tenant = next((name for name in self._turns if self._may_join(name, batch)), None)
            if tenant is None:
                break
            line = self._lines[tenant]
            del self._turns[tenant]
            units = 1 if self._is_mixed else min(count, len(line))
            batch += (line.popleft() for _ in range(units))
            if line:
                self._turns[tenant] = None
            else:
                del self._lines[tenant]
            if self._due(tenant) or not self._is_mixed:
                break
        self.count -= len(batch)
        for tenant in {job.tenant for job in batch}:
            self._places[tenant] += 1
            if self._places[tenant] >= self._places_each:
                self._turns.pop(tenant, None)
        return batch

    def note(self, tenant: str, seconds: float) -> None:
        """Note how long a unit of a tenant has run; before its batch is released."""
        if len(self._short_units_due) >= KNOWN_MAX:
            self._short_units_due.clear()
        due = SHORT_UNITS if seconds > LONG_SECONDS else max(self._due(tenant) - 1, 0)
        self._short_units_due[tenant] = due

    def release(self, batch: Collection[J]) -> None:
        """End a batch: its tenants may have the place again."""
        for tenant in {job.tenant for job in batch}:
            self._places[tenant] -= 1
            if not self._places[tenant]:
                del self._places[tenant]
            self._let_in(tenant)

    def drop_late(self, cutoff: float) -> Iterator[J]:
        """Remove the units that wait since the cutoff or longer."""
        for tenant, line in [*self._lines.items()]:
            while line and line[0].queued_at <= cutoff:
                self.count -= 1
                yield line.popleft()
            if not line:
                del self._lines[tenant]
                self._turns.pop(tenant, None)

    def _let_in(self, tenant: str) -> None:
        if tenant in self._lines and self._places[tenant] < self._places_each:
            self._turns.setdefault(tenant)

    def _due(self, tenant: str) -> int:
        return self._short_units_due.get(tenant, self._short_units_first)

    def _may_join(self, tenant: str, batch: list[J]) -> bool:
        if batch or self._due(tenant) <= 1:
            return not batch or not self._due(tenant)
        busy = sum(places for name, places in self._places.items() if self._due(name) > 1)
        return busy < self._long_places_max
