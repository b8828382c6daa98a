"""The transaction of one unit of work on a SQLite connection."""

from svc_core.operation.ports import tenancy as scopes
from svc_http.stores.sqlite._answers import SqliteAnswers
from svc_http.stores.sqlite._changes import SqliteChanges
from svc_http.stores.sqlite._documents import SqliteDocuments
from svc_http.stores.sqlite._ledger import SqliteLedger
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.sqlite._table import Tables


class SqliteTransaction:
    """One tenant's view of the database; implements `Transaction` of the ports."""

    __slots__ = ("_session", "_tables", "documents", "tenant")

    def __init__(self, session: SqliteSession, tables: Tables, tenant: str) -> None:
        """Work for `tenant`."""
        self._session = session
        self._tables = tables
        self.tenant = tenant
        self.documents = SqliteDocuments(session, tables, tenant)

    @property
    def changes(self) -> SqliteChanges:
        """The tenant's change feed."""
        return SqliteChanges(self._session, self.tenant)

    @property
    def answers(self) -> SqliteAnswers:
        """The tenant's stored answers of idempotent requests."""
        return SqliteAnswers(self._session, self.tenant)

    @property
    def ledger(self) -> SqliteLedger:
        """The tenant's ledger."""
        return SqliteLedger(self._session, self.tenant)

    def beside(self, tenant: str) -> "SqliteTransaction":
        """Another tenant's view of the same snapshot."""
        scopes.check_beside(is_reading=self._session.writes is None)
        return SqliteTransaction(self._session, self._tables, tenant)
