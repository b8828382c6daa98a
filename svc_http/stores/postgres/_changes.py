"""The change feed in PostgreSQL: entries in commit order, with a gapless position per scope.

Rule 1: a writing transaction holds the lock of its tenant until its commit (`_writer`), so the next
        position is the highest plus one, and positions become visible in their order.
Rule 2: `seq` merges the two scopes that a reader sees: if one commit was acknowledged before
        another began, its `seq` is lower. It never leaves the store.
Rule 3: an entry is JSON text in pure ASCII, because a text of PostgreSQL cannot hold U+0000.
"""

# The number order of the feed
#
# A consumer reads the feed up to a position, remembers it, and later asks for what comes after. It
# misses a change for ever if a lower number becomes visible after it has read a higher one. That is
# the fault of the usual design, a sequence (`bigserial`): a number is drawn when a row is inserted,
# but the row is visible only after COMMIT, and transactions commit in another order than they drew:
#
#     A: draws 7 ........................ COMMIT
#     B:           draws 8, COMMIT
#     reader:                      sees 8, remembers 8 ......... asks for > 8: 7 is never seen
#
# Here a position is counted instead, per scope (the global scope, or that of one tenant):
#
# 1. A writing transaction first takes the advisory lock of its tenant and keeps it to its end. It
#    appends to the scope of that tenant alone; the global scope belongs to the system, which is a
#    tenant with a lock of its own.
# 2. Under the lock and READ COMMITTED every statement sees all earlier commits to the scope, so
#    "highest position plus one" is right, also in the same transaction.
# 3. The lock is released after the commit became visible, so the next writer counts on from there.
#
# So within a scope positions have no gaps, and they become visible in their order. A tenant reads
# two scopes, and its watermark is a pair of positions, one for each; neither can skip an entry.
# Their merged order is that of `seq`, an identity column, whose numbers are compared and never
# remembered: of two commits that ran at the same time either may come first, and a page takes a
# prefix of each scope in any case. For `seq` to respect commits that were
# acknowledged before others began, sessions must not cache its numbers (CACHE 1, the default).
#
# What was tried: SERIALIZABLE with retries. All writers of a tenant touch the end of its feed, so
# nearly all of them conflict, and under load most work is done twice. What is weak: one tenant
# writes one transaction at a time; units that wait together share one (`_writer`).

import json
from collections import Counter
from typing import Any

from svc_core.base import compact
from svc_core.operation.ports import Change, ChangeSlice, FeedPosition
from svc_http.stores import change_details
from svc_http.stores import tenancy as scopes
from svc_http.stores.microseconds import from_microseconds, to_microseconds
from svc_http.stores.postgres._session import Session, Statement, session_statements

GLOBAL_SCOPE = "*"
"""The scope of global entries; the scope of a tenant is a slash and its name."""

_json = compact.compact_encoder(ascii_only=True)

_SQL = session_statements("changes.sql")


class PostgresChanges:
    """The feed of one tenant: the global entries merged with its own."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
        self._tenant_scope = f"/{tenant}"
        self._pending: list[tuple[str, int, str, str, str | None]] = []
        self._counts = Counter[str]()
        session.buffers.append(self)

    async def append(self, change: Change) -> None:
        """Add an entry; see the port."""
        self._session.write()
        scopes.check_publisher(change, self._tenant)
        scope = GLOBAL_SCOPE if change.everybody else self._tenant_scope
        self._counts[scope] += 1
        names = (change.id, change.change_type, change.resource_id, change.version)
        row = (*names, to_microseconds(change.occurred_at), change.path)
        place, details = self._counts[scope], change_details.details_text(change)
        self._pending.append((scope, place, change.resource_type, _json(row), details))

    async def read(
        self, after: FeedPosition, *, types: tuple[str, ...] | None = None, limit: int
    ) -> ChangeSlice:
        """At most `limit` entries after the position; see the port."""
        values = (GLOBAL_SCOPE, self._tenant_scope, after.everybody, after.own, limit + 1)
        if types is None:
            rows = await self._session.fetch(_SQL["read"], *values)
        else:
            rows = await self._session.fetch(
                _SQL["read_types"], *values, list(dict.fromkeys(types))
            )
        entries = [row for row in rows if row["seq"] is not None]
        changes = tuple(_change(row) for row in entries[:limit])
        if len(entries) > limit:
            return ChangeSlice(changes, _position_after(after, entries[:limit]), has_more=True)
        heads = max(rows[0]["everybody"], after.everybody), max(rows[0]["own"], after.own)
        return ChangeSlice(changes, FeedPosition(*heads), has_more=False)

    async def head(self) -> FeedPosition:
        """The position of the newest entries that this transaction can see."""
        (row,) = await self._session.fetch(_SQL["heads"], GLOBAL_SCOPE, self._tenant_scope)
        return FeedPosition(*row)

    async def epoch(self) -> bytes:
        """The epoch of the feed: eight bytes, new after every restore."""
        (row,) = await self._session.rows(_SQL["epoch"])
        epoch: bytes = row["value"]
        return epoch

    def take_statements(self) -> list[Statement]:
        """The statement that writes the buffered entries, which leave the buffer."""
        if not self._pending:
            return []
        columns: list[object] = [list(column) for column in zip(*self._pending, strict=True)]
        self.discard()
        return [(_SQL["append"], columns)]

    def discard(self) -> None:
        """Drop the buffered entries."""
        self._pending.clear()
        self._counts.clear()


def _position_after(after: FeedPosition, entries: list[Any]) -> FeedPosition:
    places = {row["scope"] == GLOBAL_SCOPE: row["position"] for row in entries}
    return FeedPosition(places.get(True, after.everybody), places.get(False, after.own))


def _change(row: Any) -> Change:
    id_, change_type, resource_id, version, occurred_at, path = json.loads(row["entry"])
    kind, is_global = row["resource_type"], row["scope"] == GLOBAL_SCOPE
    at = from_microseconds(occurred_at)
    details = change_details.details_of(row["details"])
    return Change(id_, change_type, kind, resource_id, version, at, path, is_global, **details)
