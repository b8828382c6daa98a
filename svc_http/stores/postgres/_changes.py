"""The change feed in PostgreSQL: entries in commit order, with a gapless position per scope.

Rule 1: a writing transaction holds the lock of its tenant until its commit (`_writer`), so the next
        position is the highest plus one, and positions become visible in their order.
Rule 2: if one commit was acknowledged before another began, its `seq` is lower.
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
from collections.abc import Sequence
from typing import Any

from svc_core.base.compact import ascii_text
from svc_http.stores.postgres._session import Session, Statement
from svc_http.stores.relational.stored_feed import RelationalFeed
from svc_http.stores.statement_files import named_statements


class PostgresChanges(RelationalFeed):
    """The feed of one tenant, with an entry as one text."""

    statements = named_statements(__package__, "changes.sql")
    _session: Session

    def __init__(self, session: Session, tenant: str) -> None:
        super().__init__(session, tenant)
        self._pending: list[tuple[str, int, str, str, str | None]] = []
        self._counts = Counter[str]()
        session.buffers.append(self)

    def _add(
        self, scope: str, resource_type: str, members: tuple[Any, ...], details: str | None
    ) -> None:
        self._session.scope = scope
        self._counts[scope] += 1
        entry = ascii_text(members)
        self._pending.append((scope, self._counts[scope], resource_type, entry, details))

    def _members(self, entry: Sequence[Any]) -> Sequence[Any]:
        members: list[Any] = json.loads(entry[0])
        return members

    def take_statements(self) -> list[Statement]:
        """The statement that writes the buffered entries, which leave the buffer."""
        if not self._pending:
            return []
        columns: list[object] = [list(column) for column in zip(*self._pending, strict=True)]
        self.discard()
        return [(self.statements["append"], columns)]

    def discard(self) -> None:
        """Drop the buffered entries."""
        self._pending.clear()
        self._counts.clear()
