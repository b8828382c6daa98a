"""The transaction of one unit of work on a SQLite connection."""

from svc_http.stores.relational.transactions import RelationalTransaction, TransactionParts
from svc_http.stores.sqlite._answers import SqliteAnswers
from svc_http.stores.sqlite._changes import SqliteChanges
from svc_http.stores.sqlite._documents import SqliteDocuments
from svc_http.stores.sqlite._ledger import SqliteLedger


class SqliteTransaction(RelationalTransaction):
    """One tenant's view of the file."""

    parts = TransactionParts(SqliteDocuments, SqliteChanges, SqliteAnswers, SqliteLedger)
