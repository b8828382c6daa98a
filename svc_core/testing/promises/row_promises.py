# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about single rows: versions, and which tenants see them."""

from attrs import evolve

from svc_core.operation.ports import SYSTEM, Collection, StaleVersionError, Transaction
from svc_core.testing.promises.bench import ANN, BOB, StoreTest
from svc_core.testing.sample import NOTES, NOTICES, SECRETS, Note
from svc_core.testing.sync_store import raises


class RowPromises(StoreTest):
    """Promises about single rows: versions, and which tenants see them."""

    def test_a_new_row_has_version_one_and_its_wire_bytes(self) -> None:
        note = Note("a", "words", 7)
        row = self.sync.put(ANN, NOTES, "a", note)
        assert (row.version, row.order) == (1, 7)
        assert NOTES.decode(row.raw) == note
        assert self.sync.get(ANN, NOTES, "a") == row

    def test_each_write_counts_the_version_up(self) -> None:
        for version in (1, 2, 3):
            assert self.sync.put(ANN, NOTES, "a", Note("a", str(version))).version == version
        assert (self._row("a").version, self._stored_note("a").text) == (3, "3")

    def test_an_absent_row_is_none(self) -> None:
        assert self.sync.get(ANN, NOTES, "a") is None
        assert self.sync.delete(ANN, NOTES, "a") is None

    def test_several_rows_come_by_their_identifiers_in_the_order_asked(self) -> None:
        for id_ in ("a", "b", "é"):
            self.note(id_)
        self.sync.put(BOB, NOTES, "c", Note("c", ""))
        rows = self.sync.get_many(ANN, NOTES, ("é", "c", "x", "a", "a", 'q"'))
        assert list(rows) == ["é", "a"]
        assert rows["a"] == self.sync.get(ANN, NOTES, "a")
        assert self.sync.get_many(ANN, NOTES, ()) == {}
        with raises(AssertionError):
            self.sync.get_many(ANN, SECRETS, ("a",))

    def test_a_stale_version_never_writes_or_deletes(self) -> None:
        self.note("a", text="first")
        for expect in (0, 2):
            with raises(StaleVersionError, current=1):
                self.sync.put(ANN, NOTES, "a", Note("a", "other"), expect=expect)
            with raises(StaleVersionError, current=1):
                self.sync.delete(ANN, NOTES, "a", expect=expect)
        assert (self._row("a").version, self._stored_note("a").text) == (1, "first")

    def test_the_expected_version_writes_and_deletes(self) -> None:
        assert self.sync.put(ANN, NOTES, "a", Note("a", ""), expect=0).version == 1
        assert self.sync.put(ANN, NOTES, "a", Note("a", ""), expect=1).version == 2
        row = self.sync.delete(ANN, NOTES, "a", expect=2)
        assert row is not None
        assert row.version == 2

    def test_an_absent_row_has_version_zero_for_those_who_expect(self) -> None:
        assert self.sync.delete(ANN, NOTES, "a", expect=0) is None
        with raises(StaleVersionError):
            self.sync.delete(ANN, NOTES, "a", expect=1)
        with raises(StaleVersionError):
            self.sync.put(ANN, NOTES, "a", Note("a", ""), expect=1)

    def test_a_deleted_row_is_gone_from_everywhere_and_may_come_again(self) -> None:
        self.note("a", text="word", topics=("t",), status="open")
        assert self.sync.delete(ANN, NOTES, "a") is not None
        assert self.sync.get(ANN, NOTES, "a") is None
        assert self.list_ids() == []
        assert self.list_ids(where={"topic": ("t",)}) == []
        assert self.list_ids(where={"status": ("open",)}) == []
        assert self.search_ids("word") == set()
        assert self.sync.put(ANN, NOTES, "a", Note("a", ""), expect=0).version == 1

    def test_tenants_are_invisible_to_each_other(self) -> None:
        self.note("a", 1, text="word", topics=("t",), status="open")
        assert self.sync.get(BOB, NOTES, "a") is None
        assert self.sync.delete(BOB, NOTES, "a") is None
        assert self.sync.scan(BOB, NOTES).rows == ()
        assert self.sync.scan(BOB, NOTES, where={"topic": ("t",)}).rows == ()
        assert self.sync.scan(BOB, NOTES, where={"status": ("open",)}).rows == ()
        assert self.sync.search(BOB, NOTES, {"word": 1}).rows == ()
        assert self.sync.put(BOB, NOTES, "a", Note("a", "bob's")).version == 1
        assert self.list_ids() == ["a"]

    def test_another_tenants_rows_are_read_beside_and_never_written(self) -> None:
        self.note("a", 1, text="word")

        async def look(tx: Transaction) -> tuple[str, bool, bool]:
            beside = tx.beside(ANN)
            return (
                beside.tenant,
                await beside.documents.get(NOTES, "a") is not None,
                await tx.documents.get(NOTES, "a") is not None,
            )

        async def meddle(tx: Transaction) -> None:
            await tx.beside(ANN).documents.put(NOTES, "a", Note("a", "bob's"))

        assert self.sync.read(BOB, look) == (ANN, True, False)
        for unit in (self.sync.read, self.sync.write):
            with raises(AssertionError):
                unit(BOB, meddle)
        assert self.search_ids("word") == {"a"}

    def test_global_rows_are_read_by_everybody_and_written_by_the_system(self) -> None:
        self.sync.put(SYSTEM, NOTICES, "n", Note("n", "hear", 1, topics=("t",)))
        for tenant in (ANN, BOB, SYSTEM):
            assert self.sync.get(tenant, NOTICES, "n") is not None
            assert len(self.sync.scan(tenant, NOTICES, where={"topic": ("t",)}).rows) == 1
            assert len(self.sync.search(tenant, NOTICES, {"hear": 1}).rows) == 1
        with raises(AssertionError):
            self.sync.put(ANN, NOTICES, "n", Note("n", ""))
        with raises(AssertionError):
            self.sync.delete(ANN, NOTICES, "n")

    def test_system_rows_are_the_systems_alone(self) -> None:
        self.sync.put(SYSTEM, SECRETS, "s", Note("s", "hush"))
        assert self.sync.get(SYSTEM, SECRETS, "s") is not None
        with raises(AssertionError):
            self.sync.get(ANN, SECRETS, "s")
        with raises(AssertionError):
            self.sync.scan(ANN, SECRETS)
        with raises(AssertionError):
            self.sync.search(ANN, SECRETS, {"hush": 1})
        with raises(AssertionError):
            self.sync.put(ANN, SECRETS, "s", Note("s", ""))

    def test_the_system_writes_no_row_of_a_tenant(self) -> None:
        with raises(AssertionError):
            self.sync.put(SYSTEM, NOTES, "a", Note("a", ""))
        assert self.sync.scan(SYSTEM, NOTES).rows == ()

    def test_an_undeclared_collection_is_refused(self) -> None:
        unknown: Collection[Note] = evolve(NOTES, name="unknown")
        with raises(AssertionError):
            self.sync.get(ANN, unknown, "a")
        with raises(AssertionError):
            self.sync.put(ANN, unknown, "a", Note("a", ""))
