"""The transaction of a PostgreSQL session, as one tenant sees it."""

from svc_http.stores.postgres._answers import PostgresAnswers
from svc_http.stores.postgres._changes import PostgresChanges
from svc_http.stores.postgres._documents import PostgresDocuments
from svc_http.stores.postgres._ledger import PostgresLedger
from svc_http.stores.relational.transactions import RelationalTransaction, TransactionParts


class PostgresTransaction(RelationalTransaction):
    """One tenant's view of the database.

    The units of a tenant that commit together share one transaction object, because it holds the
    buffers of what they have written.
    """

    parts = TransactionParts(PostgresDocuments, PostgresChanges, PostgresAnswers, PostgresLedger)
