"""Two spellings of a time, one meaning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base import instants
from svc_core.base.instants import MILLIS_MAX, Interval
from svc_core.base.unset import UNSET
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.period import (
    ALL_TIMES,
    AreaFilter,
    Since,
    TimeFilter,
    Until,
    requested_interval,
)

MILLIS = st.integers(0, MILLIS_MAX)
START, END = 1_769_848_200_000, 1_769_934_600_000
A, B = instants.from_millis(START), instants.from_millis(END)


@pytest.mark.parametrize(
    ("datetime", "since", "until", "interval"),
    [
        (UNSET, UNSET, UNSET, ALL_TIMES),
        (Interval(A, B), UNSET, UNSET, Interval(A, B)),
        (UNSET, START, UNSET, Interval(A, None)),
        (UNSET, UNSET, END, Interval(None, B)),
        (UNSET, START, END, Interval(A, B)),
        (UNSET, START, START, Interval(A, A)),
        (UNSET, 0, UNSET, Interval(instants.from_millis(0), None)),
    ],
)
def test_both_spellings_mean_one_period(datetime, since, until, interval):
    assert requested_interval(datetime, since, until) == interval


@pytest.mark.parametrize(("since", "until"), [(START, UNSET), (UNSET, END), (START, END), (0, 0)])
def test_the_two_spellings_are_never_combined(since, until):
    for datetime in (Interval(A, None), Interval(None, B), Interval(A, A), ALL_TIMES):
        with pytest.raises(Problem) as failure:
            requested_interval(datetime, since, until)
        assert failure.value.type is problem.CONFLICTING_PARAMETERS


def test_a_period_that_ends_before_it_starts_is_refused():
    with pytest.raises(Problem, match="INVALID_PARAMETER") as failure:
        requested_interval(UNSET, END, START)
    assert failure.value.detail == "since: must not be later than until"


@pytest.mark.parametrize(
    ("input_", "text", "value"),
    [
        (Since, str(START), START),
        (Until, str(MILLIS_MAX), MILLIS_MAX),
        (
            TimeFilter,
            "2026-01-01T00:00:00Z/..",
            Interval(instants.parse("2026-01-01T00:00:00Z"), None),
        ),
    ],
)
def test_inputs_are_read_from_a_query(input_, text, value):
    assert wire.reader(input_)(text) == value


@pytest.mark.parametrize(
    ("input_", "text"),
    [
        *((Since, text) for text in ("", "-1", str(MILLIS_MAX + 1), "1.5", "1e3", "٥", "now")),
        *((TimeFilter, text) for text in ("", "..", "../..", "/..", "../", "2026-01-01")),
        *((AreaFilter, text) for text in ("", "10,5,20,1", "nan,0,1,1", "1,2,3,4,5,6")),
    ],
)
def test_what_is_no_time_or_area_is_refused(input_, text):
    with pytest.raises(ValueError, match=r"must|holds"):
        wire.reader(input_)(text)


@given(MILLIS, MILLIS)
def test_an_old_request_and_its_replacement_mean_the_same(first, second):
    since, until = sorted((first, second))
    start, end = (instants.render(instants.from_millis(millis)) for millis in (since, until))
    assert requested_interval(UNSET, since, until) == instants.parse_interval(f"{start}/{end}")
    assert requested_interval(UNSET, since, UNSET) == instants.parse_interval(f"{start}/..")
    assert requested_interval(UNSET, UNSET, until) == instants.parse_interval(f"../{end}")
