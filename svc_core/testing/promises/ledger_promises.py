# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about the ledger: lines stay unchanged, in one order, and are found by their keys."""

from typing import Any

from svc_core.operation.ports import (
    DuplicateRecordError,
    LedgerCheckpoint,
    LedgerEnd,
    LedgerHead,
    LedgerKey,
    LedgerNode,
    SealedLine,
    StaleVersionError,
    Transaction,
    key_digest,
)
from svc_core.testing.promises.bench import ANN, BOB, Mishap, StoreTest
from svc_core.testing.sealed_lines import Growth, a_line, growth, plain_growth, record_time
from svc_core.testing.sync_store import raises


class LedgerTest(StoreTest):
    """Short methods for reading and writing the ledger of a tenant."""

    def head(self, tenant: str = ANN) -> LedgerHead | None:
        """The newest head, None where there is no ledger."""
        return self.sync.read(tenant, lambda tx: tx.ledger.head())

    def line(self, id_: str, tenant: str = ANN) -> SealedLine | None:
        """The line of the record with this identifier."""
        return self.sync.read(tenant, lambda tx: tx.ledger.get(id_))

    def lines(self, start: int = 0, end: int = 999, tenant: str = ANN) -> tuple[bytes, ...]:
        """The lines of a range of numbers, without `end`."""
        return self.sync.read(tenant, lambda tx: tx.ledger.lines(start, end))

    def lines_about(
        self, subject: str, size: int | None = None, limit: int = 99
    ) -> tuple[bytes, ...]:
        """The lines about a subject of ANN."""
        pairs = self.sync.read(
            ANN, lambda tx: tx.ledger.of_subjects((subject,), size=size, limit=limit)
        )
        assert {about for about, _ in pairs} <= {subject}
        return tuple(line for _, line in pairs)

    def opening_ids(
        self,
        *,
        before: int | None = None,
        size: int | None = None,
        key: str | None = None,
        limit: int = 99,
        tenant: str = ANN,
    ) -> list[str]:
        """The identifiers of the lines that open a subject."""
        openers = self.sync.read(
            tenant, lambda tx: tx.ledger.opened(before=before, size=size, key=key, limit=limit)
        )
        return [line.id for line in openers]

    def holders(
        self, key: str, *, size: int | None = None, limit: int = 99, tenant: str = ANN
    ) -> tuple[str, ...]:
        """The subjects that hold a designator."""
        subjects = self.sync.read(
            tenant, lambda tx: tx.ledger.holders((key, "none"), size=size, limit=limit)
        )
        assert subjects["none"] == {}
        return tuple(subjects[key])

    def size_at(self, time: str, tenant: str = ANN) -> int:
        """The number of lines that were recorded up to a time."""
        return self.sync.read(tenant, lambda tx: tx.ledger.size_at(time))

    def hashes(
        self, level: int, start: int = 0, end: int = 999, tenant: str = ANN
    ) -> tuple[bytes, ...]:
        """The hashes of a range of one level."""
        return self.sync.read(tenant, lambda tx: tx.ledger.hashes(level, start, end))

    def keep_checkpoint(self, day: str, size: int, text: bytes, tenant: str = ANN) -> None:
        """Stores the checkpoint of a day."""
        self.sync.write(tenant, lambda tx: tx.ledger.keep_checkpoint(day, size, text))

    def checkpoint_texts(self, tenant: str = ANN) -> tuple[bytes, ...]:
        """The texts of the stored checkpoints, by day."""
        checkpoints = self.sync.read(tenant, lambda tx: tx.ledger.checkpoints())
        return tuple(checkpoint.text for checkpoint in checkpoints)

    def stored_lines(self, *numbers: int, tenant: str = ANN) -> tuple[SealedLine, ...]:
        """The whole stored lines with these numbers."""
        return self.sync.read(tenant, lambda tx: tx.ledger.stored(numbers))

    def index(self, after: LedgerKey | None = None, limit: int = 99) -> tuple[LedgerKey, ...]:
        """One page of the index of designators of ANN."""
        return self.sync.read(ANN, lambda tx: tx.ledger.index(after, limit))

    def end(self, tenant: str = ANN) -> LedgerEnd:
        """Where the stored lines end."""
        return self.sync.read(tenant, lambda tx: tx.ledger.end())

    def erase(self, id_: str, line: bytes = b"erased", tenant: str = ANN) -> None:
        """Erase a record."""
        self.sync.write(tenant, lambda tx: tx.ledger.erase(id_, line))


class LedgerPromises(LedgerTest):
    """Promises about writing: sealed lines stay, whole and in their order."""

    def test_a_tenant_without_a_ledger_has_nothing(self) -> None:
        assert self.head() is None
        assert self.line("a") is None
        assert self.lines() == self.lines_about("s") == self.hashes(0) == self.hashes(8) == ()
        assert self.opening_ids() == self.opening_ids(key="k") == []
        assert self.holders("k") == ()
        assert self.checkpoint_texts() == ()
        assert self.size_at(record_time(9)) == 0

    def test_lines_are_kept_byte_for_byte(self) -> None:
        lines = (
            a_line(0, "a", opens=True, keys=("lei:é", 'x:"')),
            a_line(1, "b", "t", keys=(), time=1),
        )
        self.sync.seal(ANN, growth(0, lines))
        assert (self.line("a"), self.line("b")) == lines
        assert self.lines() == (lines[0].line, lines[1].line)
        assert self.head() == LedgerHead(2, b"state 2")

    def test_a_ledger_may_begin_before_its_first_line(self) -> None:
        self.sync.seal(ANN, growth(0, ()))
        assert self.head() == LedgerHead(0, b"state 0")
        self.sync.seal(ANN, plain_growth(0, "a"))
        assert self.head() == LedgerHead(1, b"state 1")

    def test_a_stale_size_never_appends(self) -> None:
        self.sync.seal(ANN, plain_growth(0, "a", "b"))
        for expect in (0, 1, 3):
            with raises(StaleVersionError, current=2):
                self.sync.seal(ANN, plain_growth(expect, "c"))
        with raises(StaleVersionError, current=0):
            self.sync.seal(BOB, plain_growth(1, "c"))
        assert len(self.lines()) == 2
        assert self.head() == LedgerHead(2, b"state 2")
        assert self.head(BOB) is None

    def test_an_identifier_is_given_once(self) -> None:
        self.sync.seal(ANN, plain_growth(0, "a", "b"))
        for ids, duplicate in (("ca", "a"), ("cdc", "c"), ("cddb", "d"), ("ab", "a")):
            with raises(DuplicateRecordError, id=duplicate):
                self.sync.seal(ANN, plain_growth(2, *ids))
            assert len(self.lines()) == 2
            assert self.line("c") is None
        with raises(DuplicateRecordError, id="a"):
            self.sync.seal(BOB, plain_growth(0, "a", "a"))
        assert self.head(BOB) is None

    def test_a_refused_append_leaves_nothing_when_it_is_caught(self) -> None:
        refused_batch = growth(2, (a_line(2, "c", keys=("k",), opens=True), a_line(3, "a")))
        after = plain_growth(2, "c", "d")

        async def unit(tx: Transaction) -> None:
            try:
                await tx.ledger.append(*refused_batch[:3], expect=2)
            except DuplicateRecordError:
                await tx.ledger.append(*after[:3], expect=2)

        self.sync.seal(ANN, plain_growth(0, "a", "b"))
        self.sync.write(ANN, unit)
        assert self.lines()[2:] == tuple(line.line for line in after.lines)
        assert self.holders("k") == ()
        assert self.opening_ids() == []

    def test_an_exception_undoes_all_of_a_ledgers_work(self) -> None:
        async def unit(tx: Transaction) -> None:
            await tx.ledger.append(*second[:3], expect=1)
            await tx.ledger.erase("a", b"erased")
            await tx.ledger.erase("b", b"erased")
            await tx.ledger.keep_checkpoint("2026-01-01", 2, b"two")
            await tx.ledger.keep_checkpoint("2026-01-02", 2, b"two")
            assert await tx.ledger.lines(0, 2) == (b"erased", b"erased")
            raise Mishap

        first = growth(0, [a_line(0, "a", opens=True, keys=("k",))])
        second = growth(1, [a_line(1, "b", "t", opens=True, keys=("l",))])
        self.sync.seal(ANN, first)
        self.keep_checkpoint("2026-01-01", 1, b"one")
        with raises(Mishap):
            self.sync.write(ANN, unit)
        assert self.head() == first.head
        assert self.line("a") == first.lines[0]
        assert self.line("b") is None
        assert (self.holders("k"), self.holders("l")) == (("s",), ())
        assert self.checkpoint_texts() == (b"one",)
        self.sync.seal(ANN, second)
        assert self.line("b") == second.lines[0]

    def test_a_first_append_that_is_undone_leaves_no_ledger(self) -> None:
        async def unit(tx: Transaction) -> None:
            await tx.ledger.append(*plain_growth(0, "a")[:3], expect=0)
            raise Mishap

        with raises(Mishap):
            self.sync.write(ANN, unit)
        assert self.head() is None
        self.sync.seal(BOB, plain_growth(0, "a"))
        self.sync.seal(ANN, plain_growth(0, "a"))

    def test_a_unit_sees_its_own_lines(self) -> None:
        async def unit(tx: Transaction) -> tuple[int, tuple[tuple[str, bytes], ...]]:
            await tx.ledger.append(*plain_growth(0, "a")[:3], expect=0)
            await tx.ledger.append(*plain_growth(1, "b", "c")[:3], expect=1)
            head = await tx.ledger.head()
            assert head is not None
            return head.size, await tx.ledger.of_subjects(("s",), limit=9)

        size, lines = self.sync.write(ANN, unit)
        assert (size, len(lines)) == (3, 3)

    def test_an_append_that_does_not_fit_together_is_refused(self) -> None:
        self.sync.seal(ANN, plain_growth(0, "a", time=5))
        good = plain_growth(1, "b", "c", time=5)
        gap = good._replace(lines=(a_line(1, "b", time=5), a_line(3, "c", time=5)))
        falling = good._replace(lines=(a_line(1, "b", time=6), a_line(2, "c", time=5)))
        for wrong in (
            gap,
            falling,
            plain_growth(1, "b", time=4),
            good._replace(head=LedgerHead(2, b"")),
            good._replace(nodes=(LedgerNode(8, 0, bytes(32)),)),
        ):
            with raises(AssertionError):
                self.sync.seal(ANN, wrong)
        assert len(self.lines()) == 1
        self.sync.seal(ANN, good)

    def test_ledgers_are_invisible_to_each_other(self) -> None:
        ann_lines = growth(0, [a_line(0, "a", opens=True, keys=("k",)), a_line(1, "b", time=1)])
        self.sync.seal(ANN, ann_lines)
        self.keep_checkpoint("2026-01-01", 2, b"two")
        assert self.head(BOB) is None
        assert self.line("a", BOB) is None
        assert self.lines(tenant=BOB) == self.hashes(0, tenant=BOB) == ()
        assert self.opening_ids(tenant=BOB) == self.opening_ids(key="k", tenant=BOB) == []
        assert self.holders("k", tenant=BOB) == ()
        assert self.checkpoint_texts(BOB) == ()
        assert self.size_at(record_time(1), BOB) == 0
        bob_lines = growth(0, [a_line(0, "a", "t", opens=True, keys=("k",), time=2)])
        self.sync.seal(BOB, bob_lines)
        self.erase("a", tenant=BOB)
        assert self.line("a") == ann_lines.lines[0]
        assert (self.holders("k"), self.opening_ids(key="k")) == (("s",), ["a"])
        assert len(self.lines()) == 2
        assert self.lines(tenant=BOB) == (b"erased",)

    def test_a_reading_unit_never_writes_to_a_ledger(self) -> None:
        self.sync.seal(ANN, plain_growth(0, "a"))
        batch = plain_growth(1, "b")
        for writing in (
            lambda tx: tx.ledger.append(*batch[:3], expect=1),
            lambda tx: tx.ledger.erase("a", b""),
            lambda tx: tx.ledger.keep_checkpoint("2026-01-01", 1, b""),
        ):
            with raises(AssertionError):
                self.sync.read(ANN, writing)

    def test_the_version_grows_with_a_ledger(self) -> None:
        for writing in (
            lambda tx: tx.ledger.append(*plain_growth(0, "a")[:3], expect=0),
            lambda tx: tx.ledger.erase("a", b""),
            lambda tx: tx.ledger.keep_checkpoint("2026-01-01", 1, b""),
        ):
            version = self.sync.store.version
            self.sync.write(ANN, writing)
            assert self.sync.store.version > version


class LedgerReadingPromises(LedgerTest):
    """Promises about reading: by number, subject, designator, time and tree level."""

    def test_a_range_ends_before_its_end_and_with_the_ledger(self) -> None:
        batch = plain_growth(0, "a", "b", "c")
        self.sync.seal(ANN, batch)
        self.sync.seal(BOB, plain_growth(0, "a", "b"))
        raw = tuple(line.line for line in batch.lines)
        for start, end in ((0, 3), (1, 2), (2, 9), (0, 2**60), (3, 9), (1, 1), (2, 1)):
            assert self.lines(start, end) == raw[start:end]

    def test_the_lines_of_a_subject_come_in_order(self) -> None:
        batch = self._two_subjects()
        of_s = tuple(line.line for line in batch.lines if line.subject == "s")
        assert self.lines_about("s") == of_s
        assert self.lines_about("s", limit=2) == of_s[:2]
        assert self.lines_about("s", size=3) == of_s[:2]
        assert self.lines_about("s", size=0) == self.lines_about("u") == ()

    def test_the_lines_of_several_subjects_come_one_subject_after_the_other(self) -> None:
        batch = self._two_subjects()
        about = {x: [(x, line.line) for line in batch.lines if line.subject == x] for x in "st"}

        several = ("t", "none", "s", "t")

        def read_subjects(
            limit: int, size: int | None = None, start: int = 0
        ) -> list[tuple[str, bytes]]:
            pairs = self.sync.read(
                ANN,
                lambda tx: tx.ledger.of_subjects(several, start=start, size=size, limit=limit),
            )
            return list(pairs)

        assert read_subjects(99) == about["t"] + about["s"]
        assert read_subjects(4) == (about["t"] + about["s"])[:4]
        assert read_subjects(99, size=0) == read_subjects(0) == read_subjects(99, start=6) == []
        assert read_subjects(99, start=3) == [
            (line.subject, line.line)
            for about in "ts"
            for line in batch.lines[3:]
            if line.subject == about
        ]

    def test_the_acts_on_a_record_are_those_on_it_and_on_them(self) -> None:
        def acts(*numbers: int, **rest: Any) -> list[int]:
            targets = [ids[number] for number in numbers]
            lines = self.sync.read(
                ANN, lambda tx: tx.ledger.acts(targets, **{"subjects": ("s", "x"), **rest})
            )
            return [[line.line for line in batch.lines].index(line) for line in lines]

        ids = [f"{'obs' if number == 8 else 'clm'}_{number:024x}" for number in range(9)]
        places = {2: 0, 3: 2, 4: 1, 5: 3, 6: 0, 7: 0, 8: 0}
        batch = growth(
            0,
            [
                a_line(n, id_, "t" if n == 7 else "s", target=ids[places[n]] if n in places else "")
                for n, id_ in enumerate(ids)
            ],
        )
        self.sync.seal(ANN, batch)
        self.sync.seal(BOB, growth(0, [a_line(0, ids[0], target=ids[1])]))
        assert acts(0) == acts(6, 0) == [2, 3, 5, 6]  # not the one of another kind
        assert (acts(1), acts(2), acts(5), acts()) == ([4], [3, 5], [], [])
        assert acts(0, 1) == [2, 3, 4, 5, 6]
        assert (acts(0, size=5), acts(0, size=2)) == ([2, 3], [])
        assert [len(acts(0, limit=limit)) for limit in (0, 3, 4, 5)] == [0, 3, 4, 4]
        assert (acts(0, subjects=("t",)), acts(0, subjects=())) == ([7], [])

    def test_several_records_come_by_their_identifiers(self) -> None:
        batch = self._two_subjects()
        by_id = {line.id: line for line in batch.lines}
        ids = ("t0", "none", "s1", "t0")
        rows = self.sync.read(ANN, lambda tx: tx.ledger.get_many(ids))
        assert list(rows.items()) == [(id_, by_id[id_]) for id_ in ("t0", "s1")]
        assert self.sync.read(BOB, lambda tx: tx.ledger.get_many(ids)) == {}

    def test_the_lines_of_a_subject_are_counted(self) -> None:
        def count(subject: str, tenant: str = ANN, start: int = 0) -> int:
            counts = self.sync.read(
                tenant, lambda tx: tx.ledger.counts_of((subject, "x"), start=start)
            )
            assert counts["x"] == 0
            return counts[subject]

        assert count("s") == 0
        self._two_subjects()
        self.sync.seal(ANN, growth(6, [a_line(6, "s3", "s")]))
        self.erase("s1")
        assert (count("s"), count("t"), count("u"), count("s", BOB)) == (4, 3, 0, 0)
        assert count("s", start=6) == 1

    def test_subjects_are_listed_newest_first(self) -> None:
        self._two_subjects()
        assert self.opening_ids() == ["t0", "s0"]
        assert self.opening_ids(limit=1) == ["t0"]
        assert self.opening_ids(before=1) == ["s0"]
        assert self.opening_ids(size=1) == ["s0"]
        assert self.opening_ids(before=1, size=0) == self.opening_ids(before=0) == []

    def test_subjects_are_found_by_a_designator(self) -> None:
        self._two_subjects()
        assert self.holders("k") == ("t", "s")
        assert self.holders("k", limit=1) == self.holders("k", size=4) == ("t",)
        assert self.holders("k", size=2) == self.holders("other") == ()
        of_key = self.sync.read(ANN, lambda tx: tx.ledger.holders(("k",), limit=9))
        assert of_key == {"k": {"t": ("t1", "t2"), "s": ("s2",)}}
        first = self.sync.read(ANN, lambda tx: tx.ledger.holders(("k",), limit=9, records=1))
        assert first == {"k": {"t": ("t1",)}}
        assert self.opening_ids(key="k") == ["t0", "s0"]
        assert self.opening_ids(key="k", before=1) == self.opening_ids(key="l") == ["s0"]
        assert self.opening_ids(key="k", size=4) == ["t0"]
        assert self.opening_ids(key="k", limit=1) == ["t0"]
        assert self.opening_ids(key="other") == []

    def test_a_time_names_the_lines_recorded_by_then(self) -> None:
        self.sync.seal(ANN, plain_growth(0, "a", time=2))
        self.sync.seal(ANN, plain_growth(1, "b", "c", time=4))
        self.sync.seal(ANN, plain_growth(3, "d", time=4))
        for time, size in ((0, 0), (1, 0), (2, 1), (3, 1), (4, 4), (5, 4)):
            assert self.size_at(record_time(time)) == size

    def test_hashes_are_read_level_by_level(self) -> None:
        first = growth(0, (a_line(seq, f"{seq}") for seq in range(255)))
        second = growth(255, (a_line(seq, f"{seq}") for seq in range(255, 513)))
        self.sync.seal(ANN, first)
        assert self.hashes(8) == ()
        self.sync.seal(ANN, second)
        seals = tuple(line.seal for line in (*first.lines, *second.lines))
        assert self.hashes(0, 250, 300) == seals[250:300]
        assert self.hashes(0, 510, 999) == seals[510:]
        nodes = tuple(node.hash for node in second.nodes)
        assert len(nodes) == 2
        assert self.hashes(8) == nodes
        assert self.hashes(8, 1, 2) == nodes[1:]
        assert self.hashes(8, 2, 9) == self.hashes(16) == self.hashes(24) == ()
        with raises(AssertionError):
            self.hashes(1)

    def test_nodes_of_an_append_that_is_undone_are_not_there(self) -> None:
        async def unit(tx: Transaction) -> None:
            await tx.ledger.append(*batch[:3], expect=0)
            assert len(await tx.ledger.hashes(8, 0, 9)) == 1
            raise Mishap

        batch = growth(0, (a_line(seq, f"{seq}") for seq in range(256)))
        with raises(Mishap):
            self.sync.write(ANN, unit)
        assert self.hashes(8) == self.hashes(0) == ()
        self.sync.seal(ANN, plain_growth(0, "a"))
        assert self.hashes(8) == ()
        self.sync.seal(ANN, growth(1, (a_line(seq, f"{seq}") for seq in range(1, 256))))
        assert self.hashes(8) == (batch.nodes[0].hash,)

    def test_an_erased_line_keeps_its_place_and_its_seal(self) -> None:
        batch = self._two_subjects()
        self.erase("t1", b"without content")
        assert self.line("t1") == batch.lines[3]._replace(line=b"without content", keys=())
        assert self.lines()[3] == self.lines_about("t")[1] == b"without content"
        assert self.hashes(0) == tuple(line.seal for line in batch.lines)
        assert self.holders("k") == ("s", "t")
        self.erase("t2")
        assert self.holders("k") == ("s",)
        assert self.opening_ids(key="k") == ["s0"]
        self.erase("t0")
        assert self.opening_ids() == ["t0", "s0"]
        assert self.head() == batch.head
        with raises(AssertionError):
            self.erase("absent")
        with raises(AssertionError):
            self.erase("t0", tenant=BOB)

    def test_the_last_checkpoint_of_each_day_is_kept(self) -> None:
        for day, size, text in (
            ("2026-01-02", 3, b"three"),
            ("2026-01-01", 1, b"one"),
            ("2026-01-01", 2, b"two"),
            ("2026-01-02", 3, b"three, signed again"),
            ("2026-01-02", 2, b"late"),
        ):
            self.keep_checkpoint(day, size, text)
        assert self.checkpoint_texts() == (b"two", b"three, signed again")
        checkpoints = self.sync.read(ANN, lambda tx: tx.ledger.checkpoints())
        assert checkpoints[0] == LedgerCheckpoint("2026-01-01", 2, b"two")
        self.keep_checkpoint("2026-01-02", 1, b"bob's", BOB)
        assert self.checkpoint_texts(BOB) == (b"bob's",)
        assert len(self.checkpoint_texts()) == 2

    def test_all_that_is_stored_of_lines_can_be_compared_with_them(self) -> None:
        assert (self.end(), self.stored_lines(0), self.index()) == (LedgerEnd(0, ""), (), ())
        batch = self._two_subjects()
        self.sync.seal(BOB, growth(0, [a_line(0, "b0", keys=("k", "l"), time=3)]))
        assert self.stored_lines(5, 1, 3, 6) == tuple(batch.lines[number] for number in (1, 3, 5))
        assert self.stored_lines(0, tenant=BOB)[0].keys == ("k", "l")
        assert (self.end(), self.end(BOB)) == (
            LedgerEnd(6, record_time(0)),
            LedgerEnd(1, record_time(3)),
        )
        self.sync.seal(BOB, growth(1, [a_line(1, "b1", keys=("m", "m"), time=4)]))
        assert len(self.sync.read(BOB, lambda tx: tx.ledger.index(None, 9))) == 3
        every = sorted(LedgerKey(key_digest(k), x.seq) for x in batch.lines for k in x.keys)
        assert self.index() == tuple(every)
        assert self.index(limit=2) + self.index(every[1], 2) == tuple(every[:4])
        assert self.index(every[-1]) == ()
        self.erase("t1", b"without content")
        assert self.stored_lines(3) == (batch.lines[3]._replace(line=b"without content", keys=()),)
        assert [key.seq for key in self.index()] == [x.seq for x in every if x.seq != 3]

    def _two_subjects(self) -> Growth:
        lines = (
            a_line(0, "s0", "s", opens=True),
            a_line(1, "t0", "t", opens=True),
            a_line(2, "s1", "s", keys=("l",)),
            a_line(3, "t1", "t", keys=("k",)),
            a_line(4, "s2", "s", keys=("k", "l")),
            a_line(5, "t2", "t", keys=("k",)),
        )
        batch = growth(0, lines)
        self.sync.seal(ANN, batch)
        return batch
