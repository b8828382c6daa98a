"""Where units of work run: in memory, or in one SQLite file."""

from svc_http.storage.errors import Overloaded, StorageUnavailable, StoreBusy
from svc_http.storage.memory import MemoryStorage
from svc_http.storage.sqlite import SqliteStorage

__all__ = ["MemoryStorage", "Overloaded", "SqliteStorage", "StorageUnavailable", "StoreBusy"]
