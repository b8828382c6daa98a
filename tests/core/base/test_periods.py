"""Periods as statistics write them."""

from datetime import date

import pytest

from svc_core.base import periods


def test_a_week_that_ends_beyond_the_calendar_is_none() -> None:
    with pytest.raises(ValueError, match="out of range"):
        periods.period_of(date.max, "W")
