"""The PostgreSQL backend: a store that any number of processes share."""

from svc_http.extras import install_line
from svc_http.stores.errors import DriverMissing

try:
    import asyncpg as _  # noqa: F401 - checked before the modules that need it
except ImportError as missing:
    raise DriverMissing(f"PostgreSQL needs its driver: {install_line('postgres')}") from missing

from svc_http.stores.migration_steps import AppliedStep, MigrationStatus
from svc_http.stores.postgres._maintenance import (
    database_bytes,
    migrate_postgres,
    postgres_status,
    renew_postgres_epoch,
    tells_its_place,
)
from svc_http.stores.postgres._storage import PostgresLimits, PostgresStorage

__all__ = [
    "AppliedStep",
    "MigrationStatus",
    "PostgresLimits",
    "PostgresStorage",
    "database_bytes",
    "migrate_postgres",
    "postgres_status",
    "renew_postgres_epoch",
    "tells_its_place",
]
