"""The transaction of a PostgreSQL session, as one tenant sees it."""

from functools import cached_property

from svc_core.operation.ports import tenancy as scopes
from svc_http.stores.postgres._answers import PostgresAnswers
from svc_http.stores.postgres._changes import PostgresChanges
from svc_http.stores.postgres._documents import PostgresDocuments
from svc_http.stores.postgres._ledger import PostgresLedger
from svc_http.stores.postgres._session import Session
from svc_http.stores.postgres._table import Tables


class PostgresTransaction:
    """One tenant's view of the database; implements `Transaction` of the ports.

    The units of a tenant that commit together share one transaction object, because it holds the
    buffers of what they have written.
    """

    def __init__(self, session: Session, tables: Tables, tenant: str) -> None:
        """Work for `tenant`."""
        self._session = session
        self._tables = tables
        self.tenant = tenant
        self.documents = PostgresDocuments(session, tables, tenant)

    @cached_property
    def changes(self) -> PostgresChanges:
        """The tenant's change feed."""
        return PostgresChanges(self._session, self.tenant)

    @cached_property
    def answers(self) -> PostgresAnswers:
        """The tenant's stored answers of idempotent requests."""
        return PostgresAnswers(self._session, self.tenant)

    @cached_property
    def ledger(self) -> PostgresLedger:
        """The tenant's ledger."""
        return PostgresLedger(self._session, self.tenant)

    def beside(self, tenant: str) -> "PostgresTransaction":
        """Another tenant's view of the same snapshot."""
        scopes.check_beside(is_reading=not self._session.is_writable)
        return PostgresTransaction(self._session, self._tables, tenant)
