"""The parts of one unit of work."""

from svc_http.storage.postgres.answers import PostgresAnswers
from svc_http.storage.postgres.changes import PostgresChanges
from svc_http.storage.postgres.documents import PostgresDocuments, Tables
from svc_http.storage.postgres.ledger import PostgresLedger
from svc_http.storage.postgres.session import Session


class PostgresTransaction:
    """The tenant's view; its parts are made when they are first asked for.

    The units of a tenant that commit together are handed the same one, for it remembers what
    they wrote and what of it waits.
    """

    def __init__(self, session: Session, tables: Tables, tenant: str) -> None:
        """Work for `tenant`."""
        self._session = session
        self._changes: PostgresChanges | None = None
        self._answers: PostgresAnswers | None = None
        self._ledger: PostgresLedger | None = None
        self.tenant = tenant
        self.documents = PostgresDocuments(session, tables, tenant)

    @property
    def changes(self) -> PostgresChanges:
        """The tenant's change feed."""
        if self._changes is None:
            self._changes = PostgresChanges(self._session, self.tenant)
        return self._changes

    @property
    def answers(self) -> PostgresAnswers:
        """The tenant's kept answers."""
        if self._answers is None:
            self._answers = PostgresAnswers(self._session, self.tenant)
        return self._answers

    @property
    def ledger(self) -> PostgresLedger:
        """The tenant's ledger."""
        if self._ledger is None:
            self._ledger = PostgresLedger(self._session, self.tenant)
        return self._ledger
