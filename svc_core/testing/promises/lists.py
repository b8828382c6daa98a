# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Order, pages, bounds and filters."""

from typing import Any

from svc_core.ports import SYSTEM, Position
from svc_core.testing.promises.bench import ANN, BOB, Bench
from svc_core.testing.sample import NOTES, NOTICES, Note
from svc_core.testing.sync_store import refused


class ListPromises(Bench):
    """Order, pages, bounds and filters."""

    def test_rows_come_from_the_highest_order_and_identifier(self) -> None:
        for id_, written in (("b", 1), ("a", 2), ("c", 1), ("é", 1), ("Z", -5), ("z", -5)):
            self.note(id_, written)
        assert self.listed() == ["a", "é", "c", "b", "z", "Z"]

    def test_pages_join_to_the_whole_list(self) -> None:
        for number in range(10):
            self.note(f"n{number}", number // 3)
        for limit in (1, 2, 3, 9, 10, 11):
            assert self._walked(limit) == self.listed()

    def test_paging_repeats_and_loses_nothing_while_rows_are_inserted(self) -> None:
        for number in range(20):
            self.note(f"n{number:02}", number // 4)
        at_first = self.listed()
        pages = self._walked(3, between=lambda turn: self.note(f"x{turn}", turn))
        assert [id_ for id_ in pages if id_ in at_first] == at_first
        assert len(set(pages)) == len(pages)

    def _walked(self, limit: int, between: Any = None) -> list[str]:
        ids: list[str] = []
        after: Position | None = None
        for turn in range(100):
            page = self.sync.scan(ANN, NOTES, after=after, limit=limit)
            assert len(page.rows) <= limit
            ids += [row.id for row in page.rows]
            after = page.end
            if after is None:
                assert not page.more
                return ids
            if between is not None:
                between(turn)
        raise AssertionError("the list never ends")

    def test_more_is_said_exactly_when_a_row_follows(self) -> None:
        self.note("a", 1)
        self.note("b", 2)
        assert self.sync.scan(ANN, NOTES, limit=1).more
        assert not self.sync.scan(ANN, NOTES, limit=2).more
        assert not self.sync.scan(ANN, NOTES, where={"status": ("none",)}, limit=1).more

    def test_both_bounds_belong_to_the_range(self) -> None:
        for number in range(5):
            self.note(f"n{number}", number)
        assert self.listed(start=1, end=3) == ["n3", "n2", "n1"]
        assert self.listed(start=4) == ["n4"]
        assert self.listed(end=0) == ["n0"]
        assert self.listed(start=3, end=2) == []

    def test_a_position_outside_the_bounds_is_cut_to_them(self) -> None:
        for number in range(5):
            self.note(f"n{number}", number)
        assert self.listed(end=2, after=Position(4, "n4")) == ["n2", "n1", "n0"]
        assert self.listed(end=2, after=Position(2, "n2")) == ["n1", "n0"]
        assert self.listed(end=4, after=Position(2, "n2")) == ["n1", "n0"]
        assert self.listed(start=2, after=Position(2, "n2")) == []

    def test_filters_take_any_of_their_values_and_all_of_them_must_hold(self) -> None:
        self.note("a", 1, status="open", author="x", topics=("t", "u"))
        self.note("b", 2, status="done", author="x", topics=("u",))
        self.note("c", 3, status="open", author="y", topics=())
        self.note("d", 4, topics=("t",))
        for where, ids in (
            ({"status": ("open",)}, ["c", "a"]),
            ({"status": ("open", "done")}, ["c", "b", "a"]),
            ({"status": ("open", "open")}, ["c", "a"]),
            ({"status": ("open",), "author": ("x", "y")}, ["c", "a"]),
            ({"topic": ("t",)}, ["d", "a"]),
            ({"topic": ("t", "u")}, ["d", "b", "a"]),
            ({"topic": ("t", "u"), "status": ("open", "done")}, ["b", "a"]),
            ({"topic": ("u",), "author": ("x",), "status": ("done",)}, ["b"]),
            ({"status": ()}, []),
            ({"status": (), "author": ("x",)}, []),
            ({"author": ("x",), "topic": ()}, []),
            ({"topic": (), "status": ("open",)}, []),
            ({"status": ("no such",)}, []),
            ({}, ["d", "c", "b", "a"]),
        ):
            assert self.listed(where=where) == ids, where

    def test_filtered_pages_join_to_the_filtered_list(self) -> None:
        for number in range(12):
            self.note(
                f"n{number:02}",
                number // 2,
                status="open" if number % 3 else "done",
                topics=("t", "u") if number % 2 else ("u",),
            )
        for where in (
            {"status": ("open", "done")},
            {"topic": ("t", "u")},
            {"topic": ("t", "u"), "status": ("open",)},
        ):
            ids: list[str] = []
            after: Position | None = None
            while True:
                page = self.sync.scan(ANN, NOTES, where=where, start=1, end=4, after=after, limit=2)
                ids += [row.id for row in page.rows]
                after = page.end
                if after is None:
                    break
            assert ids == self.listed(where=where, start=1, end=4)

    def test_an_undeclared_filter_is_refused(self) -> None:
        with refused(AssertionError):
            self.listed(where={"colour": ("red",)})
        with refused(AssertionError):
            self.sync.across(NOTES, where={"colour": ("red",)})

    def test_a_changed_row_stands_where_it_now_belongs(self) -> None:
        self.note("a", 1, status="open", topics=("t",))
        self.note("b", 2, status="open", topics=("t",))
        self.note("a", 3, status="done", topics=("u", "t"))
        assert self.listed() == ["a", "b"]
        assert self.listed(where={"status": ("open",)}) == ["b"]
        assert self.listed(where={"topic": ("t",)}) == ["a", "b"]
        assert self.listed(where={"topic": ("u",)}) == ["a"]
        self.note("a", 0, status="done", topics=("u", "t"))
        assert self.listed(where={"topic": ("t",)}) == ["b", "a"]
        assert self.listed(where={"topic": ("t",)}, end=1) == ["a"]
        assert self.listed(where={"status": ("open",), "topic": ("t",)}) == ["b"]
        self.note("a", 3)
        assert self.listed(where={"topic": ("t", "u")}) == ["b"]

    def test_the_workers_view_has_every_tenant_lowest_first(self) -> None:
        self.sync.put(ANN, NOTES, "x", Note("x", "", 5, "open"))
        self.sync.put(BOB, NOTES, "x", Note("x", "", 5, "done"))
        self.sync.put(BOB, NOTES, "a", Note("a", "", 5, "open", topics=("t",)))
        self.sync.put(BOB, NOTES, "z", Note("z", "", 1, "open"))
        assert self._owned() == [(BOB, "z"), (ANN, "x"), (BOB, "a"), (BOB, "x")]
        assert self._owned(limit=2) == [(BOB, "z"), (ANN, "x")]
        assert self._owned(end=1) == [(BOB, "z")]
        assert self._owned(where={"status": ("open",)}) == [(BOB, "z"), (ANN, "x"), (BOB, "a")]
        assert self._owned(where={"topic": ("t",), "status": ("open",)}) == [(BOB, "a")]
        self.sync.put(SYSTEM, NOTICES, "n", Note("n", ""))
        assert [owned.tenant for owned in self.sync.across(NOTICES)] == [SYSTEM]

    def _owned(self, **how: Any) -> list[tuple[str, str]]:
        return [(owned.tenant, owned.document.id) for owned in self.sync.across(NOTES, **how)]
