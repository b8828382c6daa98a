"""Stores the answers of idempotent requests in SQLite."""

from svc_core.contract.answer import Answer
from svc_http.stores.relational.stored_answers import RelationalAnswers, answer_row
from svc_http.stores.sqlite._session import SqliteSession
from svc_http.stores.statement_files import named_statements


class SqliteAnswers(RelationalAnswers):
    """The stored answers of one tenant."""

    statements = named_statements(__package__, "answers.sql")
    _session: SqliteSession

    def _keep(self, operation: str, key: str, answer: Answer) -> None:
        values = (self._tenant, operation, key, *answer_row(answer))
        self._session.connection.execute(self.statements["put"], values)
