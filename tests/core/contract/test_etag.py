"""A tag is strong, tells nothing, and matches only what RFC 9110 lets it match."""

import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract import etag

A, B = etag.entity_tag("tenant", "a", 1), etag.entity_tag("tenant", "b", 1)
PARTS = st.lists(st.text(max_size=3) | st.integers() | st.binary(max_size=3), max_size=4)
TAGS = PARTS.map(lambda parts: etag.entity_tag(*parts))


def kinds(parts):
    return [(type(part), part) for part in parts]


@given(PARTS)
def test_a_tag_is_strong_and_quoted(parts):
    assert re.fullmatch(r'"[A-Za-z0-9_-]{22,}"', etag.entity_tag(*parts))


@given(PARTS, PARTS)
def test_tags_are_equal_exactly_where_their_parts_are(left, right):
    assert (etag.entity_tag(*left) == etag.entity_tag(*right)) == (kinds(left) == kinds(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [(("a", "b"), ("ab",)), (("1",), (1,)), ((b"a",), ("a",)), ((), ("",)), (("s1:a",), ("a",))],
)
def test_where_a_part_ends_and_what_it_is_matters(left, right):
    assert etag.entity_tag(*left) != etag.entity_tag(*right)


def test_a_tag_stays_the_same_from_release_to_release():
    # First 18 bytes of: printf 's1:ai2:12' | sha256sum
    assert etag.entity_tag("a", 12) == '"GY5ud0-7atPJ9aZl35juQwD5"'


@pytest.mark.parametrize(
    ("field", "current", "holds"),
    [
        (A, A, True),
        (f"  {A}\t", A, True),
        (f"{B}, {A}", A, True),
        (f"{B},{A},", A, True),
        (f", ,{A}", A, True),
        (f'"x,y", {A}', A, True),
        ('"x,y"', '"x,y"', True),
        ('""', '""', True),
        ('"\xe9"', '"\xe9"', True),
        ("*", A, True),
        (" * ", A, True),
        (B, A, False),
        (f"W/{A}", A, False),
        (f"W/{A}, {A}", A, True),
        ("*", None, False),
        (A, None, False),
        ("", A, False),
        (",", A, False),
        ("", None, False),
        (A.strip('"'), A, False),
        (A[:-1], A, False),
        (f"{A} {B}", A, False),
        (f"{A}, nonsense", A, False),
        (f"nonsense, {A}", A, False),
        (f"*, {A}", A, False),
        (f"{A}, *", A, False),
        (f"w/{A}", A, False),
        (f"W/ {A}", A, False),
        (f"{A}\n", A, False),
        (f'"a b", {A}', A, False),
        (f"'{A}'", A, False),
    ],
)
def test_if_match_compares_strongly(field, current, holds):
    assert etag.matches(field, current) is holds


@pytest.mark.parametrize(
    ("field", "current", "holds"),
    [
        (A, A, False),
        (f"W/{A}", A, False),
        (f"{B}, W/{A}", A, False),
        ("*", A, False),
        ("*", None, True),
        (B, A, True),
        (A, None, True),
        ("", A, True),
        ("nonsense", A, True),
        (f"{A}, nonsense", A, True),
    ],
)
def test_if_none_match_compares_weakly(field, current, holds):
    assert etag.none_match(field, current) is holds


@given(st.lists(TAGS, max_size=4), TAGS)
def test_a_list_matches_exactly_its_members(tags, current):
    assert etag.matches(", ".join(tags), current) == (current in tags)
    assert etag.none_match(",".join(f"W/{tag}" for tag in tags), current) == (current not in tags)


@given(TAGS, st.text(st.characters(exclude_characters='"'), min_size=1))
def test_a_tag_with_anything_around_it_is_another_tag(current, suffix):
    inner = current.strip('"')
    assert not etag.matches(f'"{inner}{suffix}"', current)
    assert not etag.matches(f'"{suffix}{inner}"', current)


@pytest.mark.parametrize(
    "near_miss", ['"' * 50_000, "W/" * 25_000, " " * 50_000 + "x", '"a",' * 9_999 + "x"]
)
def test_a_long_field_is_read_in_linear_time(near_miss):
    # Half a second of processor time is a hundred times what is needed; quadratic time is more.
    start = process_time()
    assert not etag.matches(near_miss, A)
    assert process_time() - start < 0.5
