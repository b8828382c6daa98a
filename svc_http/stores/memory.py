"""The store in memory, for any number of threads."""

import threading
from collections.abc import Iterable
from typing import Any

from svc_core.operation.ports import Collection
from svc_core.testing.model_store import ModelStorage


class MemoryStorage(ModelStorage):
    """A store that lives as long as its process, with the promises of the durable ones.

    `epoch` is the epoch of the change feed: pass fresh random bytes if watermarks outlive the
    process.
    """

    def __init__(self, collections: Iterable[Collection[Any]], *, epoch: bytes = bytes(8)) -> None:
        super().__init__(collections, epoch=epoch, lock=threading.Lock())
