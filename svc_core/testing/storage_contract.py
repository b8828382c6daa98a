"""The promises of every store, as a test class from which the author of a backend derives.

    import asyncio

    from svc_core.testing.sample import SAMPLES
    from svc_core.testing.storage_contract import StorageContract
    from svc_core.testing.model_store import ModelStorage

    class TestMyStore(StorageContract):
        def make_store(self):
            return ModelStorage(SAMPLES)  # or a store of your own

        def run(self, coroutine):
            return asyncio.run(coroutine)

        def at_once(self, coroutines):
            async def together():
                return await asyncio.gather(*coroutines, return_exceptions=True)

            return asyncio.run(together())

`make_store` opens an empty store for `sample.SAMPLES`; each test gets its own and closes it.
`run` runs one coroutine to its end: `asyncio.Runner().run`, or `drive.run` where none suspends.
`at_once` runs several at the same time: `asyncio.gather` with `return_exceptions`, or threads.
`effort` says what a reading costs, where the engine counts: steps, pages or rows.
`make_others` opens more stores over the same rows, for a store that several processes share.
"""

from svc_core.testing.promises.answer_promises import AnswerPromises
from svc_core.testing.promises.concurrency_promises import ConcurrencyPromises
from svc_core.testing.promises.cost_promises import CostPromises
from svc_core.testing.promises.erasure_promises import ErasurePromises
from svc_core.testing.promises.feed_promises import FeedPromises
from svc_core.testing.promises.ledger_promises import LedgerPromises, LedgerReadingPromises
from svc_core.testing.promises.list_promises import ListPromises
from svc_core.testing.promises.row_promises import RowPromises
from svc_core.testing.promises.search_promises import SearchPromises
from svc_core.testing.promises.unit_promises import UnitPromises
from svc_core.testing.sync_store import Store, SyncStore

__all__ = ["StorageContract", "Store", "SyncStore"]


class StorageContract(
    RowPromises,
    UnitPromises,
    ConcurrencyPromises,
    ListPromises,
    SearchPromises,
    FeedPromises,
    AnswerPromises,
    LedgerPromises,
    LedgerReadingPromises,
    ErasurePromises,
    CostPromises,
):
    """All promises of a store; the test class of a backend derives from it."""
