# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about units that run at the same time, in one store or several over the same rows."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

from svc_core.contract.answer import Answer
from svc_core.operation.ports import SYSTEM, FeedPosition, StaleVersionError, Transaction
from svc_core.testing.clock import START
from svc_core.testing.promises.bench import ANN, BOB, Mishap, StoreTest, an_answer
from svc_core.testing.sample import NOTES, Note
from svc_core.testing.sealed_lines import a_line, growth
from svc_core.testing.sync_store import a_change

Unit = Callable[[Transaction], Awaitable[Any]]

UNITS = 24
"""Units at the same time: enough that those of a store without isolation meet."""
PLACES = 7
"""What they compete for: fewer than there are units."""


class ConcurrencyPromises(StoreTest):
    """Promises about units that run at the same time, in one store or in several."""

    def test_no_update_is_lost(self) -> None:
        self.note("count", weight=0)
        self._run_mixed([_count_up] * UNITS, [])
        assert self._stored_note("count").weight == UNITS
        assert self._row("count").version == UNITS + 1

    def test_a_counted_limit_holds(self) -> None:
        async def add(number: int, tx: Transaction) -> bool:
            if await tx.documents.count(NOTES, limit=PLACES) >= PLACES:
                return False
            await tx.documents.put(NOTES, f"n{number}", Note(f"n{number}", ""), expect=0)
            return True

        assert self._compete(add).count(True) == PLACES
        assert len(self.list_ids()) == PLACES

    def test_a_name_is_taken_once(self) -> None:
        async def take(number: int, tx: Transaction) -> bool:
            filters = {"author": (f"name {number % PLACES}",)}
            if (await tx.documents.scan(NOTES, where=filters, limit=1)).rows:
                return False
            note = Note(f"n{number}", "", author=f"name {number % PLACES}")
            await tx.documents.put(NOTES, note.id, note)
            return True

        assert self._compete(take).count(True) == PLACES
        assert len(self.list_ids()) == PLACES

    def test_an_answer_is_kept_once_and_its_work_done_once(self) -> None:
        async def once(number: int, tx: Transaction) -> bytes:
            answer = await tx.answers.get("op", "key")
            if answer is not None:
                return answer.body
            await tx.documents.put(NOTES, f"n{number}", Note(f"n{number}", ""))
            body = str(number).encode()
            await tx.answers.put("op", "key", an_answer(body))
            return body

        assert len(set(self._compete(once))) == 1
        assert len(self.list_ids()) == 1

    def test_a_row_is_claimed_by_one_of_those_who_saw_it(self) -> None:
        self.note("job", status="open")
        job = self._row("job")

        async def claim(number: int, tx: Transaction) -> bool:
            try:
                claimed_job = Note("job", "", author=f"worker {number}")
                await tx.documents.put(NOTES, "job", claimed_job, expect=job.version)
            except StaleVersionError:
                return False
            return True

        assert self._compete(claim).count(True) == 1

    def test_the_head_of_a_ledger_is_the_one_that_was_built_on(self) -> None:
        async def append(number: int, tx: Transaction) -> int:
            head = await tx.ledger.head()
            size = 0 if head is None else head.size
            lines, nodes, after, expect = growth(size, [a_line(size, f"record {number}", "s")])
            await tx.ledger.append(lines, nodes, after, expect=expect)
            return size

        assert set(self._compete(append)) == set(range(UNITS))
        head = self.sync.read(ANN, lambda tx: tx.ledger.head())
        assert head is not None
        assert head.size == len(self.sync.read(ANN, lambda tx: tx.ledger.lines(0, UNITS * 2)))

    def test_a_feed_is_numbered_in_the_order_of_commits_without_a_gap(self) -> None:
        async def tell(number: int, tx: Transaction) -> tuple[int, str]:
            before = (await tx.changes.head()).own
            await tx.documents.put(NOTES, "last", Note("last", str(number)))
            await tx.changes.append(a_change(str(number)))
            return before, str(number)

        places = sorted(self._compete(tell))
        assert [place for place, _ in places] == [*range(UNITS)]
        assert [change.id for change in self.sync.feed(ANN).changes] == [id_ for _, id_ in places]
        assert self._stored_note("last").text == places[-1][1]

    def test_a_reader_of_the_feed_misses_nothing_that_is_written_meanwhile(self) -> None:
        async def write(tx: Transaction) -> None:
            await tx.changes.append(a_change("x"))

        position = 0
        for _ in range(3):
            reads = [_feed_after(position)] * PLACES
            readings = self._run_mixed([write] * PLACES, reads)[PLACES:]
            for heads, places in readings:
                assert places == [*range(position, position + heads)], readings
            position += PLACES
        assert len(self.sync.feed(ANN).changes) == position

    def test_a_reading_unit_sees_whole_units(self) -> None:
        self.note("left", weight=100)
        self.note("right", weight=0)

        async def move(tx: Transaction) -> None:
            for id_, by in (("left", -1), ("right", 1)):
                await _add(tx, id_, by)

        async def look(tx: Transaction) -> tuple[int, ...]:
            weights = [await _weight(tx, id_) for id_ in ("left", "right", "right", "left")]
            return sum(weights[:2]), sum(weights[2:])

        assert set(self._run_mixed([move] * UNITS, [look] * UNITS)[UNITS:]) == {(100, 100)}

    def test_a_unit_that_fails_takes_back_only_its_own(self) -> None:
        self.note("count", weight=0)

        async def fail(tx: Transaction) -> None:
            await _count_up(tx)
            await tx.changes.append(a_change("lost"))
            raise Mishap

        self._run_mixed([_count_up, fail] * PLACES, [])
        assert self._stored_note("count").weight == PLACES
        assert self.sync.feed(ANN).changes == ()

    def test_tenants_work_at_the_same_time_each_on_its_own(self) -> None:
        for tenant in (ANN, BOB):
            self.sync.put(tenant, NOTES, "count", Note("count", "", weight=0))
        stores = self.stores
        self.at_once(
            [
                stores[number % len(stores)].store.write((ANN, BOB)[number % 2], _count_up)
                for number in range(UNITS)
            ]
        )
        for tenant in (ANN, BOB):
            assert self._stored_note("count", tenant).weight == UNITS // 2

    def test_a_purge_and_a_new_answer_do_not_hinder_each_other(self) -> None:
        old_answer = an_answer(b"old")
        new_answer = an_answer(b"new")._replace(at=START + timedelta(days=2))

        def keep(number: int, answer: Answer) -> Unit:
            return lambda tx: tx.answers.put("op", f"key {number}", answer)

        async def purge(tx: Transaction) -> int:
            return await tx.answers.purge(START + timedelta(days=1), limit=PLACES)

        for number in range(PLACES):
            self.sync.write(ANN, keep(number, old_answer))
        works = [self.sync.store.write(ANN, keep(number, new_answer)) for number in range(PLACES)]
        works += [store.store.write(SYSTEM, purge) for store in self.stores]
        assert all(reply is None or isinstance(reply, int) for reply in self.at_once(works))
        for number in range(PLACES):
            assert self._answer(f"key {number}") == new_answer

    def _compete(self, unit: Callable[[int, Transaction], Awaitable[Any]]) -> list[Any]:
        """What as many units come to that write at the same time, each with its number."""
        return self._run_mixed([partial(unit, number) for number in range(UNITS)], [])

    def _run_mixed(self, writes: list[Unit], reads: list[Unit]) -> list[Any]:
        """What the units came to, those of ANN that write before those that read.

        They are handed in by turns, to every store by turns.
        """
        stores, works = self.stores, []
        for number in range(max(len(writes), len(reads))):
            store = stores[number % len(stores)].store
            for units, run in ((writes, store.write), (reads, store.read)):
                if number < len(units):
                    works.append((units is reads, number, run(ANN, units[number])))
        results = self.at_once([work for _, _, work in works])
        by_unit = {
            (kind, number): reply for (kind, number, _), reply in zip(works, results, strict=True)
        }
        return [by_unit[key] for key in sorted(by_unit)]


async def _count_up(tx: Transaction) -> None:
    await _add(tx, "count", 1)


async def _add(tx: Transaction, id_: str, by: int) -> None:
    weight = await _weight(tx, id_)
    await tx.documents.put(NOTES, id_, Note(id_, "", weight=weight + by))


async def _weight(tx: Transaction, id_: str) -> int:
    row = await tx.documents.get(NOTES, id_)
    assert row is not None
    return NOTES.decode(row.raw).weight or 0


def _feed_after(position: int) -> Unit:
    async def read(tx: Transaction) -> tuple[int, list[int]]:
        head = (await tx.changes.head()).own - position
        part = await tx.changes.read(FeedPosition(own=position), limit=100)
        end = part.position.own
        return head, [*range(end - len(part.changes), end)]

    return read
