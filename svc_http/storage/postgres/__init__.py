"""The store in a PostgreSQL database, for more than one process."""

from svc_http.storage.errors import DriverMissing

try:
    import asyncpg as _  # noqa: F401 - asked for before the modules that need it
except ImportError as missing:
    raise DriverMissing('PostgreSQL needs its driver: pip install "svc[postgres]"') from missing

from svc_http.storage.postgres.maintenance import migrate, renew_epoch, status
from svc_http.storage.postgres.storage import Limits, PostgresStorage
from svc_http.storage.steps import Applied, Status

__all__ = ["Applied", "Limits", "PostgresStorage", "Status", "migrate", "renew_epoch", "status"]
