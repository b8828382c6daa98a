"""Python names and wire names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("id", "id"),
        ("profile_id", "profileId"),
        ("schedule_time_of_day", "scheduleTimeOfDay"),
        ("report_generated_at_iso", "reportGeneratedAtISO"),
        ("iso_code", "isoCode"),
        ("from_", "from"),
        ("self_", "self"),
        ("sha256", "sha256"),
        ("x402_version", "x402Version"),
        ("stream_options", "stream_options"),
    ],
)
def test_wire_names_are_camel_case(name: str, expected: str) -> None:
    assert wire.camel(name) == expected


words = st.text("abcdefgh", min_size=1)


@given(st.lists(words, min_size=1), st.lists(words, min_size=1))
def test_different_names_are_spelled_differently(left: list[str], right: list[str]) -> None:
    is_same = wire.camel("_".join(left)) == wire.camel("_".join(right))
    assert is_same is (left == right)
