"""The memory store and the fold, driven by a ledger that grows at random."""

from svc_core.base import drive
from svc_core.testing.ledger_kit.machine import LedgerMachine
from svc_http.stores import MemoryStorage
from tests.sampling import examples


class ModelLedger(LedgerMachine):
    make_store = staticmethod(lambda: MemoryStorage(()))
    run = staticmethod(drive.run)


TestModelLedger = ModelLedger.TestCase
TestModelLedger.settings = examples(25, stateful_step_count=15)
