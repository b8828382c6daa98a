"""The PostgreSQL backend: a store that any number of processes share."""

from svc_http.stores.errors import DriverMissing

try:
    import asyncpg as _  # noqa: F401 - checked before the modules that need it
except ImportError as missing:
    cure = 'pip install "svc-intelligence[postgres]"'
    raise DriverMissing(f"PostgreSQL needs its driver: {cure}") from missing

from svc_http.stores.postgres.maintenance import migrate, renew_epoch, size, status
from svc_http.stores.postgres.storage import Limits, PostgresStorage
from svc_http.stores.steps import Applied, Status

__all__ = [
    "Applied",
    "Limits",
    "PostgresStorage",
    "Status",
    "migrate",
    "renew_epoch",
    "size",
    "status",
]
