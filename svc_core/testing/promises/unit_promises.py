# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about units of work: all or nothing, and a reading unit never writes."""

from svc_core.operation.ports import SYSTEM, FeedPosition, StaleVersionError, Transaction
from svc_core.testing.clock import START
from svc_core.testing.promises.bench import (
    ANN,
    Mishap,
    StoreTest,
    an_answer,
    do_all_and_fail,
    tenant_of,
)
from svc_core.testing.sample import NOTES, Note
from svc_core.testing.sync_store import a_change, raises


class UnitPromises(StoreTest):
    """Promises about units of work: all or nothing, and a reading unit never writes."""

    def test_an_exception_undoes_everything(self) -> None:
        self.note("kept", text="before", topics=("t",), status="open")
        self.note("other")
        self.sync.write(ANN, lambda tx: tx.answers.put("op", "old", an_answer(b"old")))
        with raises(Mishap):
            self.sync.write(ANN, do_all_and_fail)
        row = self.sync.get(ANN, NOTES, "kept")
        assert row is not None
        assert (row.version, NOTES.decode(row.raw).text) == (1, "before")
        assert self.list_ids() == ["other", "kept"]
        assert self.list_ids(where={"topic": ("t",), "status": ("open",)}) == ["kept"]
        assert self.search_ids("before", "after") == {"kept"}
        assert self.sync.feed(ANN).changes == ()
        old = self._answer("old")
        assert old == an_answer(b"old")
        assert self._answer("new") is None

    def test_a_unit_sees_what_it_wrote(self) -> None:
        async def unit(tx: Transaction) -> tuple[int, int, int]:
            await tx.documents.put(NOTES, "a", Note("a", "word"))
            await tx.changes.append(a_change("c"))
            rows = await tx.documents.scan(NOTES, limit=9)
            matches = await tx.documents.search(NOTES, {"word": 1}, limit=9)
            changes = await tx.changes.read(FeedPosition(), limit=9)
            return len(rows.rows), len(matches.rows), len(changes.changes)

        assert self.sync.write(ANN, unit) == (1, 1, 1)

    def test_a_caught_refusal_keeps_the_rest_of_the_unit(self) -> None:
        async def unit(tx: Transaction) -> None:
            await tx.documents.put(NOTES, "a", Note("a", ""))
            try:
                await tx.documents.put(NOTES, "a", Note("a", "again"), expect=0)
            except StaleVersionError:
                await tx.documents.put(NOTES, "b", Note("b", ""))

        self.sync.write(ANN, unit)
        assert self.list_ids() == ["b", "a"]

    def test_a_reading_unit_never_writes(self) -> None:
        for writing in (
            lambda tx: tx.documents.put(NOTES, "a", Note("a", "")),
            lambda tx: tx.documents.delete(NOTES, "a"),
            lambda tx: tx.changes.append(a_change("c")),
            lambda tx: tx.answers.put("op", "key", an_answer(b"")),
        ):
            with raises(AssertionError):
                self.sync.read(ANN, writing)
        with raises(AssertionError):
            self.sync.read(SYSTEM, lambda tx: tx.answers.purge(START, limit=1))

    def test_a_transaction_knows_its_tenant(self) -> None:
        assert self.sync.read(ANN, tenant_of) == ANN
        assert self.sync.write(SYSTEM, tenant_of) == SYSTEM

    def test_the_version_grows_when_an_answer_may_have_changed(self) -> None:
        version = self.sync.store.version
        self.note("a")
        assert self.sync.store.version > version
        version = self.sync.store.version
        self.list_ids()
        assert self.sync.store.version == version
        self.sync.delete(ANN, NOTES, "a")
        assert self.sync.store.version > version
