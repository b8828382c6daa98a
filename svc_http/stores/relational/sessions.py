"""What the parts of a transaction ask of the connection that they share."""

from abc import ABC
from collections.abc import Mapping
from typing import Any, ClassVar, Protocol


class TableSession(Protocol):
    """A connection inside a transaction."""

    @property
    def is_writable(self) -> bool:
        """Whether the transaction may write."""

    async def rows(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement returns; a list among its values is an array."""

    async def fetch(self, statement: str, *values: object) -> list[Any]:
        """The rows that a statement returns after all buffered writes were sent."""

    def write(self, collection: str | None = None) -> None:
        """Note that rows of this collection, or something else, are about to be written.

        Raises:
            AssertionError: the transaction is a reading one.
        """


class TenantTables(ABC):
    """A part of a transaction that has tables of its own, as one tenant sees them."""

    statements: ClassVar[Mapping[str, str]]
    """The statements by their names."""

    def __init__(self, session: TableSession, tenant: str) -> None:
        self._session = session
        self._tenant = tenant
