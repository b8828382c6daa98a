from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.lockout import (
    ATTEMPTS_MAX,
    WINDOW,
    MemoryLockouts,
    check_lockout,
    is_locked,
    record_failure,
)
from svc_core.contract.problem import Problem

T0 = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
TICK = timedelta(microseconds=1)


def five(start=T0, step=SECOND):
    failures = ()
    for n in range(ATTEMPTS_MAX):
        failures = record_failure(failures, start + n * step)
    return failures


def seconds_left(failures, now):
    """What a locked address is told to wait."""
    with pytest.raises(Problem) as failure:
        check_lockout(failures, now)
    return int(failure.value.headers["Retry-After"])


def test_the_numbers_are_those_of_the_spec():
    assert ATTEMPTS_MAX == 5
    assert timedelta(minutes=15) == WINDOW


def test_the_fifth_failure_counts_and_the_sixth_request_is_refused():
    failures = ()
    for n in range(5):
        assert not is_locked(failures, T0 + n * SECOND)
        failures = record_failure(failures, T0 + n * SECOND)
    assert is_locked(failures, T0 + 5 * SECOND)
    assert record_failure(failures, T0 + 5 * SECOND) is failures


@pytest.mark.parametrize(
    ("age", "is_locked_now", "wait"),
    [
        (timedelta(0), True, 900),
        (TICK, True, 900),
        (SECOND, True, 899),
        (SECOND + TICK, True, 899),
        (WINDOW - SECOND, True, 1),
        (WINDOW - TICK, True, 1),
        (WINDOW, False, None),
        (WINDOW + TICK, False, None),
    ],
)
def test_the_lock_ends_when_the_fifth_newest_failure_is_fifteen_minutes_old(
    age, is_locked_now, wait
):
    failures = five(step=timedelta(0))
    assert is_locked(failures, T0 + age) is is_locked_now
    if is_locked_now:
        assert seconds_left(failures, T0 + age) == wait
    else:
        check_lockout(failures, T0 + age)


def test_when_the_oldest_falls_out_one_more_failure_locks_again():
    failures = five()
    free = T0 + WINDOW
    assert not is_locked(failures, free)
    again = record_failure(failures, free)
    assert is_locked(again, free)
    assert seconds_left(again, free) == 1


def brute_force(times, now):
    """Every failure that counted, newest first; the fifth newest decides."""
    newest = sorted(times, reverse=True)
    return len(newest) >= 5 and newest[4] > now - timedelta(seconds=900)


# Steps in microseconds, with the boundary of the window and a clock that is set back.
STEPS = st.one_of(
    st.sampled_from([0, 1, 900_000_000, 899_999_999, 900_000_001, -1, -3_600_000_000]),
    st.integers(-400_000_000, 400_000_000),
)


@given(st.lists(STEPS, max_size=40))
def test_any_history_agrees_with_the_brute_force_model(steps):
    now, failures, times = T0, (), []
    for step in steps:
        now += step * TICK
        is_locked_now = brute_force(times, now)
        assert is_locked(failures, now) is is_locked_now
        if is_locked_now:
            wait = seconds_left(failures, now)
            assert 1 <= wait <= 900
            # Where the clock was set back, nobody knows for how long it will stay so.
            is_behind = failures[0] > now
            assert brute_force(times, now + wait * SECOND) is is_behind
            assert brute_force(times, now + (wait - 1) * SECOND)
        else:
            times.append(now)
        failures = record_failure(failures, now)
        assert failures == tuple(sorted(times)[-5:])


@given(st.lists(st.tuples(st.sampled_from("abc"), STEPS), max_size=40))
def test_the_book_keeps_addresses_apart(history):
    book, alone, now = MemoryLockouts(), {"a": (), "b": (), "c": ()}, T0
    for address, step in history:
        now += step * TICK
        alone[address] = record_failure(alone[address], now)
        book.note(address, now)
        assert all(book.known(name) == alone[name] for name in alone)


@pytest.mark.parametrize("flood", ["account unknown_{}", "sign-in usr_1 192.0.2.{}", "192.0.2.{}"])
def test_a_flood_under_other_names_drops_no_failure_of_an_account(flood):
    book = MemoryLockouts(addresses_max=2)
    book.note("account usr_1", T0)
    for number in range(9):
        book.note(flood.format(number), T0)
    assert book.known("account usr_1") == (T0,)
    assert len(book) == 3


def test_the_least_recently_failing_address_is_forgotten_first():
    book = MemoryLockouts(addresses_max=2)
    for address in ("a", "b", "a", "c"):
        book.note(address, T0)
    assert len(book) == 2
    assert book.known("b") == ()
    assert book.known("a") == (T0, T0)
    assert book.known("c") == (T0,)
