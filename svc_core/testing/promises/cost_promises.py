# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about cost: a question costs what it returns, however many other rows there are."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from typing import Any, ClassVar

from svc_core.operation.ports import SYSTEM, Collection, GeoBox, Position, Transaction
from svc_core.testing.outline_rows import OutlineRow, outline_of
from svc_core.testing.promises.bench import ANN, StoreTest
from svc_core.testing.sync_store import SyncStore

MATCHES = 12
"""The rows that a question returns; one index or another leads to all of them."""
STRANGERS, MORE_STRANGERS = 60, 600
"""The rows beside them, at first and in the end; half of them come before the matches in a list."""
FACTOR, ALLOWANCE = 1.6, 10
"""How much dearer a question may become: an index of ten times the rows may be a level higher."""

Question = Callable[[SyncStore], Any]


class CostPromises(StoreTest):
    """Promises about cost: a question costs what it returns, however many other rows there are."""

    def test_rows_that_a_question_does_not_return_make_it_no_dearer(self) -> None:
        for collection in self.collections:
            CostLaw(outline_of(collection)).check(self.sync, self.effort)


class CostLaw:
    """Asks the questions of one collection, among few other rows and then among many."""

    _BETWEEN: ClassVar[tuple[str, dict[str, Any]]] = ("between", {"start": 1002, "end": 1009})

    def __init__(self, collection: Collection[OutlineRow]) -> None:
        self.collection = collection
        self.tenant = ANN if collection.scope == "tenant" else SYSTEM

    def check(self, sync: SyncStore, effort: Callable[[Callable[[], Any]], int]) -> None:
        """Check that no question becomes dearer by rows that it does not return.

        Raises:
            AssertionError: one does; the message names it with what it cost before and after.
        """
        questions = dict(self.questions())
        costs = []
        for start, end in ((0, STRANGERS), (STRANGERS, MORE_STRANGERS)):
            self.fill(sync, end, start=start)
            for question in questions.values():
                question(sync)
            costs.append([effort(partial(question, sync)) for question in questions.values()])
        dearer = {
            name: (before, after)
            for name, before, after in zip(questions, *costs, strict=True)
            if after > FACTOR * before + ALLOWANCE
        }
        assert not dearer, f"{self.collection.name}: {dearer}"

    def fill(self, sync: SyncStore, strangers: int, *, start: int = 0) -> None:
        """Write the matches and so many strangers beside them, or those from `start` on."""

        async def unit(tx: Transaction) -> None:
            for row in rows:
                await tx.documents.put(self.collection, row.id, row)

        rows = [] if start else [self._match(number) for number in range(MATCHES)]
        rows += [self._stranger(number) for number in range(start, strangers)]
        sync.write(self.tenant, unit)

    def questions(self) -> Iterator[tuple[str, Question]]:
        """Every kind of question that the declaration of the collection promises to answer."""
        middle = Position(1006, "m006")
        yield "get", self._question("get", id_="m001")
        for name, filters in self._filters():
            yield f"count {name}", self._question("count", **filters)
            yield f"scan {name}", self._question("scan", **filters)
            yield f"scan after, {name}", self._question("scan", after=middle, **filters)
        for name, page in self._ordered():
            yield f"scan {name}", self._question("scan", **page)
            yield f"scan after, {name}", self._question("scan", after=middle, **page)
        if self.collection.scope == "tenant":
            yield "heads", lambda sync: sync.across(self.collection, heads_after="", limit=5)
        if self.collection.search is not None:
            for name, filters in (("", {"limit": 5}), *self._orders()):
                yield f"search {name}", self._question("search", terms={"rare": 1}, **filters)

    def _question(self, verb: str, **options: Any) -> Question:
        def ask(sync: SyncStore) -> Any:
            return getattr(sync, verb)(self.tenant, self.collection, **options)

        return ask

    def _filters(self) -> Iterator[tuple[str, dict[str, Any]]]:
        if not self.collection.layout.is_filtered:
            yield "all", {"limit": 5}
        yield from self._orders()
        for name, filters in self._common().items():
            yield name, {"where": filters, "limit": 5}
        for name in self._names:
            yield name, {"where": {name: ("rare",)}}
            yield f"{name} of several", {"where": {name: ("rare", "rare too", "none")}}
            yield f"{name} between", {"where": {name: ("rare",)}, "start": 1002, "end": 1009}
        for name in self._numbers:
            yield f"{name} of a range", {"ranges": {name: (1_000, 2_000)}}
        if self.collection.place is not None:
            yield "box", {"box": GeoBox(0, 0, 0.01, 0.01)}
            yield "box over the edge", {"box": GeoBox(0.00005, 0, -30, 0.01)}
        if self.collection.search is not None:
            yield "words", {"words": ("rare",)}

    def _ordered(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each filter with some order, and each order with some filter."""
        numbers, common = self._numbers, self._common()
        filters = [(name, filters) for name, filters in self._filters() if name not in common]
        pairs = zip(cycle(filters), cycle(numbers), strict=False)
        for (name, options), order in islice(pairs, max(len(filters), len(numbers))):
            yield f"{name} by {order}", {"limit": MATCHES, **options, "order": order}

    def _orders(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Bounds of the order alone, where it has an index."""
        if not self.collection.layout.is_filtered:
            yield self._BETWEEN

    @property
    def _names(self) -> list[str]:
        """The keys and facets that may be the only filter."""
        names = (*self.collection.keys, *self.collection.facets)
        return [name for name in names if name not in self.collection.layout.beside]

    @property
    def _numbers(self) -> list[str]:
        """The numbers that may be the only filter."""
        beside = self.collection.layout.beside
        return [name for name in self.collection.number_names if name not in beside]

    def _common(self) -> dict[str, dict[str, tuple[str, ...]]]:
        """Filters that ever more rows meet, of which a page has a few."""
        distinctive = self.collection.layout.distinctive
        names = [name for name in self._names if name not in distinctive]
        return {f"common {name}": {name: ("often 1", "often 2")} for name in names}

    def _match(self, number: int) -> OutlineRow:
        return OutlineRow(
            id=f"m{number:03}",
            order=1000 + number,
            keys=dict.fromkeys(self.collection.keys, "rare"),
            facets=dict.fromkeys(self.collection.facets, ("rare", "rare too")),
            numbers=dict.fromkeys(self.collection.numbers, 1000 + number),
            place=((1000 + number) / 10_000_000, (1000 + number) / 10_000_000),
            words=f"rare w{number}",
        )

    def _stranger(self, number: int) -> OutlineRow:
        return OutlineRow(
            id=f"s{number:03}",
            order=2000 + number if number % 2 else 999 - number,
            keys=dict.fromkeys(self.collection.keys, f"often {number % 3}"),
            facets=dict.fromkeys(self.collection.facets, ("often", f"often {number % 3}")),
            numbers=dict.fromkeys(self.collection.numbers, -number),
            place=(-20 - number / 100, -number / 100),
            words=f"often s{number}",
        )
