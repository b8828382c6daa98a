# ruff: noqa: D102, S101 - a promise is its name and its assertions
"""Whole tokens, any of them."""

from svc_core.testing.promises.bench import ANN, Bench
from svc_core.testing.sample import NOTES


class SearchPromises(Bench):
    """Whole tokens, any of them."""

    def test_a_row_is_found_by_each_of_its_tokens_and_by_no_part_of_one(self) -> None:
        self.note("a", text="flood warning köln 大雨 cve-2024-1 o'neil")
        self.note("b", text="flood")
        assert self.found("flood") == {"a", "b"}
        for token in ("warning", "köln", "大雨", "cve-2024-1", "o'neil"):
            assert self.found(token) == {"a"}
        for part in ("floo", "koln", "大", "cve", "2024", "neil", "warning flood", ""):
            assert self.found(part) == set(), part

    def test_any_of_the_terms_is_enough_and_each_row_comes_once(self) -> None:
        self.note("a", text="one two two")
        self.note("b", text="two three")
        self.note("c", text="four")
        assert self.found("one", "three", "absent") == {"a", "b"}
        assert len(self.sync.search(ANN, NOTES, ("one", "two", "two"))) == 2
        assert self.found() == set()

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
            assert self.found(term) == set(), term
        assert self.found("or") == {"a"}

    def test_a_better_match_comes_first(self) -> None:
        for number in range(8):
            self.note(f"n{number}", text=f"common filler{number} words")
        self.note("best", text="common rare words")
        rows = self.sync.search(ANN, NOTES, ("common", "rare"), limit=3)
        assert rows[0].id == "best"
        assert len(rows) == 3

    def test_changed_words_are_found_and_old_ones_are_not(self) -> None:
        self.note("a", text="before")
        self.note("a", text="after")
        assert self.found("before") == set()
        assert self.found("after") == {"a"}
        self.note("a", text="")
        assert self.found("after") == set()

    def test_bounds_hold_for_a_search_too(self) -> None:
        for number in range(4):
            self.note(f"n{number}", number, text="word")
        assert self.found("word", start=1, end=2) == {"n1", "n2"}
        assert self.found("word", start=3) == {"n3"}
        assert self.found("word", end=0) == {"n0"}
