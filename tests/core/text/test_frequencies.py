"""How common a term is, in a store of any age."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import data
from svc_core.text.frequencies import Frequencies, background

ITEMS = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6), max_size=8)


def test_a_rare_term_tells_more_than_a_common_one_where_nothing_is_stored() -> None:
    young = Frequencies()
    assert young.idf("govern") < young.idf("minist") < young.idf("zepto")
    assert young.idf("regier") < young.idf("wahlka")  # in their own language
    assert young.idf("un") > 2  # an acronym where it is no stop word


def test_a_large_store_outweighs_the_background() -> None:
    common = Frequencies.of([("zepto",)] * 40_000 + [("other",)] * 40_000)
    assert common.idf("zepto") < 1 < Frequencies().idf("zepto")
    assert common.idf("minist") > Frequencies().idf("minist")


def test_counts_above_their_total_are_still_weighed() -> None:
    assert Frequencies(3, {"war": 10}, base=None).idf("war") > 0


@given(ITEMS, ITEMS)
def test_two_tables_are_the_table_of_all_their_items(
    left: list[list[str]], right: list[list[str]]
) -> None:
    union = Frequencies.of(left) + Frequencies.of(right)
    assert (union.total, union.counts) == (
        len(left) + len(right),
        Counter(term for item in left + right for term in set(item)),
    )
    assert union == Frequencies.of(left + right)


def test_the_background_is_of_as_many_items_as_it_says() -> None:
    table = background()
    assert table.base is None
    assert all(0 <= count <= table.total for count in table.counts.values())
    assert len(data.table_bytes("frequencies.tsv.z")) <= 400_000


def test_what_is_no_table_is_not_read() -> None:
    with pytest.raises(FileNotFoundError):
        data.table_bytes("nothing.tsv")


def test_an_acronym_is_telling_though_it_is_a_word_elsewhere() -> None:
    assert background().idf("un") > background().idf("people")
