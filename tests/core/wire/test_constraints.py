"""A value fails a constraint for a reason that a client can act on."""

import re
from typing import Annotated, Optional, get_args

import pytest
from annotated_types import Gt, Interval
from hypothesis import given
from hypothesis import strategies as st

from svc_core.wire.constraints import (
    Doc,
    Example,
    Ge,
    IdOf,
    Le,
    MaxLen,
    MinLen,
    Pattern,
    check_constraint,
)

ID = Pattern("rpt_[a-f0-9]{24}", "a report id")
CODE = Pattern("[A-Z]{2}")
WORD = Pattern(r"\w+|\d+")


@pytest.mark.parametrize(
    ("constraint", "value", "reason"),
    [
        (Ge(1), 1, None),
        (Ge(1), 0, "must be at least 1"),
        (Ge(0.5), 0.25, "must be at least 0.5"),
        (Ge(1), float("nan"), "must be at least 1"),
        (Le(1), float("nan"), "must be at most 1"),
        (Le(100), 100, None),
        (Le(100), 101, "must be at most 100"),
        (Le(1), float("inf"), "must be at most 1"),
        (MinLen(1), "a", None),
        (MinLen(1), "", "must have at least 1 character"),
        (MinLen(3), "é", "must have at least 3 characters"),
        (MinLen(1), (), "must have at least 1 item"),
        (MinLen(2), [1], "must have at least 2 items"),
        (MaxLen(2), "😀😀", None),
        (MaxLen(2), "abc", "must have at most 2 characters"),
        (MaxLen(1), {"a": 1, "b": 2}, "must have at most 1 member"),
        (MaxLen(0), {"a": 1}, "must have at most 0 members"),
        (ID, "rpt_" + 24 * "a", None),
        (ID, "rpt_" + 24 * "a" + "\n", "must be a report id"),
        (CODE, "GB", None),
        (CODE, "gb", "must match ^[A-Z]{2}$"),
        (WORD, "été", r"must match ^(?:\w+|\d+)$"),
        (WORD, "٥", r"must match ^(?:\w+|\d+)$"),
        (WORD, "ete", None),
    ],
)
def test_the_reason_names_the_bound(constraint, value, reason):
    assert check_constraint(constraint, value) == reason


@pytest.mark.parametrize(
    ("identifies", "good", "legacy", "refusal"),
    [
        (IdOf("rpt"), ["rpt"], True, "must be a report id"),
        (IdOf("evt"), ["evt"], False, "must be an event id"),
        (IdOf("obs", "clm", noun="record"), ["obs", "clm"], False, "must be a record id"),
        (IdOf("rpt", "inc", noun="source"), ["rpt", "inc"], False, "must be a source id"),
    ],
)
def test_an_identifier_is_of_its_kinds_and_old_where_its_kind_is(identifies, good, legacy, refusal):
    digits = 24 * "a"
    for prefix in good:
        assert check_constraint(identifies, f"{prefix}_{digits}") is None
        assert identifies.public(f"{prefix}_{digits}") == f"{prefix}_{digits}"
    for bad in (digits, f"prf_{digits}", f"{good[0]}_{digits}\n", f"{good[0]}_{'A' * 24}"):
        assert check_constraint(identifies, bad) == refusal
    assert check_constraint(identifies, identifies.example) is None
    assert identifies.takes_legacy is legacy
    assert identifies.public(digits) == (f"{good[0]}_{digits}" if legacy else digits)


@pytest.mark.parametrize("value", [None, True, False, "text", [], {}, object()])
@pytest.mark.parametrize("constraint", [Ge(5), Le(-5)])
def test_a_bound_speaks_only_about_numbers(constraint, value):
    assert check_constraint(constraint, value) is None


@pytest.mark.parametrize("value", [None, 5, 1.5, True])
@pytest.mark.parametrize("constraint", [MinLen(2), MaxLen(0), CODE])
def test_a_length_and_a_pattern_say_nothing_about_numbers(constraint, value):
    assert check_constraint(constraint, value) is None


def test_a_pattern_says_nothing_about_a_list():
    assert check_constraint(CODE, ["gb"]) is None


@pytest.mark.parametrize("metadata", [Doc("A name."), Example(["a"]), "a note", Ge])
@given(value=st.none() | st.integers() | st.text())
def test_words_and_examples_restrict_nothing(metadata, value):
    assert check_constraint(metadata, value) is None


@pytest.mark.parametrize("constraint", [Gt(1), Interval(ge=1, le=2)])
def test_a_bound_that_nobody_checks_is_a_fault_of_the_program(constraint):
    with pytest.raises(TypeError, match="is not checked"):
        check_constraint(constraint, 0)


@given(st.integers(-5, 5), st.integers(-5, 5))
def test_a_number_is_refused_exactly_outside_its_bounds(limit, value):
    assert (check_constraint(Ge(limit), value) is None) == (value >= limit)
    assert (check_constraint(Le(limit), value) is None) == (value <= limit)


@given(st.integers(0, 4), st.text(max_size=5) | st.lists(st.none(), max_size=5))
def test_a_length_is_refused_exactly_outside_its_bounds(limit, value):
    assert (check_constraint(MinLen(limit), value) is None) == (len(value) >= limit)
    assert (check_constraint(MaxLen(limit), value) is None) == (len(value) <= limit)


@given(st.from_regex(re.compile(r"[A-Z]{2}", re.ASCII), fullmatch=True), st.text(min_size=1))
def test_text_around_a_match_is_never_overlooked(code, suffix):
    assert CODE.matches(code)
    assert not CODE.matches(code + suffix)
    assert not CODE.matches(suffix + code)


def test_constraints_are_equal_by_what_they_say():
    assert Pattern("a", "b") == Pattern("a", "b") != Pattern("a", "c")
    assert Example([1]) == Example([1]) != Example([2])


def test_a_list_may_be_the_example_of_an_optional_field():
    example = Example(["a", {"b": None}])
    annotation, _ = get_args(Optional[Annotated[list[str], example]])  # noqa: UP045
    assert annotation.__metadata__ == (example,)
