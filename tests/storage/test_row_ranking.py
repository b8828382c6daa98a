"""Every store ranks rows of all kinds alike."""

import asyncio

from svc_core.base import drive
from svc_http.stores import MemoryStorage
from tests.backends import NAMES, store_of
from tests.core.search.ranked import COLLECTIONS, FOREIGN, OWN, ask, fill
from tests.core.search.test_ranked_rows import FIRST, LINES


def test_every_store_gives_the_same_rows_in_the_same_order() -> None:
    plain = MemoryStorage(COLLECTIONS)
    fill(plain, drive.run, LINES)
    cases = [(question, tenant) for question, *_ in FIRST for tenant in (OWN, FOREIGN)]
    expected = [ask(plain, drive.run, question, tenant=tenant) for question, tenant in cases]
    for name in NAMES[1:]:
        with asyncio.Runner() as runner:
            store = store_of(name, COLLECTIONS)
            fill(store, runner.run, LINES)
            answers = [
                ask(store, runner.run, question, tenant=tenant) for question, tenant in cases
            ]
            assert answers == expected
            runner.run(store.close())
