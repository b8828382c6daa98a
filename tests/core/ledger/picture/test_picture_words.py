"""The words of a picture: values as JSON spells them, and times as one says them."""

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from svc_core.ledger.picture import svg
from svc_core.ledger.picture.rows import words_of
from svc_core.ledger.records import Record
from svc_core.testing.ledger.histories import LEDGER, VALID_TIMES, instant

SUBJECT = f"sbj_{'a' * 24}"
NS = "{http://www.w3.org/2000/svg}"
Y20, Y21, *_ = VALID_TIMES


def claim(value: Any, start: str | None = None, end: str | None = None) -> Record:
    head = (1, f"clm_{1:024d}", "claim", "assert", SUBJECT, None, instant(1), start, end, "key_a")
    payload = {"predicate": "seat", "value": value}
    return Record._make((*head, payload, "0" * 64, "0" * 64, LEDGER, "0" * 64))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (True, "true"),
        (False, "false"),
        ([None, True, 1], "null, true, 1"),
        ({"at": None, "is": False, "of": {"a": 1.5}}, "at null, is false, of a 1.5"),
        ("None", "None"),
        (1e21, "1e+21"),
        (-0.0, "0"),
    ],
)
def test_values_are_written_as_json_writes_them(value: Any, words: str) -> None:
    assert words_of(claim(value)) == words


@pytest.mark.parametrize(
    ("bounds", "period"),
    [
        ((None, None), "always"),
        ((Y20, None), f"since {Y20}"),
        ((None, Y21), f"until {Y21}"),
        ((Y20, Y21), f"from {Y20} to {Y21}"),
    ],
)
def test_a_shape_tells_for_when_it_holds(bounds: tuple[str | None, ...], period: str) -> None:
    picture = ET.fromstring(svg([claim("Zug", *bounds)], SUBJECT))
    told = [each.text or "" for each in picture.iter(f"{NS}title")]
    assert f"seat: Zug · unverified · valid {period} · believed {instant(1)} to now" in told


def test_it_says_that_brief_spans_are_drawn_wider_than_they_are() -> None:
    picture = ET.fromstring(svg([claim("Zug", Y20, Y21)], SUBJECT))
    said = [each.text or "" for each in picture.iter(f"{NS}text")]
    assert "valid time, brief spans widened" in said
