"""Storage backends for units of work: memory, one SQLite file, or a PostgreSQL database.

The names below are imported when they are first used, so that choosing one backend does not load
the others.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svc_http.stores.errors import Newer, StoreBusy, Unusable
    from svc_http.stores.memory.storage import MemoryStorage
    from svc_http.stores.opening import Store, ThreadedStore, open, threaded
    from svc_http.stores.sqlite import SqliteStorage

_NAMES = {
    "errors": "Newer StoreBusy Unusable",
    "memory.storage": "MemoryStorage",
    "opening": "Store ThreadedStore open threaded",
    "sqlite": "SqliteStorage",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "MemoryStorage",
    "Newer",
    "SqliteStorage",
    "Store",
    "StoreBusy",
    "ThreadedStore",
    "Unusable",
    "open",
    "threaded",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that declares it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'svc_http.stores' has no attribute {name!r}")
    return getattr(import_module(f"svc_http.stores.{_HOMES[name]}"), name)
