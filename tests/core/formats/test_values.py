"""Values that formats share: what is read of them, what says nothing, what is refused."""

import pytest

from svc_core.formats.model import RecordRefused
from svc_core.formats.reading.values import number, web_url


@pytest.mark.parametrize(
    ("value", "read"),
    [(None, None), (True, None), ("", None), (" ", None), (" 7 ", 7), ("-1.5", -1.5), (0, 0)],
)
def test_a_number_is_read_also_from_text(value: object, read: float | None) -> None:
    assert number(value) == read


@pytest.mark.parametrize("value", ["x", "nan", "inf", [], {}, 2**53, "-9007199254740992"])
def test_what_is_no_number_that_json_carries_is_refused(value: object) -> None:
    with pytest.raises(RecordRefused):
        number(value)


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (None, None),
        ("", None),
        ("ftp://files.example/a", None),
        ("https://", None),
        ("http://[bad", None),
        ("https://pier.example/a?b=c", "https://pier.example/a?b=c"),
        (" https://zürich.example/ ", "https://zürich.example/"),
    ],
)
def test_an_address_is_one_of_the_web_or_none(value: object, read: str | None) -> None:
    assert web_url(value) == read
