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
    ("text", "instant"),
    [
        ("2026-01-31T08:30:00Z", utc(2026, 1, 31, 8, 30)),
        ("2026-01-31t08:30:00z", utc(2026, 1, 31, 8, 30)),
        ("2026-01-31T08:30:00+00:00", utc(2026, 1, 31, 8, 30)),
        ("2026-01-31T08:30:00-00:00", utc(2026, 1, 31, 8, 30)),
        ("2026-01-31T08:30:00+05:30", utc(2026, 1, 31, 3, 0)),
        ("2026-01-31T08:30:00-23:59", utc(2026, 2, 1, 8, 29)),
        ("2026-01-31T08:30:00.5Z", utc(2026, 1, 31, 8, 30, 0, 500_000)),
        ("2026-01-31T08:30:00.000001Z", utc(2026, 1, 31, 8, 30, 0, 1)),
        ("2026-01-31T08:30:00.123456999Z", utc(2026, 1, 31, 8, 30, 0, 123_456)),
        ("2024-02-29T00:00:00Z", utc(2024, 2, 29)),
        ("0001-01-01T00:00:00Z", utc(1, 1, 1)),
        ("9999-12-31T23:59:59.999999Z", utc(9999, 12, 31, 23, 59, 59, 999_999)),
        ("0001-01-01T01:00:00+01:00", utc(1, 1, 1)),
        ("2016-12-31T23:59:60Z", utc(2016, 12, 31, 23, 59, 59, 999_999)),
        ("2015-06-30T23:59:60.5Z", utc(2015, 6, 30, 23, 59, 59, 999_999)),
        ("2017-01-01T00:59:60+01:00", utc(2016, 12, 31, 23, 59, 59, 999_999)),
        ("2024-02-29T23:59:60Z", utc(2024, 2, 29, 23, 59, 59, 999_999)),
        ("9999-12-31T23:59:60Z", utc(9999, 12, 31, 23, 59, 59, 999_999)),
    ],
)
def test_what_rfc_3339_allows_is_read(text, instant):
    read = instants.parse(text)
    assert read == instant
    assert read.tzinfo is UTC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-31",
        "2026-01-31T08:30:00",
        "2026-01-31T08:30Z",
        "2026-01-31 08:30:00Z",
        "2026-01-31T08:30:00 Z",
        " 2026-01-31T08:30:00Z",
        "2026-01-31T08:30:00Z\n",
        "2026-01-31T08:30:00,5Z",
        "2026-01-31T08:30:00.Z",
        "2026-01-31T08:30:00.1234567890Z",
        "2026-01-31T08:30:00+0530",
        "2026-01-31T08:30:00+05",
        "2026-01-31T08:30:00+05:30:00",
        "2026-01-31T08:30:00−05:30",
        "20260131T083000Z",
        "2026-W05-6T08:30:00Z",
        "2026-031T08:30:00Z",
        "+2026-01-31T08:30:00Z",
        "２０２６-01-31T08:30:00Z",
        "2026-01-31T08:30:0٥Z",
        "now",
    ],
)
def test_other_spellings_are_refused(text):
    with pytest.raises(InstantError, match="Not an RFC 3339 date-time"):
        instants.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "0000-01-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+00:60",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
    ],
)
def test_times_that_do_not_exist_are_refused(text):
    with pytest.raises(InstantError, match="does not exist"):
        instants.parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "2016-12-30T23:59:60Z",
        "2016-12-31T23:58:60Z",
        "2016-12-31T22:59:60Z",
        "2016-12-31T23:59:60+01:00",
        "2023-02-27T23:59:60Z",
        "2016-12-31T23:59:61Z",
        "2016-12-31T12:00:99Z",
    ],
)
def test_second_60_exists_only_where_utc_puts_it(text):
    with pytest.raises(InstantError, match="Seconds run to 59"):
        instants.parse(text)


@pytest.mark.parametrize(
    "text", ["2026-01-31T08:30:00 05:30", "2026-01-31T08:30:00.123456789 05:30"]
)
def test_a_plus_that_a_query_lost_is_explained(text):
    with pytest.raises(InstantError, match="percent-encode"):
        instants.parse(text)


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


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        (EARLY, Interval(utc(2026, 1, 1), utc(2026, 1, 1))),
        (f"{EARLY}/{LATE}", Interval(utc(2026, 1, 1), utc(2026, 1, 2))),
        (f"{EARLY}/{EARLY}", Interval(utc(2026, 1, 1), utc(2026, 1, 1))),
        (f"../{LATE}", Interval(None, utc(2026, 1, 2))),
        (f"{EARLY}/..", Interval(utc(2026, 1, 1), None)),
    ],
)
def test_intervals_are_read(text, interval):
    assert instants.parse_interval(text) == interval


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "RFC 3339"),
        ("..", "RFC 3339"),
        ("/", "RFC 3339"),
        (f"{EARLY}/", "RFC 3339"),
        (f"/{LATE}", "RFC 3339"),
        (f"{EARLY}/...", "RFC 3339"),
        (f"{EARLY} / {LATE}", "RFC 3339"),
        ("../..", "open on one side at most"),
        (f"{EARLY}/{LATE}/..", "two sides"),
        (f"{LATE}/{EARLY}", "ends before it starts"),
        ("2026-01-01T00:00:00 01:00/..", "percent-encode"),
    ],
)
def test_other_intervals_are_refused(text, reason):
    with pytest.raises(InstantError, match=reason):
        instants.parse_interval(text)


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
