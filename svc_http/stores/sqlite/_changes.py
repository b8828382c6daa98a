"""The change feed in SQLite. There is one writer thread, so numbers are assigned in the order in
which they become visible."""

from collections.abc import Sequence
from typing import Any

from svc_http.stores.relational.stored_feed import RelationalFeed
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.statement_files import named_statements


class SqliteChanges(RelationalFeed):
    """The feed of one tenant, with a column for each member of an entry."""

    statements = named_statements(__package__, "changes.sql")
    _session: SqliteSession

    def _add(
        self, scope: str, resource_type: str, members: tuple[Any, ...], details: str | None
    ) -> None:
        values = (scope, resource_type, details, *members)
        self._session.connection.execute(self.statements["append"], values)

    def _members(self, entry: Sequence[Any]) -> Sequence[Any]:
        return entry
