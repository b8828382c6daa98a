"""Instants are read as RFC 3339 allows, and written in one form."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import instants
from svc_core.base.instants import InstantError, Interval

INSTANTS = st.datetimes(timezones=st.just(UTC))
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: timezone(timedelta(minutes=m)))
MICROSECOND = timedelta(microseconds=1)


def utc(*parts):
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (utc(2026, 1, 31, 8, 30), "2026-01-31T08:30:00Z"),
        (utc(2026, 1, 31, 8, 30, 5, 1), "2026-01-31T08:30:05.000001Z"),
        (utc(2026, 1, 31, 8, 30, 5, 500_000), "2026-01-31T08:30:05.500000Z"),
        (utc(1, 1, 1), "0001-01-01T00:00:00Z"),
        (datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Paris")), "2026-07-01T10:00:00Z"),
    ],
)
def test_every_answer_writes_instants_alike(instant, text):
    assert instants.render(instant) == text


@pytest.mark.parametrize(
    "instant",
    [
        datetime(2026, 1, 1),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=1))),
    ],
)
def test_an_instant_without_a_place_in_utc_is_not_written(instant):
    with pytest.raises(InstantError):
        instants.render(instant)


@given(INSTANTS)
def test_what_is_written_is_read_back(instant):
    assert instants.parse(instants.render(instant)) == instant


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), OFFSETS)
def test_the_offset_changes_the_text_and_not_the_instant(local, offset):
    instant = local.replace(tzinfo=offset)
    assert instants.parse(instant.isoformat()) == instant
    assert instants.parse(instants.render(instant)) == instant


@given(
    INSTANTS.map(lambda i: i.replace(microsecond=0)),
    INSTANTS.map(lambda i: i.replace(microsecond=0)),
)
def test_whole_seconds_sort_as_text(left, right):
    assert (instants.render(left) < instants.render(right)) == (left < right)


@given(st.text() | st.from_regex(r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}[Z+ ./]?.*"))
def test_a_text_is_read_or_refused_and_nothing_else(text):
    for read in (instants.parse, instants.parse_interval):
        with suppress(InstantError):
            read(text)


EARLY, LATE = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"


@given(INSTANTS, INSTANTS, INSTANTS)
def test_an_interval_holds_its_bounds_and_what_lies_between(left, right, instant):
    start, end = sorted([left, right])
    interval = instants.parse_interval(f"{instants.render(start)}/{instants.render(end)}")
    assert interval.contains(start)
    assert interval.contains(end)
    assert interval.contains(instant) == (start <= instant <= end)
    assert Interval(None, end).contains(instant) == (instant <= end)
    assert Interval(start, None).contains(instant) == (start <= instant)


@pytest.mark.parametrize(
    ("millis", "instant"),
    [
        (0, utc(1970, 1, 1)),
        (1, utc(1970, 1, 1, 0, 0, 0, 1_000)),
        (-1, utc(1969, 12, 31, 23, 59, 59, 999_000)),
        (1_769_848_200_123, utc(2026, 1, 31, 8, 30, 0, 123_000)),
        (instants.MILLIS_MAX, utc(9999, 12, 31, 23, 59, 59, 999_000)),
    ],
)
def test_milliseconds_are_counted_exactly_from_1970(millis, instant):
    assert instants.from_millis(millis) == instant


@pytest.mark.parametrize("millis", [instants.MILLIS_MAX + 1, -(10**15), 10**30])
def test_milliseconds_beyond_the_calendar_are_refused(millis):
    with pytest.raises(InstantError, match="years 0001 to 9999"):
        instants.from_millis(millis)


@given(INSTANTS)
def test_an_instant_comes_back_from_its_milliseconds(instant):
    millis = (instant - utc(1970, 1, 1)) // timedelta(milliseconds=1)
    assert timedelta(0) <= instant - instants.from_millis(millis) < timedelta(milliseconds=1)
