"""The texts of parameters are read in the one spelling that the documents show."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base.instants import Interval
from svc_core.base.unset import UNSET, Maybe
from svc_core.wire.constraints import Doc, Ge, Le, MaxLen, Pattern

AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)
Limit = Annotated[int, Ge(1), Le(100), Doc("Rows.")]
Topics = Annotated[tuple[Annotated[str, MaxLen(3)], ...], MaxLen(2)]
STAMP = "must be an RFC 3339 timestamp with an offset, such as 2026-01-31T09:30:00Z"
INTERVAL = "must be an instant or an interval of two, such as ../2026-01-31T00:00:00Z"


@pytest.mark.parametrize(
    ("annotation", "text", "value"),
    [
        (str, "", ""),
        (str, "a,b", "a,b"),
        (int, "0", 0),
        (int, "-12", -12),
        (int, "007", 7),
        (Limit, "100", 100),
        (Maybe[Limit], "1", 1),
        (Annotated[Maybe[int], Le(5)], "5", 5),
        (float, "1", 1.0),
        (float, "-1.50", -1.5),
        (float, "7e-05", 0.00007),  # as clients write the numbers of rows
        (bool, "true", True),
        (bool, "false", False),
        (Literal["agent"], "agent", "agent"),
        (datetime, "2026-01-31T10:30:00+01:00", AT),
        (date, "2026-01-31", date(2026, 1, 31)),
        (Interval, "../2026-01-31T09:30:00Z", Interval(None, AT)),
        (tuple[int, ...], "1", (1,)),
        (Topics, "a,bcd", ("a", "bcd")),
        (Annotated[str, Pattern("[a-z]+")], "abc", "abc"),
    ],
)
def test_a_documented_spelling_is_read(annotation: Any, text: str, value: object) -> None:
    assert wire.reader(annotation)(text) == value


@pytest.mark.parametrize(
    ("annotation", "text", "reason"),
    [
        *((int, text, "must be an integer") for text in ("", "x", "1.0", "+5", " 5", "5 ", "1_0")),
        *((int, text, "must be an integer") for text in ("٥", "1e1", "5\n", "--1", "9" * 16)),
        (int, "9" * 5_000, "must be an integer"),
        (Limit, "0", "must be at least 1"),
        (Maybe[Limit], "101", "must be at most 100"),
        *(
            (float, text, "must be a decimal number")
            for text in ("", "nan", "inf", "1e", "1e16", ".5")
        ),
        *((float, text, "must be a decimal number") for text in ("1.", "1_0", "٥", "9" * 400)),
        *((bool, text, "must be true or false") for text in ("", "True", "1", "yes")),
        (Literal["json", "ndjson"], "xml", "must be one of: json, ndjson"),
        (datetime, "2026-01-31T09:30:00", STAMP),
        (datetime, "2026-01-31T09:30:00 01:00", "holds a space; percent-encode + as %2B"),
        (date, "2026-1-31", "must be a date, such as 2026-01-31"),
        (Interval, "../..", INTERVAL),
        (Interval, "2026-01-31T09:30:00 01:00/..", "holds a space; percent-encode + as %2B"),
        (tuple[int, ...], "", "must be a comma list without empty items"),
        (tuple[int, ...], "1,,2", "must be a comma list without empty items"),
        (tuple[int, ...], "1,x", "must be an integer"),
        (Topics, "a,b,c", "must have at most 2 items"),
        (Topics, "a,bcde", "must have at most 3 characters"),
        (Annotated[str, Pattern("[a-z]+", "a word")], "abc\n", "must be a word"),
    ],
)
def test_any_other_spelling_is_refused_in_words(annotation: Any, text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        wire.reader(annotation)(text)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "annotation", [str | None, dict[str, str], tuple[int, int], bytes, int | str, wire.Json]
)
def test_what_cannot_travel_as_text_is_told_when_it_is_declared(annotation: Any) -> None:
    with pytest.raises(TypeError, match="cannot travel as text"):
        wire.reader(annotation)


@given(st.integers(-(2**53) + 1, 2**53 - 1))
def test_every_safe_integer_is_read(number: int) -> None:
    assert wire.reader(int)(str(number)) == number


@given(st.text(max_size=6))
def test_an_integer_has_ascii_digits_only(text: str) -> None:
    try:
        number = wire.reader(int)(text)
    except ValueError:
        return
    assert set(text) <= set("-0123456789")
    assert number == int(text)


def test_unset_is_no_text() -> None:
    with pytest.raises(ValueError, match="must be an integer"):
        wire.reader(Maybe[int])(repr(UNSET))
