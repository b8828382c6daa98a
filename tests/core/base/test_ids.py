"""Public identifiers are opaque, sortable by age or derived, and legacy ones are still read."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import ids

PREFIX = st.sampled_from(sorted(ids.PREFIXES))
SECONDS = st.integers(0, ids.SECONDS_MAX)
RANDOM = st.binary(min_size=8, max_size=8)
PARTS = st.text(st.characters(categories=None), max_size=8)
HEX24 = "0123456789abcdef01234567"


SERVICE = """
    rpt prf sub whk obs inc ent mkt fin plc rel sig src
    wsp usr key rcp evt att prj aut run thr req chg rct led sbj dsg clm
"""


@pytest.mark.parametrize("prefix", SERVICE.split())
def test_every_prefix_of_the_service_is_known(prefix):
    assert ids.is_id(prefix, ids.new_id(prefix, 0, bytes(8)))


def test_prefixes_and_their_nouns_are_each_used_once():
    assert all(re.fullmatch("[a-z]{3}", prefix) for prefix in ids.PREFIXES)
    assert len(set(ids.PREFIXES.values())) == len(ids.PREFIXES)


@pytest.mark.parametrize(
    ("id_", "expected"),
    [
        (lambda: ids.new_id("rpt", 0, bytes(8)), "rpt_" + 24 * "0"),
        (lambda: ids.new_id("prf", 2**32 - 1, b"\xff" * 8), "prf_" + 24 * "f"),
        (lambda: ids.new_id("whk", 1, bytes(range(8))), "whk_000000010001020304050607"),
        # First 24 digits of: printf '4:news3:rss1:a' | sha256sum
        (lambda: ids.derived_id("obs", "news", "rss", "a"), "obs_5324293a932331f26a740074"),
    ],
)
def test_ids_are_made_as_they_always_were(id_, expected):
    assert id_() == expected


@given(PREFIX, SECONDS, RANDOM)
def test_a_new_id_has_the_public_form(prefix, seconds, random8):
    id_ = ids.new_id(prefix, seconds, random8)
    assert re.fullmatch(prefix + "_[0-9a-f]{24}", id_)
    assert ids.is_id(prefix, id_)


@given(PREFIX, st.tuples(SECONDS, RANDOM), st.tuples(SECONDS, RANDOM))
def test_ids_sort_by_age(prefix, left, right):
    assert (ids.new_id(prefix, *left) < ids.new_id(prefix, *right)) == (left < right)


@given(PREFIX, PARTS, PARTS, PARTS)
def test_a_derived_id_is_always_the_same(prefix, kind, provider, key):
    id_ = ids.derived_id(prefix, kind, provider, key)
    assert id_ == ids.derived_id(prefix, kind, provider, key)
    assert ids.is_id(prefix, id_)


@given(st.tuples(PARTS, PARTS, PARTS), st.tuples(PARTS, PARTS, PARTS))
def test_different_sources_have_different_ids(left, right):
    assert (ids.derived_id("obs", *left) == ids.derived_id("obs", *right)) == (left == right)


@given(PARTS, PARTS)
def test_where_one_part_ends_matters(left, right):
    ways = {("", left + right, ""), (left, right, ""), ("", left, right), (left, "", right)}
    assert len({ids.derived_id("obs", *parts) for parts in ways}) == len(ways)


@pytest.mark.parametrize(
    "make",
    [
        lambda: ids.new_id("rpt", -1, bytes(8)),
        lambda: ids.new_id("rpt", 2**32, bytes(8)),
        lambda: ids.new_id("rpt", 0, bytes(7)),
        lambda: ids.new_id("rpt", 0, bytes(9)),
        lambda: ids.new_id("zzz", 0, bytes(8)),
        lambda: ids.new_id("rpt_", 0, bytes(8)),
        lambda: ids.derived_id("zzz", "kind", "provider", "key"),
    ],
)
def test_nothing_else_becomes_an_id(make):
    with pytest.raises(ids.IdError, match=r"id"):
        make()


NOT_IDS = [
    "",
    "rpt_",
    HEX24,
    "rpt_" + HEX24 + "\n",
    "\nrpt_" + HEX24,
    "rpt_" + HEX24[:-1],
    "rpt_" + HEX24 + "0",
    "rpt_" + HEX24.upper(),
    "RPT_" + HEX24,
    "prf_" + HEX24,
    "rpt-" + HEX24,
    "rpt_" + HEX24[:-1] + "١",
    "rpt_" + HEX24[:-1] + "g",
]


@pytest.mark.parametrize("text", NOT_IDS)
def test_only_the_whole_ascii_form_is_an_id(text):
    assert not ids.is_id("rpt", text)


@pytest.mark.parametrize(
    "text", [HEX24 + "\n", " " + HEX24, HEX24.upper(), HEX24 + "0", "", "١" * 24]
)
def test_only_24_hex_digits_are_a_legacy_id(text):
    assert not ids.is_legacy(text)
    assert ids.public_id("rpt", text) is None


@pytest.mark.parametrize("prefix", sorted(ids.LEGACY_PREFIXES))
def test_a_legacy_id_has_a_public_form(prefix):
    public = f"{prefix}_{HEX24}"
    assert ids.public_id(prefix, HEX24) == public
    assert ids.public_id(prefix, public) is None


@pytest.mark.parametrize("prefix", sorted(set(ids.PREFIXES) - ids.LEGACY_PREFIXES))
def test_kinds_that_had_no_legacy_id_have_none_now(prefix):
    assert ids.public_id(prefix, HEX24) is None
