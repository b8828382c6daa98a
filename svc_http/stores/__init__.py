"""Storage backends for units of work: memory, one SQLite file, or a PostgreSQL database.

The names below are imported when they are first used, so that choosing one backend does not load
the others.
"""

from typing import TYPE_CHECKING

from svc_core.base.exports import exports

if TYPE_CHECKING:
    from svc_http.stores.errors import Newer as Newer
    from svc_http.stores.errors import StoreBusy as StoreBusy
    from svc_http.stores.errors import Unusable as Unusable
    from svc_http.stores.memory.storage import MemoryStorage as MemoryStorage
    from svc_http.stores.opening import Store as Store
    from svc_http.stores.opening import ThreadedStore as ThreadedStore
    from svc_http.stores.opening import open as open
    from svc_http.stores.opening import threaded as threaded
    from svc_http.stores.sqlite import SqliteStorage as SqliteStorage
else:
    globals().update(
        exports(
            __name__,
            {
                "errors": "Newer StoreBusy Unusable",
                "memory.storage": "MemoryStorage",
                "opening": "Store ThreadedStore open threaded",
                "sqlite": "SqliteStorage",
            },
        )
    )
