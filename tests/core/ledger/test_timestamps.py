"""Instants of the ledger have one text each; what cannot be kept exactly is refused by its code."""

import re
from datetime import UTC, datetime, timedelta, timezone
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.problem import Problem
from svc_core.ledger import timestamps
from svc_core.ledger.timestamps import canonical_time, check_interval, successor

INVALID, LEAP, PRECISION = "TIMESTAMP_INVALID", "TIMESTAMP_LEAP_SECOND", "TIMESTAMP_PRECISION"
OFFSETS = st.integers(-23 * 60 - 59, 23 * 60 + 59).map(lambda m: timezone(timedelta(minutes=m)))
INSTANTS = st.datetimes(
    datetime(1, 1, 3), datetime(9999, 12, 29), timezones=st.just(UTC)
)  # two days from the ends, so that every offset can write them
LAST = "9999-12-31T23:59:59.999999Z"


def refusal(call, *arguments):
    with pytest.raises(Problem) as failure:
        call(*arguments)
    return failure.value


def outcome(text):
    try:
        return canonical_time(text), None
    except Problem as problem:
        return None, problem.type.code


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.000000Z"),
        ("2024-01-01t00:00:00.5+01:00", "2023-12-31T23:00:00.500000Z"),
        ("2024-01-01T00:00:00.1234560000Z", "2024-01-01T00:00:00.123456Z"),
        ("2024-01-01T00:00:00.00000000000000000000000000000000Z", "2024-01-01T00:00:00.000000Z"),
        ("2024-01-01T00:00:00-00:00", "2024-01-01T00:00:00.000000Z"),
        ("2024-01-01T00:00:00z", "2024-01-01T00:00:00.000000Z"),
        ("2024-01-01T00:00:00.000001Z", "2024-01-01T00:00:00.000001Z"),
        ("2024-01-31T23:59:59.999999Z", "2024-01-31T23:59:59.999999Z"),
        ("2024-03-01T00:00:00+23:59", "2024-02-29T00:01:00.000000Z"),
        ("2024-02-28T23:59:59-23:59", "2024-02-29T23:58:59.000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("0001-01-01T01:00:00+01:00", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", LAST),
        ("9999-12-31T22:59:59.999999-01:00", LAST),
    ],
)
def test_what_rfc_3339_writes_has_one_text(text, canonical):
    assert canonical_time(text) == canonical
    assert canonical_time(canonical) == canonical


BAD_TEXTS = [
    ("2024-01-01T00:00:00.1234567Z", PRECISION),
    ("2024-01-01T00:00:00.00000000000000000000000000000001Z", PRECISION),
    ("2016-12-31T23:59:60Z", LEAP),
    ("2016-12-31T23:59:60.1234567Z", LEAP),
    ("2017-01-01T00:59:60+01:00", LEAP),
    ("2016-12-31T23:59:61Z", INVALID),
    ("2016-12-32T23:59:60Z", INVALID),
    ("2024-01-01 00:00:00Z", INVALID),
    ("2024-01-01T24:00:00Z", INVALID),
    ("2024-01-01T00:60:00Z", INVALID),
    ("2023-02-29T00:00:00Z", INVALID),
    ("2023-02-29T00:00:00.000000Z", INVALID),
    ("2023-02-30T00:00:00.000000Z", INVALID),
    ("2023-04-31T00:00:00.000000Z", INVALID),
    ("2023-13-01T00:00:00Z", INVALID),
    ("2023-00-01T00:00:00.000000Z", INVALID),
    ("2023-01-00T00:00:00.000000Z", INVALID),
    ("0000-01-01T00:00:00.000000Z", INVALID),
    ("0001-01-01T00:00:00+00:01", INVALID),
    ("9999-12-31T23:59:59-00:01", INVALID),
    ("2024-01-01T00:00:00", INVALID),
    ("2024-01-01T00:00:00+24:00", INVALID),
    ("2024-01-01T00:00:00+01:60", INVALID),
    ("2024-01-01T00:00:00+0100", INVALID),
    ("2024-01-01T00:00:00+01", INVALID),
    ("2024-01-01T00:00Z", INVALID),
    ("2024-01-01", INVALID),
    ("2024-W01-1", INVALID),
    ("20240101T000000Z", INVALID),
    ("2024-01-01T00:00:00,5Z", INVALID),
    ("2024-01-01T00:00:00.Z", INVALID),
    ("2024-01-01T00:00:00.000000Z\n", INVALID),
    (" 2024-01-01T00:00:00Z", INVALID),
    ("٢٠٢٤-01-01T00:00:00Z", INVALID),
    ("2024-01-01T00:00:0\u0665Z", INVALID),
    ("-2024-01-01T00:00:00Z", INVALID),
    ("2024-01-01T00:00:00." + "0" * 33 + "Z", INVALID),
    ("", INVALID),
]


@pytest.mark.parametrize(("text", "code"), BAD_TEXTS)
def test_what_cannot_be_sealed_exactly_is_refused_by_its_code(text, code):
    problem = refusal(canonical_time, text, "/validFrom")
    assert problem.type.code == code
    assert problem.detail.startswith("/validFrom: ")


@given(INSTANTS, st.sampled_from("tT"), st.sampled_from("zZ"), st.integers(0, 20))
def test_a_canonical_text_is_itself_and_no_spelling_matters(instant, t, z, zeros):
    canonical = timestamps.utc_text(instant)
    assert len(canonical) == 27
    assert canonical_time(canonical) == canonical
    assert canonical_time(canonical[:10] + t + canonical[11:-1] + "0" * zeros + z) == canonical


@given(st.text(st.sampled_from("0123456789-+:.TtZz W"), max_size=40) | st.text(max_size=40))
def test_nothing_but_the_three_codes_is_ever_raised(text):
    canonical, code = outcome(text)
    assert code in {None, INVALID, LEAP, PRECISION}
    if canonical is not None:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", canonical, re.ASCII)


@given(INSTANTS)
def test_a_successor_is_one_microsecond_later(instant):
    after = timestamps.utc_text(instant + timedelta(microseconds=1))
    assert successor(timestamps.utc_text(instant)) == after


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("2024-02-28T23:59:59.999999Z", "2024-02-29T00:00:00.000000Z"),
        ("2023-12-31T23:59:59.999999Z", "2024-01-01T00:00:00.000000Z"),
        ("0001-01-01T00:00:00.000009Z", "0001-01-01T00:00:00.000010Z"),
    ],
)
def test_a_successor_carries_into_seconds_and_years(text, after):
    assert successor(text) == after


def test_every_day_of_the_calendar_and_no_other_is_taken():
    for year, month, day in product((2023, 2024), range(14), range(33)):
        text = f"{year}-{month:02}-{day:02}T00:00:00.000000Z"
        try:
            expected = timestamps.utc_text(datetime(year, month, day, tzinfo=UTC))
        except ValueError:
            expected = None
        assert outcome(text)[0] == expected


def test_time_ends():
    code = refusal(successor, LAST)
    assert (code.type.code, code.detail) == (
        INVALID,
        "timestamp: has no successor: time ends with the year 9999",
    )


A, B = "2024-01-01T00:00:00.000000Z", "2024-01-01T00:00:00.000001Z"


@pytest.mark.parametrize(("start", "end"), [(None, None), (A, None), (None, A), (A, B)])
def test_intervals_that_hold_an_instant_pass(start, end):
    check_interval(start, end)


@pytest.mark.parametrize(("start", "end"), [(A, A), (B, A)])
def test_empty_intervals_are_refused(start, end):
    problem = refusal(check_interval, start, end, "/3/validTo")
    assert problem.type.code == "INTERVAL_EMPTY"
    assert problem.detail == "/3/validTo: must be later than validFrom"
    assert refusal(check_interval, start, end).detail == "/validTo: must be later than validFrom"
