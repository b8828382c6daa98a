"""The SQLite backend: a store in one file, and the maintenance of that file."""

from svc_http.stores.migration_steps import AppliedStep, MigrationStatus
from svc_http.stores.sqlite._storage import (
    SqliteLimits,
    SqliteStorage,
    file_faults,
    migrate_sqlite,
    renew_sqlite_epoch,
    sqlite_status,
)
from svc_http.stores.sqlite.file_connection import has_wal_reset_fault

__all__ = [
    "AppliedStep",
    "MigrationStatus",
    "SqliteLimits",
    "SqliteStorage",
    "file_faults",
    "has_wal_reset_fault",
    "migrate_sqlite",
    "renew_sqlite_epoch",
    "sqlite_status",
]
