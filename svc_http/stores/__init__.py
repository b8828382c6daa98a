"""Where units of work run: in memory, in one SQLite file, or in a PostgreSQL database."""

from svc_http.stores.errors import Newer, StoreBusy, Unusable
from svc_http.stores.memory.storage import MemoryStorage
from svc_http.stores.opening import Store, Threaded, open, threaded
from svc_http.stores.sqlite import SqliteStorage

__all__ = [
    "MemoryStorage",
    "Newer",
    "SqliteStorage",
    "Store",
    "StoreBusy",
    "Threaded",
    "Unusable",
    "open",
    "threaded",
]
