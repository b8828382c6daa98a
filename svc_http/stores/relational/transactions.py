"""The transaction of a unit of work on a store with tables, as one tenant sees it."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from svc_core.operation.ports import tenancy as scopes
from svc_http.stores.relational.sessions import TableSession


class TransactionParts(NamedTuple):
    """The classes of a backend that serve the parts of a transaction."""

    documents: type[Any]
    changes: type[Any]
    answers: type[Any]
    ledger: type[Any]


class RelationalTransaction:
    """One tenant's view of the database; implements `Transaction` of the ports.

    Its parts are created on first use, because most units need one or two, and are kept, because
    they may hold what the unit has yet to write.
    """

    parts: ClassVar[TransactionParts]

    def __init__(self, session: TableSession, tables: Mapping[str, Any], tenant: str) -> None:
        """Work for `tenant`."""
        self._session = session
        self._tables = tables
        self.tenant = tenant
        self.documents: Any = self.parts.documents(session, tables, tenant)

    @cached_property
    def changes(self) -> Any:
        """The tenant's change feed."""
        return self.parts.changes(self._session, self.tenant)

    @cached_property
    def answers(self) -> Any:
        """The tenant's stored answers of idempotent requests."""
        return self.parts.answers(self._session, self.tenant)

    @cached_property
    def ledger(self) -> Any:
        """The tenant's ledger."""
        return self.parts.ledger(self._session, self.tenant)

    async def erase(self, limit: int) -> bool:
        """Erase some of the tenant's feed, answers and ledger; see the port."""
        self._session.write()
        parts = (self.changes, self.answers, self.ledger)
        return any([await part.drop(limit) for part in parts])

    def beside(self, tenant: str) -> "RelationalTransaction":
        """Another tenant's view of the same snapshot."""
        scopes.check_beside(is_reading=not self._session.is_writable)
        return type(self)(self._session, self._tables, tenant)
