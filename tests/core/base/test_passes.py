"""Passes: leave to read one file for a while, and nothing else."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qsl

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import passes
from svc_core.base.passes import LIFETIME_SECONDS_MIN, STEP_SECONDS, Pass, PassError
from svc_core.base.seals import Keyring

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
RING = Keyring({1: b"k" * 32}, 1)
NAME = "a" * 64 + ".mp3"
moments = st.datetimes(
    datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)
)  # fmt: skip


def opens(permit: Pass, name: str = NAME, now: datetime = NOW, ring: Keyring = RING) -> bool:
    try:
        passes.verify_pass(ring, permit, name, now)
    except PassError:
        return False
    return True


@given(moments, st.text("0123456789abcdef.mp", min_size=1, max_size=70))
def test_a_pass_opens_its_file_for_an_hour_at_least_and_then_no_more(
    now: datetime, name: str
) -> None:
    permit = passes.issue(RING, name, now)
    assert opens(permit, name, now)
    assert opens(permit, name, now + timedelta(seconds=LIFETIME_SECONDS_MIN))
    end = datetime.fromtimestamp(permit.expires, UTC)
    assert end - now <= timedelta(seconds=LIFETIME_SECONDS_MIN + STEP_SECONDS)
    assert opens(permit, name, end - timedelta(microseconds=1))
    assert not opens(permit, name, end)


@given(moments)
def test_passes_given_in_one_step_are_one(now: datetime) -> None:
    begin = datetime.fromtimestamp(int(now.timestamp()) // STEP_SECONDS * STEP_SECONDS, UTC)
    assert passes.issue(RING, NAME, begin) == passes.issue(RING, NAME, now)


def test_a_pass_travels_in_a_query_and_comes_back_as_it_was() -> None:
    permit = passes.issue(RING, NAME, NOW)
    assert passes.parse_pass(dict(parse_qsl(permit.query))) == permit


GOOD = passes.issue(RING, NAME, NOW)
SPOILT = {
    "another file": (GOOD, "b" * 64 + ".mp3", RING),
    "a later end": (attrs.evolve(GOOD, expires=GOOD.expires + 1), NAME, RING),
    "an earlier end": (attrs.evolve(GOOD, expires=GOOD.expires - 1), NAME, RING),
    "another mark": (attrs.evolve(GOOD, signature=GOOD.signature[:-1]), NAME, RING),
    "no mark": (attrs.evolve(GOOD, signature=""), NAME, RING),
    "another service": (GOOD, NAME, Keyring({1: b"o" * 32}, 1)),
    "a key that is gone": (GOOD, NAME, Keyring({2: b"k" * 32}, 2)),
    "the key of nobody": (passes.Pass(GOOD.expires, 9, GOOD.signature), NAME, RING),
}


@pytest.mark.parametrize("case", SPOILT)
def test_what_was_changed_opens_nothing(case: str) -> None:
    permit, name, ring = SPOILT[case]
    assert opens(GOOD)
    assert not opens(permit, name, ring=ring)


def test_a_pass_of_an_unlisted_key_cannot_be_made_by_others() -> None:
    """The key that stands in where there is none is no key."""
    forgery = passes.issue(Keyring({7: bytes(32)}, 7), NAME, NOW)
    assert not opens(forgery)


def test_passes_under_an_earlier_key_open_while_it_is_listed() -> None:
    after = Keyring({1: b"k" * 32, 2: b"n" * 32}, 2)
    assert opens(GOOD, ring=after)
    assert passes.issue(after, NAME, NOW) != GOOD


def test_the_key_is_of_this_use_alone() -> None:
    """The same master key seals cursors under another key."""
    assert passes._key(b"k" * 32) != b"k" * 32


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"expires": "x", "key": "1", "pass": "a"},
        {"expires": "-1", "key": "1", "pass": "a"},
        {"expires": "٣", "key": "1", "pass": "a"},
        {"expires": "1", "key": "256", "pass": "a"},
        {"expires": "1" * 13, "key": "1", "pass": "a"},
        {"expires": "1", "key": "1", "pass": "ä"},
    ],
)
def test_what_is_no_pass_is_refused(values: dict[str, str]) -> None:
    with pytest.raises(PassError):
        passes.parse_pass(values)
