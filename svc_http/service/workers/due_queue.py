"""Reads the due rows of a queue in the order of turns: workspaces share every worker.

Rule 1: the rows due longest are read, up to a limit. Where there are more, those of one workspace
        may hide all others, so the lowest row of each workspace is looked at too, some workspaces
        at a time.
Rule 2: what one look costs is bounded, however many rows and workspaces there are.
"""

from collections.abc import Collection as Keys
from typing import Final, Generic, TypeVar

from svc_core.operation.members import micros
from svc_core.operation.ports import Collection, TenantRow
from svc_core.operation.turns import Turns
from svc_http import system
from svc_http.service.service_units import Service

R = TypeVar("R")

DUE_MAX: Final = 1_000
"""Rows of a queue that are read in one look, of all workspaces: those that are due longest."""

RowKey = tuple[str, str]
"""A row of a queue: its tenant and its id."""


def row_key(row: TenantRow[R]) -> RowKey:
    """The key of a row."""
    return row.tenant, row.document.id


class DueQueue(Generic[R]):
    """The due rows of one queue, as one worker of one process takes them.

    Where it `is_shuffled`, rows of one workspace come in any order, so that several workers without
    claims begin with different ones.
    """

    is_shuffled = False

    def __init__(self, service: Service, queue: Collection[R]) -> None:
        self._service = service
        self._queue = queue
        self._turns: Turns[TenantRow[R]] = Turns(lambda row: row.tenant)
        self._last_tenant = ""

    async def rows(self, limit: int = DUE_MAX, *, end: int | None = None) -> list[TenantRow[R]]:
        """The rows that are due by `end` (microseconds; now, if None), in the order of turns.

        At most `limit` of those due longest, and one of each of as many other workspaces.
        """
        end = micros(self._service.now()) if end is None else end
        across = self._service.storage.across
        due = await across(self._queue, end=end, limit=limit)
        if len(due) == limit and self._queue.scope == "tenant":
            heads = await across(self._queue, heads_after=self._last_tenant, limit=limit)
            self._last_tenant = heads[-1].tenant if len(heads) == limit else ""
            due += tuple(row for row in heads if row.document.order <= end)
        rows = list({row_key(row): row for row in due}.values())
        if self.is_shuffled:
            system.shuffle(rows)
        return self._turns.order(rows)

    async def take(
        self, skipped: Keys[RowKey], limit: int = DUE_MAX, *, end: int | None = None
    ) -> TenantRow[R] | None:
        """The row whose turn it is, which is none of those `skipped`; None where none is left."""
        for row in await self.rows(min(limit + len(skipped), DUE_MAX), end=end):
            if row_key(row) not in skipped:
                self._turns.note(row)
                return row
        return None
