# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about lists: order, pages, bounds and filters."""

from typing import Any

from svc_core.operation.ports import SYSTEM, GeoBox, Position
from svc_core.testing.promises.bench import ANN, BOB, StoreTest
from svc_core.testing.sample import NOTES, NOTICES, Note
from svc_core.testing.sync_store import raises


class ListPromises(StoreTest):
    """Promises about lists: order, pages, bounds and filters."""

    def test_rows_come_from_the_highest_order_and_identifier(self) -> None:
        for id_, written in (("b", 1), ("a", 2), ("c", 1), ("é", 1), ("Z", -5), ("z", -5)):
            self.note(id_, written)
        assert self.list_ids() == ["a", "é", "c", "b", "z", "Z"]

    def test_pages_join_to_the_whole_list(self) -> None:
        for number in range(10):
            self.note(f"n{number}", number // 3)
        for limit in (1, 2, 3, 9, 10, 11):
            assert self._walk(limit) == self.list_ids()

    def test_paging_repeats_and_loses_nothing_while_rows_are_inserted(self) -> None:
        for number in range(20):
            self.note(f"n{number:02}", number // 4)
        at_first = self.list_ids()
        pages = self._walk(3, between=lambda turn: self.note(f"x{turn}", turn))
        assert [id_ for id_ in pages if id_ in at_first] == at_first
        assert len(set(pages)) == len(pages)

    def test_more_is_said_exactly_when_a_row_follows(self) -> None:
        self.note("a", 1)
        self.note("b", 2)
        assert self.sync.scan(ANN, NOTES, limit=1).has_more
        assert not self.sync.scan(ANN, NOTES, limit=2).has_more
        assert not self.sync.scan(ANN, NOTES, where={"status": ("none",)}, limit=1).has_more

    def test_both_bounds_belong_to_the_range(self) -> None:
        for number in range(5):
            self.note(f"n{number}", number)
        assert self.list_ids(start=1, end=3) == ["n3", "n2", "n1"]
        assert self.list_ids(start=4) == ["n4"]
        assert self.list_ids(end=0) == ["n0"]
        assert self.list_ids(start=3, end=2) == []

    def test_a_position_outside_the_bounds_is_cut_to_them(self) -> None:
        for number in range(5):
            self.note(f"n{number}", number)
        assert self.list_ids(end=2, after=Position(4, "n4")) == ["n2", "n1", "n0"]
        assert self.list_ids(end=2, after=Position(2, "n2")) == ["n1", "n0"]
        assert self.list_ids(end=4, after=Position(2, "n2")) == ["n1", "n0"]
        assert self.list_ids(start=2, after=Position(2, "n2")) == []

    def test_filters_take_any_of_their_values_and_all_of_them_must_hold(self) -> None:
        self.note("a", 1, status="open", author="x", topics=("t", "u"))
        self.note("b", 2, status="done", author="x", topics=("u",))
        self.note("c", 3, status="open", author="y", topics=())
        self.note("d", 4, topics=("t",))
        many = tuple(f"absent {number}" for number in range(100))
        for filters, ids in (
            ({"status": ("open",)}, ["c", "a"]),
            ({"status": ("open", "done")}, ["c", "b", "a"]),
            ({"status": ("open", "open")}, ["c", "a"]),
            ({"status": ("open",), "author": ("x", "y")}, ["c", "a"]),
            ({"topic": ("t",)}, ["d", "a"]),
            ({"topic": ("t", "u")}, ["d", "b", "a"]),
            ({"topic": ("t", "u", *many)}, ["d", "b", "a"]),
            ({"status": ("done", *many), "author": ("x", "y")}, ["b"]),
            ({"topic": ("t", "u"), "status": ("open", "done")}, ["b", "a"]),
            ({"topic": ("u",), "author": ("x",), "status": ("done",)}, ["b"]),
            ({"status": ()}, []),
            ({"status": (), "author": ("x",)}, []),
            ({"author": ("x",), "topic": ()}, []),
            ({"topic": (), "status": ("open",)}, []),
            ({"status": ("no such",)}, []),
            ({}, ["d", "c", "b", "a"]),
        ):
            assert self.list_ids(where=filters) == ids, filters

    def test_filtered_pages_join_to_the_filtered_list(self) -> None:
        for number in range(12):
            self.note(
                f"n{number:02}",
                number // 2,
                status="open" if number % 3 else "done",
                topics=("t", "u") if number % 2 else ("u",),
            )
        for filters in (
            {"status": ("open", "done")},
            {"topic": ("t", "u")},
            {"topic": ("t", "u"), "status": ("open",)},
        ):
            query: dict[str, Any] = {"where": filters, "start": 1, "end": 4}
            assert self._walk(2, **query) == self.list_ids(**query)

    def test_a_list_goes_by_any_declared_number_with_rows_that_lack_it_last(self) -> None:
        for id_, weight in (("a", 2), ("b", None), ("c", 2**63 - 1), ("d", -5), ("e", 2)):
            self.note(id_, weight=weight, topics=("t",), status="open")
        self.note("f", weight=7, topics=("u",))
        assert self.list_ids(order="weight") == ["c", "f", "e", "a", "d", "b"]
        for filters in ({"topic": ("t", "v")}, {"status": ("open",)}):
            assert self.list_ids(order="weight", where=filters) == ["c", "e", "a", "d", "b"]
        for limit in (1, 2, 5):
            assert self._walk(limit, order="weight") == self.list_ids(order="weight")
            filters = {"topic": ("t", "u")}
            assert self._walk(limit, order="weight", where=filters) == self.list_ids(order="weight")

    def test_ranges_of_numbers_have_both_their_ends(self) -> None:
        for id_, weight in (("a", 1), ("b", 2), ("c", 3), ("d", None)):
            self.note(id_, len(id_), weight=weight)
        for bounds, ids in (
            ((1, 2), ["b", "a"]),
            ((2, None), ["c", "b"]),
            ((None, 2), ["b", "a"]),
            ((None, None), ["c", "b", "a"]),
            ((3, 1), []),
        ):
            ranges = {"weight": bounds}
            assert self.list_ids(ranges=ranges) == ids, bounds
            assert self.list_ids(ranges=ranges, order="weight") == ids, bounds
            assert self.sync.count(ANN, NOTES, ranges=ranges) == len(ids)
        assert self.list_ids(ranges={"weight": (1, 3)}, where={"status": ("open",)}) == []

    def test_few_rows_of_many_are_found_where_a_range_meets_a_box(self) -> None:
        places = [(number, (number * 7) % 60 - 30, (number * 11) % 60 - 30) for number in range(60)]
        for number, longitude, latitude in places:
            self.note(f"{number:02}", number, weight=number, longitude=longitude, latitude=latitude)
        for (low, high), (west, south, east, north) in (
            ((0, 59), (-30, -30, -27, 30)),
            ((0, 59), (-30, 27, 30, 30)),
            ((7, 9), (-30, -30, 30, 30)),
            ((5, 40), (-20, -20, 10, 10)),
        ):
            ids = [
                f"{number:02}"
                for number, longitude, latitude in reversed(places)
                if low <= number <= high
                and west <= longitude <= east
                and south <= latitude <= north
            ]
            box = GeoBox(west, south, east, north)
            ranges = {"weight": (low, high)}
            assert self.list_ids(ranges=ranges, box=box, limit=60) == ids, (ranges, box)
            assert self.sync.count(ANN, NOTES, ranges=ranges, box=box) == len(ids)

    def test_a_box_has_its_edges_and_crosses_the_antimeridian(self) -> None:
        for id_, longitude, latitude in (
            ("fiji", 179.5, -17.7),
            ("samoa", -172.1, -13.8),
            ("greenwich", 0.0, 51.4778),
            ("pole", 180.0, -90.0),
        ):
            self.note(id_, longitude=longitude, latitude=latitude)
        self.note("nowhere")
        for box, ids in (
            (GeoBox(-180, -90, 180, 90), {"fiji", "samoa", "greenwich", "pole"}),
            (GeoBox(170, -30, -170, 0), {"fiji", "samoa"}),
            (GeoBox(180, -90, 180, -90), {"pole"}),
            (GeoBox(0, 51.4778, 0, 51.4778), {"greenwich"}),
            (GeoBox(0.0000001, 0, 180, 90), set()),
            (GeoBox(-180, 90, 180, -90), set()),
        ):
            assert set(self.list_ids(box=box)) == ids, box
            assert self.sync.count(ANN, NOTES, box=box) == len(ids)

    def test_a_list_is_narrowed_to_rows_that_hold_all_words(self) -> None:
        for number in range(6):
            words = ("one two", "two three", "one two three")[number % 3]
            self.note(f"n{number}", number, text=words, status="open" if number > 2 else "done")
        assert self.list_ids(words=("two",)) == ["n5", "n4", "n3", "n2", "n1", "n0"]
        assert self.list_ids(words=("one", "three", "one")) == ["n5", "n2"]
        assert self.list_ids(words=("one", "tw")) == []
        assert self.list_ids(words=("one",), where={"status": ("open",)}) == ["n5", "n3"]
        assert self.list_ids(words=("one",), start=2, end=4) == ["n3", "n2"]
        assert self._walk(1, words=("one",)) == ["n5", "n3", "n2", "n0"]

    def test_rows_are_counted_up_to_a_limit(self) -> None:
        for number in range(5):
            self.note(f"n{number}", number, text="one two", topics=("t", "u"), status="open")
        for query in ({}, {"where": {"topic": ("t", "u")}}, {"words": ("one", "two")}):
            assert self.sync.count(ANN, NOTES, **query) == 5
            assert self.sync.count(ANN, NOTES, start=1, end=3, **query) == 3
            assert self.sync.count(ANN, NOTES, **{"limit": 2, **query}) == 2
        assert self.sync.count(ANN, NOTES, where={"topic": ()}) == 0
        assert self.sync.count(BOB, NOTES) == 0

    def test_an_undeclared_filter_is_refused(self) -> None:
        for query in (
            {"where": {"colour": ("red",)}},
            {"order": "status"},
            {"ranges": {"written": (1, 2)}},
        ):
            with raises(AssertionError):
                self.list_ids(**query)
        with raises(AssertionError):
            self.sync.across(NOTES, where={"colour": ("red",)})

    def test_a_changed_row_stands_where_it_now_belongs(self) -> None:
        self.note("a", 1, status="open", topics=("t",))
        self.note("b", 2, status="open", topics=("t",))
        self.note("a", 3, status="done", topics=("u", "t"))
        assert self.list_ids() == ["a", "b"]
        assert self.list_ids(where={"status": ("open",)}) == ["b"]
        assert self.list_ids(where={"topic": ("t",)}) == ["a", "b"]
        assert self.list_ids(where={"topic": ("u",)}) == ["a"]
        self.note("a", 0, status="done", topics=("u", "t"))
        assert self.list_ids(where={"topic": ("t",)}) == ["b", "a"]
        assert self.list_ids(where={"topic": ("t",)}, end=1) == ["a"]
        assert self.list_ids(where={"status": ("open",), "topic": ("t",)}) == ["b"]
        self.note("a", 3)
        assert self.list_ids(where={"topic": ("t", "u")}) == ["b"]

    def test_the_workers_view_has_every_tenant_lowest_first(self) -> None:
        self.sync.put(ANN, NOTES, "x", Note("x", "", 5, "open"))
        self.sync.put(BOB, NOTES, "x", Note("x", "", 5, "done"))
        self.sync.put(BOB, NOTES, "a", Note("a", "", 5, "open", topics=("t",)))
        self.sync.put(BOB, NOTES, "z", Note("z", "", 1, "open"))
        assert self._owners() == [(BOB, "z"), (ANN, "x"), (BOB, "a"), (BOB, "x")]
        assert self._owners(limit=2) == [(BOB, "z"), (ANN, "x")]
        assert self._owners(end=1) == [(BOB, "z")]
        assert self._owners(after=(5, ANN, "x")) == [(BOB, "a"), (BOB, "x")]
        assert self._owners(after=(1, "", ""), end=5, limit=2) == [(BOB, "z"), (ANN, "x")]
        assert self._owners(where={"status": ("open",)}) == [(BOB, "z"), (ANN, "x"), (BOB, "a")]
        assert self._owners(where={"topic": ("t",), "status": ("open",)}) == [(BOB, "a")]
        self.sync.put(SYSTEM, NOTICES, "n", Note("n", ""))
        assert [row.tenant for row in self.sync.across(NOTICES)] == [SYSTEM]

    def test_the_heads_are_the_lowest_rows_of_the_tenants_one_by_one(self) -> None:
        for tenant, id_, order in ((BOB, "z", 1), (BOB, "a", 1), (ANN, "x", 7), (ANN, "y", 5)):
            self.sync.put(tenant, NOTES, id_, Note(id_, "", order))
        assert self._owners(heads_after="") == [(ANN, "y"), (BOB, "a")]
        assert self._owners(heads_after="", limit=1) == [(ANN, "y")]
        assert self._owners(heads_after=ANN) == [(BOB, "a")]
        assert self._owners(heads_after=BOB) == []

    def _owners(self, **query: Any) -> list[tuple[str, str]]:
        return [(row.tenant, row.document.id) for row in self.sync.across(NOTES, **query)]
