"""What a report says of days, in the reader's language."""

from datetime import date

import pytest

from svc_core.text.wording import wording_of

SPANS = [
    (date(2026, 3, 2), date(2026, 3, 2), "2 March 2026"),
    (date(2026, 3, 2), date(2026, 3, 5), "2–5 March 2026"),
    (date(2026, 3, 30), date(2026, 4, 2), "30 March – 2 April 2026"),
    (date(2025, 12, 30), date(2026, 1, 2), "30 December 2025 – 2 January 2026"),
]


@pytest.mark.parametrize(("first", "last", "expected"), SPANS)
def test_what_two_days_share_is_said_once(first: date, last: date, expected: str) -> None:
    english = wording_of("en")
    assert english is not None
    assert english.span(first, last) == expected
