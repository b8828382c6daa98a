"""Storage backends for units of work: memory, one SQLite file, or a PostgreSQL database.

The names below are imported when they are first used, so that choosing one backend does not load
the others.
"""

from typing import TYPE_CHECKING

from svc_core.base.public_names import lazy_names

if TYPE_CHECKING:
    from svc_http.stores.errors import StoreBusy as StoreBusy
    from svc_http.stores.errors import StoreNewer as StoreNewer
    from svc_http.stores.errors import StoreOlder as StoreOlder
    from svc_http.stores.errors import StoreUnusable as StoreUnusable
    from svc_http.stores.factory import ClosableStore as ClosableStore
    from svc_http.stores.factory import ThreadedStore as ThreadedStore
    from svc_http.stores.factory import open as open
    from svc_http.stores.factory import open_threaded as open_threaded
    from svc_http.stores.memory import MemoryStorage as MemoryStorage
    from svc_http.stores.sqlite import SqliteStorage as SqliteStorage
else:
    globals().update(
        lazy_names(
            __name__,
            {
                "errors": "StoreBusy StoreNewer StoreOlder StoreUnusable",
                "factory": "ClosableStore ThreadedStore open open_threaded",
                "memory": "MemoryStorage",
                "sqlite": "SqliteStorage",
            },
        )
    )
