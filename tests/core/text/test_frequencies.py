"""How common a term is, in a store of any age."""

import pytest

from svc_core import data
from svc_core.text.frequencies import Frequencies, background


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
