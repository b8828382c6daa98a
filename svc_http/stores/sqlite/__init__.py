"""The SQLite backend: a store in one file, and the maintenance of that file."""

from svc_http.stores.sqlite.connection import has_wal_reset_fault
from svc_http.stores.sqlite.storage import SqliteStorage, migrate, renew_epoch, status
from svc_http.stores.steps import Applied, Status

__all__ = [
    "Applied",
    "SqliteStorage",
    "Status",
    "has_wal_reset_fault",
    "migrate",
    "renew_epoch",
    "status",
]
