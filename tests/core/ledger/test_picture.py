"""The picture of a subject says what the fold says, stands alone, and survives hostile records."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given

from svc_core.ledger.picture import (
    PATTERNS,
    ROWS_MAX,
    STEPS_MAX,
    THEME,
    WIDTH,
    positions,
    statement_words,
    svg,
)
from svc_core.ledger.records import STATEMENTS, SealedRecord
from svc_core.testing.ledger_kit import fold_questions as questions
from svc_core.testing.ledger_kit import history_strategies as histories
from svc_core.testing.ledger_kit.fold_questions import Question
from tests.sampling import examples

SUBJECT = f"sbj_{'a' * 24}"
NS = "{http://www.w3.org/2000/svg}"
BYTES_MAX = 2 * 2**20
Y20, Y21, Y22, Y23 = histories.VALID_TIMES


def record(seq: int, kind: str = "claim", op: str = "assert", **members: Any) -> SealedRecord:
    """A record by hand: `target` is a `seq`, the rest of the members is its payload."""
    bounds = [members.pop(name, None) for name in ("target", "start", "end")]
    at = members.pop("at", histories.instant(seq * 1_000_000))
    target = None if bounds[0] is None else f"clm_{bounds[0]:024d}"
    head = (seq, f"clm_{seq:024d}", kind, op, SUBJECT, target, at, *bounds[1:], "key_ann")
    payload = members.pop("payload", members)
    return SealedRecord._make((*head, payload, "0" * 64, "0" * 64, histories.LEDGER, "0" * 64))


def claim(seq: int, value: Any, **members: Any) -> SealedRecord:
    return record(seq, **{"predicate": "headquarters", "value": value, **members})


def draw(records: Any, **bounds: Any) -> ET.Element:
    """The picture, which is well-formed, bounded, and has nothing outside its canvas."""
    text = svg(records, SUBJECT, **bounds)
    assert len(text.encode()) <= BYTES_MAX
    picture = ET.fromstring(text.encode())
    height = float(picture.get("height", ""))
    for element in picture.iter():
        x, y = (float(element.get(name, 0)) for name in "xy")
        assert 0 <= x <= x + float(element.get("width", 0)) <= WIDTH
        assert 0 <= y <= y + float(element.get("height", 0)) <= height
        if element.tag == f"{NS}text":
            assert x + float(element.get("font-size", "")) * 0.3 * len(element.text or "") <= WIDTH
    return picture


def texts(picture: ET.Element) -> str:
    return "\n".join(element.text or "" for element in picture.iter(f"{NS}text"))


def description(picture: ET.Element) -> str:
    return picture.findtext(f"{NS}desc") or ""


def cells(picture: ET.Element) -> list[ET.Element]:
    return [element for element in picture.iter(f"{NS}rect") if element.get("data-state")]


# -- the laws --------------------------------------------------------------------------------------


@examples(60)
@given(history=histories.histories())
def test_what_is_drawn_at_a_point_is_what_the_fold_says_there(history: Any) -> None:
    for subject in history.subjects:
        picture = ET.fromstring(svg(history.records, subject))
        rows = {row.get("data-record"): cells(row) for row in picture.iter(f"{NS}g")}
        assert len(rows) == sum(
            record.subject == subject and record.op in STATEMENTS for record in history.records
        )
        for head in history.heads[1:]:
            for valid_time in questions.valid_times(history.records):
                check_point(rows, history, Question(subject, valid_time, head.recorded_at))


def check_point(rows: Any, history: Any, question: Question) -> None:
    view = questions.core(history.records, question)
    expected = {row["id"]: [row["verification"]["state"]] for row in questions.standing_rows(view)}
    for claim in view["claims"].values():
        for candidate in claim["candidates"] if claim["contested"] else ():
            for support in candidate["support"]:
                if support["verification"]["state"] != "refuted":
                    expected[support["id"]].append("contested")
    states = {
        id_: [item.get("data-state") for item in own if is_under(item, question)]
        for id_, own in rows.items()
    }
    assert {id_: states for id_, states in states.items() if states} == expected


def is_under(cell: ET.Element, question: Question) -> bool:
    at, valid_time = question.record_time or "", question.valid_time
    is_recorded = cell.get("data-since", "") <= at < cell.get("data-until", "9")
    return is_recorded and cell.get("data-from", "") <= valid_time < cell.get("data-to", "9")


@examples(40)
@given(history=histories.histories())
def test_later_is_further_right_and_further_up(history: Any) -> None:
    for subject in history.subjects:
        across: dict[str, float] = {}
        above: dict[str, float] = {}
        for row in ET.fromstring(svg(history.records, subject)).iter(f"{NS}g"):
            lane = next(row.iter(f"{NS}rect"))
            foot = float(lane.get("y", "")) + float(lane.get("height", ""))
            for cell in cells(row):
                x, y, width, height = (
                    float(cell.get(at, "")) for at in ("x", "y", "width", "height")
                )
                assert width > 0 < height
                since, start = cell.get("data-since", ""), cell.get("data-from", "")
                low = foot - y - height
                assert above.setdefault(since, low) == pytest.approx(low, abs=0.01)
                assert across.setdefault(start, x) == pytest.approx(x)
        for scale in (across, above):
            places = [scale[at] for at in sorted(scale)]
            assert places == sorted(set(places))


@examples(30)
@given(history=histories.histories())
def test_the_bytes_depend_on_the_set_of_records_alone(history: Any) -> None:
    for subject in history.subjects:
        expected = svg(history.records, subject)
        assert svg(history.records[::-1], subject) == expected
        assert svg((*history.records, *history.records), subject) == expected
        half = history.heads[len(history.heads) // 2]
        # What was erased since is gone from both only in the whole set.
        if not any(record.op == "erase" for record in history.records[half.size :]):
            bounds = {"record_time": half.recorded_at}
            again = svg(history.records, subject, **bounds)
            assert svg(history.records[: half.size], subject, **bounds) == again
            assert svg(history.records, subject, size=half.size, **bounds) == again


# -- what is seen ----------------------------------------------------------------------------------


def test_what_was_retracted_ends_in_record_time() -> None:
    records = [
        claim(0, "Zug", start=Y20),
        record(1, op="retract", target=0, start=Y22, reason="other"),
    ]
    first, second = cells(draw(records))
    assert first.get("data-until") == second.get("data-since") == records[1].recorded_at
    assert (first.get("data-to"), second.get("data-to")) == (None, Y22)


def test_contradictions_are_marked_while_they_last() -> None:
    records = [
        claim(0, "Zug", start=Y20),
        claim(1, "Bern", end=Y22),
        record(2, op="verify", target=1, state="refuted"),
    ]
    contests = [
        record for record in cells(draw(records)) if record.get("data-state") == "contested"
    ]
    assert [(item.get("data-from"), item.get("data-to")) for item in contests] == [(Y20, Y22)] * 2
    assert {record.get("data-until") for record in contests} == {records[2].recorded_at}


def changes() -> list[SealedRecord]:
    """One record of each kind, and what can be done to it."""
    return [
        record(0, "subject", type="organization", label="Pier 7 AG"),
        record(1, "designator", scheme="lei", value="5493001KJTIIGC8Y1R12", confidence=70),
        record(2, "observation", text="Zug was seen."),
        claim(3, {"city": "Zug"}),
        record(4, op="verify", target=3, state="under_review"),
        record(5, op="retract", target=4, reason="other"),
        claim(6, "Bern", op="amend", target=3, start=Y22),
        record(9, op="verify", target=6, payload=None),
        record(12, payload=None),
        record(13, op="erase", target=12, reason="other"),
        record(15, "designator", scheme="lei"),
        record(16, predicate=3, value="x"),
    ]


def test_each_row_tells_what_was_done_and_when() -> None:
    shown_words = texts(draw(changes(), valid_time=Y21))
    for words in (
        "Pier 7 AG", "organization", "lei", "5493001KJTIIGC8Y1R12", "key_ann · 70 % · 1 record",
        "Zug was seen.", '{"city":"Zug"}', "(erased)", "?", "2026-01-01 assert · key_ann",
        "2026-01-01 00:00:04 verify under_review · key_ann", "00:00:05 retract of verify",
        "00:00:06 amend", "00:00:13 erase", "12 of 12 record times", f"valid time {Y21} marked",
    ):  # fmt: skip
        assert words in shown_words, words


def test_it_bears_the_name_that_is_in_force() -> None:
    records = [
        record(0, "subject", type="organization", label="Pier 7 AG"),
        record(1, "subject", "amend", target=0, type="organization", label="Wrong"),
        record(2, "subject", "retract", target=1, reason="clerical"),
        record(3, "subject", "amend", target=0, start=Y22, type="topic", label=" \u200f "),
    ]
    title = draw(records).findtext(f"{NS}title")
    assert title == "Pier 7 AG: what was believed when, and for when"


@pytest.mark.parametrize("bounds", [{"record_time": "2020-01-01T00:00:00.000000Z"}, {"size": 0}])
def test_a_subject_of_which_nothing_was_recorded_has_a_picture_that_says_so(bounds: Any) -> None:
    picture = draw([claim(0, "Zug")], **bounds)
    assert "Nothing was recorded by then." in texts(picture)
    assert "Still held: nothing." in description(picture)
    assert (picture.findtext(f"{NS}title") or "").startswith(SUBJECT)


def test_acts_on_what_is_not_there_draw_nothing() -> None:
    assert cells(draw([record(0, op="retract", target=9, reason="other")])) == []


@pytest.mark.parametrize(
    ("bounds", "period"),
    [
        ((None, None), "from no beginning to no end"),
        ((Y20, None), "from 2020-01-01 to no end"),
        ((None, "2021-02-03T04:05:06.000000Z"), "from no beginning to 2021-02-03 04:05:06"),
        ((Y20, "2021-01-01T00:00:00.100000Z"), "from 2020-01-01 to 2021-01-01 00:00:00.100000"),
    ],
)
def test_a_shape_tells_for_when_it_holds(bounds: Any, period: str) -> None:
    picture = draw([claim(1, "Zug", start=bounds[0], end=bounds[1])])
    [cell] = cells(picture)
    belief = "believed 2026-01-01 00:00:01 to now"
    title = f"headquarters: Zug · unverified · valid {period} · {belief}"
    assert (cell.get("data-from"), cell.get("data-to")) == bounds
    assert cell.findtext(f"{NS}title") == title
    assert f"headquarters Zug, unverified, {period}" in description(picture)


@pytest.mark.parametrize(
    ("value", "words"),
    [(True, "true"), ([None, 1], "[null,1]"), ("None", "None"), (1e21, "1e+21"), (None, "?")],
)
def test_values_are_written_as_json_writes_them(value: Any, words: str) -> None:
    assert statement_words(claim(1, value)) == words


# -- hostile, large, alone -------------------------------------------------------------------------

HOSTILE = [
    "</text><script>alert(1)</script>",
    "<!-- --> ]]> <![CDATA[ &amp; &#x0; \" ' >",
    "\x00\x01\x1f\x7f\x85\ufffe\uffff",
    "\u202egnp.exe \u2066 \u200f \u2028 \u2029",
    "\ud800 lone",
    "漢" * 2_000,
    "Ẑ̴̧" * 500,
    "W" * 5_000,
    "",
]
TAGS = {"svg", "title", "desc", "style", "defs", "pattern", "linearGradient", "stop", "g"}


@pytest.mark.parametrize("words", HOSTILE)
def test_no_text_of_a_ledger_becomes_markup(words: str) -> None:
    records = [
        record(0, "subject", type=words, label=words),
        record(1, "designator", scheme=words, value=words),
        record(2, "observation", text=words),
        record(3, predicate=words, value=words),
        record(4, predicate="headquarters", value={words: [words]}),
        record(5, op="verify", target=3, state=words),
    ]
    picture = draw(records)
    assert {element.tag.removeprefix(NS) for element in picture.iter()} <= {
        *TAGS,
        "text",
        "rect",
        "path",
    }
    forbidden = "[\x00-\x09\x0b-\x1f\x7f\u202e\u2066\u200f\ufffe\uffff]"
    assert not re.search(forbidden, svg(records, SUBJECT))


def test_it_stands_alone() -> None:
    text = svg([claim(0, "https://a.example/")], SUBJECT)
    picture = ET.fromstring(text)
    assert (picture.get("role"), picture.get("aria-labelledby")) == ("img", "svc-title svc-desc")
    assert {element.get("id") for element in picture[:2]} == {"svc-title", "svc-desc"}
    for element in picture.iter():
        for name, value in element.attrib.items():
            assert not name.endswith("href")
            assert not name.startswith("on")
            assert "url(" not in value or value.startswith("url(#")
    assert "@import" not in text


def test_many_records_leave_a_picture_that_can_be_looked_at() -> None:
    long = "x" * 60_000
    records = [
        *[claim(n, f"{n} {long}", start=Y20, end=Y23) for n in range(300)],
        *[record(n, "designator", scheme="name", value=f"N{n}") for n in range(300, 350)],
    ]
    picture = draw(records)
    assert f"{ROWS_MAX} of 350 statements, {STEPS_MAX} of 350 record times" in texts(picture)
    # What was believed before the record times that are told apart is shown as at the first.
    assert (
        min(record.get("data-since", "") for record in cells(picture)) == records[-48].recorded_at
    )


def test_labels_of_the_axis_do_not_touch() -> None:
    days = [f"2026-01-{day:02}T00:00:00.000000Z" for day in range(1, 32)]
    picture = draw([claim(n, "Zug", start=day) for n, day in enumerate(days)])
    labels = [
        element
        for element in picture.iter(f"{NS}text")
        if element.text in [day[:10] for day in days]
    ]
    assert 3 < len(labels) < len(days)
    for left, right in pairwise(float(item.get("x", "")) for item in labels):
        assert right - left > 10 * 6


def test_of_very_many_records_fewer_times_are_told_apart() -> None:
    verdicts = [record(n, op="verify", target=0, state="disputed") for n in range(1, 12_500)]
    assert "8 of 12500 record times" in texts(draw([claim(0, "Zug"), *verdicts]))


def test_a_statement_that_was_changed_too_often_to_be_drawn_is_counted() -> None:
    years = [f"{1000 + n}-01-01T00:00:00.000000Z" for n in range(6_000)]
    cuts = [
        record(n, op="retract", target=0, start=years[2 * n], end=years[2 * n + 1], reason="other")
        for n in range(1, 2_500)
    ]
    picture = draw([claim(0, "Zug"), *cuts, claim(2_600, 3, predicate="employees")])
    assert "1 of 2 statements" in texts(picture)


# -- the parts -------------------------------------------------------------------------------------


def at(day: str, time: str = "00:00:00.000000") -> str:
    return f"{day}T{time}Z"


def widths(instants: Sequence[str]) -> list[float]:
    return [later - earlier for earlier, later in pairwise(positions(instants).values())]


def test_a_scale_is_true_to_length_and_gives_every_stretch_room() -> None:
    year, instant = widths([Y20, Y21, at("2021-01-01", "00:00:00.000001")])
    assert year > instant > 7
    long, short = widths([at("1000-01-01"), at("3000-01-01"), at("4000-01-01")])
    assert long / short == pytest.approx(2, abs=0.1)
    assert len(set(positions([Y20]).values())) == 1
    assert positions([]) == {}


def test_days_that_do_not_exist_have_their_place() -> None:
    places = positions([at("0000-01-01"), at("2026-02-28"), at("2026-02-31"), at("2026-03-01")])
    assert list(places.values()) == sorted(set(places.values()))


def contrast(first: str, second: str) -> float:
    """The contrast of two colours (WCAG 2.2, relative luminance)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast_and_states_have_patterns(theme: int) -> None:
    colours = {name: pair[theme] for name, pair in THEME.items()}
    assert contrast(colours["text"], colours["background"]) >= 7
    assert contrast(colours["muted"], colours["background"]) >= 4.5
    for column in zip(*PATTERNS.values(), strict=True):
        assert len(set(column)) == len(PATTERNS)
