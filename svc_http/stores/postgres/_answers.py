"""Stores the answers of idempotent requests in PostgreSQL, all of a commit in one statement."""

from svc_core.contract.answer import Answer
from svc_http.stores.postgres._session import Session, Statement
from svc_http.stores.relational.stored_answers import RelationalAnswers, answer_row
from svc_http.stores.statement_files import named_statements


class PostgresAnswers(RelationalAnswers):
    """The stored answers of one tenant."""

    statements = named_statements(__package__, "answers.sql")

    def __init__(self, session: Session, tenant: str) -> None:
        super().__init__(session, tenant)
        self._pending: dict[tuple[str, str], Answer] = {}
        session.buffers.append(self)

    async def get(self, operation: str, key: str) -> Answer | None:
        """The stored answer, whatever its age."""
        return self._pending.get((operation, key)) or await super().get(operation, key)

    def _keep(self, operation: str, key: str, answer: Answer) -> None:
        self._pending[operation, key] = answer

    def take_statements(self) -> list[Statement]:
        """The statement that writes the buffered answers, which leave the buffer."""
        if not self._pending:
            return []
        rows = [(*place, *answer_row(answer)) for place, answer in self._pending.items()]
        self.discard()
        columns = (list(column) for column in zip(*rows, strict=True))
        return [(self.statements["put"], [self._tenant, *columns])]

    def discard(self) -> None:
        """Drop the buffered answers."""
        self._pending.clear()
