# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Promises about search: whole tokens, any of which is enough."""

from typing import Any

from svc_core.operation.ports import GeoBox, Position
from svc_core.testing.promises.bench import ANN, StoreTest
from svc_core.testing.sample import NOTES


class SearchPromises(StoreTest):
    """Promises about search: whole tokens, any of which is enough."""

    def test_a_row_is_found_by_each_of_its_tokens_and_by_no_part_of_one(self) -> None:
        self.note("a", text="flood warning köln 大雨 cve-2024-1 o'neil")
        self.note("b", text="flood")
        assert self.search_ids("flood") == {"a", "b"}
        for token in ("warning", "köln", "大雨", "cve-2024-1", "o'neil"):
            assert self.search_ids(token) == {"a"}
        for part in ("floo", "koln", "大", "cve", "2024", "neil", "warning flood", ""):
            assert self.search_ids(part) == set(), part

    def test_any_of_the_terms_is_enough_and_each_row_comes_once(self) -> None:
        self.note("a", text="one two two")
        self.note("b", text="two three")
        self.note("c", text="four")
        assert self.search_ids("one", "three", "absent") == {"a", "b"}
        assert len(self.sync.search(ANN, NOTES, {"one": 1, "two": 1}).rows) == 2
        assert self.search_ids() == set()

    def test_query_syntax_in_a_term_is_only_text(self) -> None:
        self.note("a", text="and or not near")
        for term in (
            '"',
            "and*",
            "(a",
            "a)",
            "tokens:and",
            "-and",
            "^and",
            "and OR zzz",
            "''",
            "*",
        ):
            assert self.search_ids(term) == set(), term
        assert self.search_ids("or") == {"a"}

    def test_more_of_the_terms_come_first_then_what_a_list_has_first(self) -> None:
        for number in range(4):
            self.note(f"n{number}", number, text="common filler")
        self.note("best", text="common common rare words")
        terms = {"common": 1, "rare": 1}

        def come_late(turn: int) -> None:
            self.note(f"late{turn}", 9, text="common rare")  # ahead of every position

        assert self._rank(terms) == ["best", "n3", "n2", "n1", "n0"]
        for limit in (1, 2, 4, 5):
            ids = self._walk(limit, terms=terms, between=come_late)
            assert [id_ for id_ in ids if not id_.startswith("late")] == self._rank(terms, end=8)
            assert len(set(ids)) == len(ids)
            for number in range(6):
                self.sync.delete(ANN, NOTES, f"late{number}")

    def test_filters_hold_for_a_search_too(self) -> None:
        for number in range(6):
            self.note(
                f"n{number}",
                number,
                text="word other" if number % 2 else "word",
                status="open" if number > 2 else "done",
                topics=("t",),
                weight=number,
                longitude=float(number),
            )
        for query, ids in (
            ({"where": {"status": ("open",)}}, ["n5", "n4", "n3"]),
            ({"where": {"status": ("open",), "topic": ("t",)}}, ["n5", "n4", "n3"]),
            ({"where": {"status": ()}}, []),
            ({"ranges": {"weight": (1, 2)}}, ["n2", "n1"]),
            ({"box": GeoBox(0, 0, 1, 1)}, ["n1", "n0"]),
            ({"words": ("other",)}, ["n5", "n3", "n1"]),
        ):
            assert self._rank({"word": 1}, **query) == ids, query

    def test_terms_that_weigh_most_come_first_however_many_they_are(self) -> None:
        for id_, text in (("a", "one two three"), ("b", "four"), ("c", "four one"), ("d", "two")):
            self.note(id_, 3, text=text)
        terms = {"one": 2, "two": 3, "three": 1, "four": 1_000_000_000, "five": 7}
        assert self._rank(terms) == ["c", "b", "a", "d"]
        for start in (None, 2):
            second = self.sync.search(ANN, NOTES, terms, start=start, limit=1).end
            assert second == Position(3, "c", 1_000_000_002)
            assert self._rank(terms, start=start, after=second) == ["b", "a", "d"]
        assert self._rank(terms, start=4) == []

    def _rank(self, terms: dict[str, int], **query: Any) -> list[str]:
        return [row.id for row in self.sync.search(ANN, NOTES, terms, **query).rows]

    def test_changed_words_are_found_and_old_ones_are_not(self) -> None:
        self.note("a", text="before")
        self.note("a", text="after")
        assert self.search_ids("before") == set()
        assert self.search_ids("after") == {"a"}
        self.note("a", text="")
        assert self.search_ids("after") == set()

    def test_bounds_hold_for_a_search_too(self) -> None:
        for number in range(4):
            self.note(f"n{number}", number, text="word")
        assert self.search_ids("word", start=1, end=2) == {"n1", "n2"}
        assert self.search_ids("word", start=3) == {"n3"}
        assert self.search_ids("word", end=0) == {"n0"}
