"""The transaction of one unit of work on a SQLite connection."""

import sqlite3

from svc_http.stores import tenancy as scopes
from svc_http.stores.sqlite._answers import SqliteAnswers
from svc_http.stores.sqlite._changes import SqliteChanges
from svc_http.stores.sqlite._documents import SqliteDocuments, Tables
from svc_http.stores.sqlite._ledger import SqliteLedger
from svc_http.stores.sqlite._write_batch import WriteBatch


class SqliteTransaction:
    """One tenant's view of the database; implements `Transaction` of the ports."""

    __slots__ = ("_connection", "_tables", "_traces", "_writable", "documents", "tenant")

    def __init__(
        self, connection: sqlite3.Connection, tables: Tables, tenant: str, writes: WriteBatch | None
    ) -> None:
        """Work for `tenant`; `writes` is None in a reading transaction."""
        self._connection = connection
        self._tables = tables
        self._writable = writes is not None
        self._traces = None if writes is None else writes.traces
        self.tenant = tenant
        self.documents = SqliteDocuments(connection, tables, tenant, writes)

    @property
    def changes(self) -> SqliteChanges:
        """The tenant's change feed."""
        return SqliteChanges(self._connection, self.tenant, self._writable)

    @property
    def answers(self) -> SqliteAnswers:
        """The tenant's stored answers of idempotent requests."""
        return SqliteAnswers(self._connection, self.tenant, self._writable)

    @property
    def ledger(self) -> SqliteLedger:
        """The tenant's ledger."""
        return SqliteLedger(self._connection, self.tenant, self._traces)

    def beside(self, tenant: str) -> "SqliteTransaction":
        """Another tenant's view of the same snapshot."""
        scopes.check_beside(is_reading=not self._writable)
        return SqliteTransaction(self._connection, self._tables, tenant, None)
