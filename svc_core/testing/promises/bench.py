"""The base class of all promises: it opens a new store for each test."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

from svc_core.contract.answer import Answer
from svc_core.operation.ports import Collection, Position, Slice, StoredRow, Transaction
from svc_core.testing import rules
from svc_core.testing.clock import START
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sync_store import Store, SyncStore, a_change

R = TypeVar("R")

ANN, BOB = "ann", "bob"
"""Two tenants."""


class Mishap(Exception):  # noqa: N818 - what a unit of work raises to be undone
    """Raised inside a unit of work."""


class StoreTest:
    """A test class that opens a store before each test and closes it afterwards.

    The author of a backend overrides `make_store`, `run` and `at_once`. A failing test begins with
    the sentence of its promise.
    """

    sync: SyncStore
    collections: Sequence[Collection[Any]] = SAMPLES

    def __init_subclass__(cls) -> None:
        """Decorate each promise, so that its failure begins with its sentence."""
        for name, promise in list(vars(cls).items()):
            if name.startswith("test_"):
                setattr(cls, name, rules.explain_failures(promise))

    def make_store(self) -> Store:
        """Makes an empty store that is opened for `SAMPLES`."""
        raise AssertionError("say how a store is made")

    def run(self, coroutine: Coroutine[Any, Any, R]) -> R:  # noqa: ARG002 - for the author
        """Runs a coroutine to its end and returns its result."""
        raise AssertionError("say how a coroutine is run")

    def at_once(self, coroutines: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:  # noqa: ARG002
        """Runs coroutines at the same time; the result of each, or the exception that it raised."""
        raise AssertionError("say how several coroutines are run at the same time")

    def make_others(self, store: Store) -> Sequence[Store]:  # noqa: ARG002 - for the author
        """Opens more stores over the rows of `store`; none where it cannot be shared."""
        return ()

    def effort(self, work: Callable[[], Any]) -> int:
        """Does some reading and returns what it cost in steps or pages of the engine; 0 where the
        engine does not tell, and nothing is promised."""
        work()
        return 0

    def setup_method(self) -> None:
        """Open the store."""
        self.sync = SyncStore(self.make_store(), self.run)
        self._more_stores: list[SyncStore] = []

    @property
    def stores(self) -> list[SyncStore]:
        """The store and others over the same rows, which are opened on first use."""
        if not self._more_stores:
            stores = self.make_others(self.sync.store)
            self._more_stores = [SyncStore(store, self.run) for store in stores]
        return [self.sync, *self._more_stores]

    def teardown_method(self) -> None:
        """Close the stores."""
        for sync in (*self._more_stores, self.sync):
            sync.close()

    def note(self, id_: str, written: int = 0, **members: Any) -> None:
        """Writes a note of tenant ANN."""
        self.sync.put(ANN, NOTES, id_, Note(id_, **{"text": "", "written": written, **members}))

    def _row(self, id_: str, tenant: str = ANN) -> StoredRow[Note]:
        """The row of a note that is there."""
        row = self.sync.get(tenant, NOTES, id_)
        assert row is not None, id_  # noqa: S101 - as in a promise
        return row

    def _stored_note(self, id_: str, tenant: str = ANN) -> Note:
        """A note that is there."""
        return NOTES.decode(self._row(id_, tenant).raw)

    def _walk(
        self,
        limit: int,
        *,
        terms: Mapping[str, int] | None = None,
        between: Callable[[int], None] = lambda _: None,
        **query: Any,
    ) -> list[str]:
        """The identifiers that the pages of a list or, with `terms`, of a search join to.

        `between` is called with the number of each page that another one follows.
        """
        ask: Callable[..., Slice[Note]] = partial(self.sync.scan, ANN, NOTES)
        if terms is not None:
            ask = partial(self.sync.search, ANN, NOTES, terms)
        ids: list[str] = []
        after: Position | None = None
        for turn in range(100):
            page = ask(after=after, limit=limit, **query)
            assert len(page.rows) <= limit  # noqa: S101 - as in a promise
            ids += [row.id for row in page.rows]
            after = page.end
            if after is None:
                return ids
            between(turn)
        raise AssertionError("the list never ends")

    def _answer(self, key: str, tenant: str = ANN, operation: str = "op") -> Answer | None:
        """The answer that is stored for a repeated request."""
        return self.sync.read(tenant, lambda tx: tx.answers.get(operation, key))

    def list_ids(self, **query: Any) -> list[str]:
        """The identifiers of the notes of ANN, in list order."""
        return [row.id for row in self.sync.scan(ANN, NOTES, **query).rows]

    def search_ids(self, *terms: str, **query: Any) -> set[str]:
        """The identifiers of the notes of ANN that hold any of `terms`."""
        return {
            row.id for row in self.sync.search(ANN, NOTES, dict.fromkeys(terms, 1), **query).rows
        }


async def do_all_and_fail(tx: Transaction) -> None:
    """Writes rows, changes and answers, then raises `Mishap`."""
    await tx.documents.put(NOTES, "kept", Note("kept", "after", 9, "done", topics=("u",)))
    await tx.documents.put(NOTES, "kept", Note("kept", "after twice", 8, "done"))
    await tx.documents.put(NOTES, "new", Note("new", "after", topics=("t",)))
    await tx.documents.delete(NOTES, "other")
    await tx.changes.append(a_change("lost"))
    await tx.answers.put("op", "old", an_answer(b"changed"))
    await tx.answers.put("op", "new", an_answer(b"new"))
    raise Mishap


async def tenant_of(tx: Transaction) -> str:
    """The tenant of a transaction, as a unit of work."""
    return tx.tenant


def an_answer(body: bytes) -> Answer:
    """An answer with this body, as it is stored for a repeated request."""
    headers = (("Location", "/notes/1"), ("ETag", '"x"'))
    return Answer(b"\x00print", 201, headers, body, START + timedelta(microseconds=7))
