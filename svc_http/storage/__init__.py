"""Where units of work run: in memory, in one SQLite file, or in a PostgreSQL database."""

from svc_http.storage.errors import Newer, Overloaded, StorageUnavailable, StoreBusy, Unusable
from svc_http.storage.memory import MemoryStorage
from svc_http.storage.opening import Store, Threaded, open, threaded
from svc_http.storage.sqlite import SqliteStorage

__all__ = [
    "MemoryStorage",
    "Newer",
    "Overloaded",
    "SqliteStorage",
    "StorageUnavailable",
    "Store",
    "StoreBusy",
    "Threaded",
    "Unusable",
    "open",
    "threaded",
]
