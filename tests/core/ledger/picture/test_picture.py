"""The picture of a subject says what the fold says, stands alone, and survives hostile records."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings

from svc_core.ledger.fold.segments import ALWAYS, NEVER, Periods
from svc_core.ledger.picture import svg
from svc_core.ledger.picture.beliefs import STATEMENTS_MAX, STEPS_MAX, beliefs, spans
from svc_core.ledger.picture.ink import DARK, LIGHT, STATES, shortened, width_of
from svc_core.ledger.picture.picture import BYTES_MAX
from svc_core.ledger.picture.scale import Scale, microseconds, moment, ticks
from svc_core.ledger.records import Record
from svc_core.testing.ledger import histories, questions
from svc_core.testing.ledger.questions import Question

SUBJECT = f"sbj_{'a' * 24}"
NS = "{http://www.w3.org/2000/svg}"
Y20, Y21, Y22, Y23 = histories.VALID_TIMES


def record(seq: int, kind: str = "claim", op: str = "assert", **members: Any) -> Record:
    """A record by hand: `target` is a `seq`, the rest of the members is its payload."""
    bounds = [members.pop(name, None) for name in ("target", "start", "end")]
    at = members.pop("at", histories.instant(seq * 1_000_000))
    target = None if bounds[0] is None else f"clm_{bounds[0]:024d}"
    head = (seq, f"clm_{seq:024d}", kind, op, SUBJECT, target, at, *bounds[1:], "key_ann")
    payload = members.pop("payload", members)
    return Record._make((*head, payload, "0" * 64, "0" * 64, histories.LEDGER, "0" * 64))


def claim(seq: int, value: Any, **members: Any) -> Record:
    return record(seq, **{"predicate": "headquarters", "value": value, **members})


def drawn(records: Any, **asked: Any) -> ET.Element:
    return ET.fromstring(svg(records, SUBJECT, **asked))


def texts(picture: ET.Element) -> str:
    return "\n".join(each.text or "" for each in picture.iter(f"{NS}text"))


def under(rectangles: list[Any], record_time: str, valid_time: str) -> list[Any]:
    """The rectangles under a point of the picture."""
    return [
        each
        for each in rectangles
        if each.get("data-since") <= record_time < each.get("data-until", "9")
        and each.get("data-from", "") <= valid_time < each.get("data-to", "9")
    ]


# -- the law ---------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(history=histories.histories())
def test_what_is_drawn_at_a_point_is_what_the_fold_says_there(history: Any) -> None:
    for subject in history.subjects:
        picture = ET.fromstring(svg(history.records, subject))
        rows = {row.get("data-record"): list(row.iter(f"{NS}rect")) for row in picture}
        for head in history.heads[1:]:
            for valid_time in questions.valid_times(history.records):
                check_point(rows, history, Question(subject, valid_time, head.recorded_at))


def check_point(rows: Any, history: Any, question: Question) -> None:
    view = questions.core(history.records, question)
    expected = {row["id"]: row["verification"]["state"] for row in questions.standing_rows(view)}
    contested = {
        support["id"]
        for claimed in view["claims"].values()
        if claimed["contested"]
        for candidate in claimed["candidates"]
        for support in candidate["support"]
        if support["verification"]["state"] != "refuted"
    }
    found, hatched = {}, set()
    for id_, rectangles in rows.items():
        marked = [each for each in rectangles if each.get("data-since")]
        for each in under(marked, question.record_time or "", question.valid_time):
            if each.get("data-contested"):
                hatched.add(id_)
            else:
                assert id_ not in found, "rectangles of a statement do not overlap"
                found[id_] = each.get("data-state")
    assert found == expected
    assert hatched == contested


@settings(max_examples=40, deadline=None)
@given(history=histories.histories())
def test_later_is_further_right_and_further_up(history: Any) -> None:
    for subject in history.subjects:
        across: dict[str, float] = {}
        upwards: dict[str, float] = {}
        for row in ET.fromstring(svg(history.records, subject)).iter(f"{NS}g"):
            rectangles = list(row.iter(f"{NS}rect"))
            foot = float(rectangles[0].get("y", "")) + float(rectangles[0].get("height", ""))
            for each in rectangles:
                if each.get("data-since"):
                    low = float(each.get("y", "")) + float(each.get("height", "")) - foot
                    since = each.get("data-since", "")
                    assert upwards.setdefault(since, low) == pytest.approx(low, abs=0.02)
                    start, x = each.get("data-from", ""), float(each.get("x", ""))
                    assert across.setdefault(start, x) == pytest.approx(x)
                    assert float(each.get("width", "")) > 0
                    assert float(each.get("height", "")) > 0
        for (_, left), (_, right) in pairwise(sorted(across.items())):
            assert left < right
        for (_, low), (_, high) in pairwise(sorted(upwards.items())):
            assert low > high


@settings(max_examples=30, deadline=None)
@given(history=histories.histories())
def test_the_bytes_depend_on_the_set_of_records_alone(history: Any) -> None:
    for subject in history.subjects:
        expected = svg(history.records, subject)
        assert svg(history.records[::-1], subject) == expected
        assert svg((*history.records, *history.records), subject) == expected
        half = history.heads[len(history.heads) // 2]
        early = svg(history.records[: half.size], subject, record_time=half.recorded_at)
        again = svg(history.records, subject, record_time=half.recorded_at)
        # What was erased since is gone from both only in the whole set.
        if not any(each.op == "erase" for each in history.records[half.size :]):
            assert (
                early
                == again
                == svg(history.records, subject, size=half.size, record_time=half.recorded_at)
            )


# -- what is seen ----------------------------------------------------------------------------------


def test_what_was_retracted_ends_in_record_time() -> None:
    records = [
        claim(0, "Zug", start=Y20),
        record(1, op="retract", target=0, start=Y22, reason="other"),
    ]
    [row] = drawn(records).iter(f"{NS}g")
    first, second = [each for each in row.iter(f"{NS}rect") if each.get("data-state")]
    assert first.get("data-until") == second.get("data-since") == records[1].recorded_at
    assert (first.get("data-to"), second.get("data-to")) == (None, Y22)
    assert [each for each in row.iter(f"{NS}path") if each.get("stroke-width") == "3"]


def test_contradictions_are_hatched_while_they_last() -> None:
    records = [
        claim(0, "Zug", start=Y20),
        claim(1, "Bern", end=Y22),
        record(2, op="verify", target=1, state="refuted"),
    ]
    hatched = [each for each in drawn(records).iter(f"{NS}rect") if each.get("data-contested")]
    assert len(hatched) == 2
    for each in hatched:
        assert (each.get("data-from"), each.get("data-to")) == (Y20, Y22)
        assert each.get("data-until") == records[2].recorded_at


def changes() -> list[Record]:
    """One record of each kind, and what can be done to it."""
    return [
        record(0, "subject", type="organization", label="Pier 7 AG"),
        record(1, "designator", scheme="lei", value="5493001KJTIIGC8Y1R12", confidence=70),
        record(2, "observation", text="Zug was seen."),
        claim(3, {"city": "Zug", "of": [1, True, "x"]}),
        record(4, op="verify", target=3, state="under_review"),
        record(5, op="retract", target=4, reason="other"),
        claim(6, "Bern", op="amend", target=3, start=Y22),
        claim(7, "Thun", op="supersede", target=3),
        record(8, op="retract", target=7, reason="other"),
        record(20, predicate="owner", value="A"),
        record(21, op="supersede", target=20, predicate="owner", value="B"),
        record(22, op="retract", target=21, reason="other"),
        record(9, op="verify", target=3, payload=None),
        record(10, op="erase", target=9, reason="other"),
        record(11, op="verify", target=3, state="verified"),
        record(12, payload=None),
        record(13, "claim", op="erase", target=12, reason="other"),
        record(14, "claim", op="retract", target=13, reason="other"),
        record(15, "designator", scheme="lei"),
        record(16, op="assert", predicate=3, value="x"),
        record(17, op="verify", target=16, payload=None),
        record(18, predicate="employees", value=12),
    ]


def test_each_row_tells_what_was_done_and_when() -> None:
    records = changes()
    said = texts(drawn(records, valid_time=Y21))
    for words in (
        "Identity", "Designators", "Observations", "Claims", "Pier 7 AG (organization)",
        "lei 5493001KJTIIGC8Y1R12", "key_ann · 70 %", "Zug was seen.", "city Zug, of 1, true, x",
        "one value at a time", "recorded as amendment", "recorded as replacement", "(erased)",
        "verified · key_ann", "replacement retracted", "lei ?", "verdict, since erased",
        "erasure retracted", "(+5)", "Not readable", "2021-01-01T00:00:00.000000Z marked",
    ):  # fmt: skip
        assert words in said, words
    assert "00:00:03 recorded" in said
    later = texts(drawn([*records[:4], claim(30, "x", at="2026-02-03T00:00:00.000000Z")]))
    assert "1 Jan 2026 recorded" in later


def test_it_bears_the_name_that_is_in_force() -> None:
    records = [
        record(0, "subject", type="organization", label="Pier 7 AG"),
        record(1, "subject", "amend", target=0, type="organization", label="Wrong"),
        record(2, "subject", "retract", target=1, reason="clerical"),
        record(3, "subject", "amend", target=0, start=Y22, type="topic", label=" \u200f "),
    ]
    title = drawn(records).find(f"{NS}title").text  # type: ignore[union-attr]
    assert title == "Pier 7 AG: what was believed when, and for when"


def test_a_subject_of_which_nothing_was_recorded_has_a_picture_that_says_so() -> None:
    picture = drawn([claim(0, "Zug")], record_time="2020-01-01T00:00:00.000000Z")
    assert "Nothing was recorded by then." in texts(picture)
    assert picture.find(f"{NS}title").text.startswith(SUBJECT)  # type: ignore[union-attr]
    only_acts = drawn([record(0, op="retract", target=9, reason="other")])
    assert only_acts.tag == f"{NS}svg"


@pytest.mark.parametrize("bounds", [{}, {"start": Y20}, {"start": Y20, "end": Y21}])
def test_bounds_may_be_open(bounds: Any) -> None:
    picture = drawn([claim(0, "Zug", **bounds)])
    [cell] = [each for each in picture.iter(f"{NS}rect") if each.get("data-state")]
    assert (cell.get("data-from"), cell.get("data-to")) == (bounds.get("start"), bounds.get("end"))


def test_it_is_described_in_words() -> None:
    records = [claim(number, f"Town {number}", start=Y20) for number in range(50)]
    said = drawn(records).find(f"{NS}desc").text or ""  # type: ignore[union-attr]
    assert "headquarters Town 10, unverified, since 1 Jan 2020" in said
    assert said.startswith(
        f"Valid time runs from left to right, record time upwards, for {SUBJECT}"
    )
    many = [record(n, "designator", scheme="name", value=f"N{n}", start=Y20) for n in range(20)]
    more = [claim(20 + n, f"T{n}", end=Y22) for n in range(40)]
    assert "and 20 more." in (drawn([*many, *more]).find(f"{NS}desc").text or "")  # type: ignore[union-attr]


KEPT = {
    "changes": (changes(), {"valid_time": Y21}),
    "changes-before": (changes(), {"record_time": histories.instant(9_000_000), "size": 9}),
    "nothing": ([], {}),
    "lasting": (
        [
            record(
                0, "subject", type="person", label="Ann", start=Y20, at=f"{Y20[:4]}-02-03{Y20[10:]}"
            ),
            *[record(n, "designator", scheme="name", value=f"N{n}") for n in range(1, 20)],
            *[
                claim(n, f"Town {n} on the {'very ' * 20}long river", end=Y23)
                for n in range(20, 50)
            ],
            *[
                record(n, op="verify", target=20 + n % 5, state=state)
                for n, state in enumerate(
                    ("verified", "corroborated", "under_review", "disputed", "refuted"), 50
                )
            ],
            *[record(n, "observation", text="漢" * n, start=Y22) for n in range(55, 60)],
            record(60, op="retract", target=20, start=Y20, end=Y22, reason="other"),
            claim(61, {"city": "Zug"}, start=Y21, end=Y22, at=f"2027-03-04{Y20[10:]}"),
            *[
                record(
                    n, op="verify", target=61, state="disputed", at=f"2027-03-{n - 57:02}{Y20[10:]}"
                )
                for n in range(62, 88)
            ],
        ],
        {"valid_time": Y22},
    ),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_picture_is_the_same_on_every_machine_and_in_every_release(name: str, kept: Any) -> None:
    records, asked = KEPT[name]
    kept(f"picture-{name}.svg", svg(records, SUBJECT, **asked))


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
    text = svg(records, SUBJECT)
    picture = ET.fromstring(text.encode())
    tags = {each.tag.removeprefix(NS) for each in picture.iter()}
    assert tags <= {
        "svg", "title", "desc", "style", "defs", "pattern", "rect", "path", "linearGradient",
        "stop", "text", "g",
    }  # fmt: skip
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066\u200f\ufffe\uffff]", text)
    for each in picture.iter(f"{NS}text"):
        assert len(each.text or "") < 420


def test_it_stands_alone() -> None:
    text = svg([claim(0, "https://a.example/")], SUBJECT)
    picture = ET.fromstring(text)
    assert (picture.get("role"), picture.get("aria-labelledby")) == ("img", "svc-title svc-desc")
    assert {each.get("id") for each in picture[:2]} == {"svc-title", "svc-desc"}
    for each in picture.iter():
        for name, value in each.attrib.items():
            assert not name.endswith("href")
            assert not name.startswith("on")
            assert "url(" not in value or value.startswith("url(#")
    assert "@import" not in text
    assert "prefers-color-scheme:dark" in text


def test_many_records_leave_a_picture_that_can_be_looked_at() -> None:
    long = "x" * 60_000
    records = [
        record(0, "subject", type="organization", label="A", at="2025-01-01T00:00:00.000000Z"),
        *[claim(n, f"{n} {long}", start=Y20, end=Y23) for n in range(1, 300)],
        *[record(n, "designator", scheme="name", value=f"N{n}") for n in range(300, 500)],
    ]
    text = svg(records, SUBJECT)
    assert len(text.encode()) <= BYTES_MAX
    said = texts(ET.fromstring(text))
    assert f"+{500 - STATEMENTS_MAX} more statements, older than those shown" in said
    assert f"+{STATEMENTS_MAX - STEPS_MAX} more record times" in said
    assert "+176 more" in said
    assert "+160 more" in said


def test_labels_of_the_axis_do_not_touch() -> None:
    days = [f"2026-01-{day:02}T00:00:00.000000Z" for day in range(1, 32)]
    records = [claim(n, "Zug", start=day) for n, day in enumerate(days)]
    picture = drawn([*records, claim(40, "Bern", end="2026-09-30T00:00:00.000000Z")])
    marks = [
        (float(each.get("x", "")), width_of(each.text or "", 11))
        for each in picture.iter(f"{NS}text")
        if each.get("text-anchor") == "middle"
    ]
    assert len(marks) > 4
    for (left, one), (right, other) in pairwise(marks):
        assert left + one / 2 < right - other / 2


def test_very_many_records_are_drawn_with_fewer_steps() -> None:
    verdicts = [record(n, op="verify", target=0, state="disputed") for n in range(1, 12_500)]
    found = beliefs([claim(0, "Zug"), *verdicts])
    assert len(found.moments) == 8
    assert found.earlier == 12_500 - 8


def test_a_statement_that_was_changed_too_often_to_be_drawn_is_counted() -> None:
    years = [f"{1000 + n}-01-01T00:00:00.000000Z" for n in range(6_000)]
    cuts = [
        record(n, op="retract", target=0, start=years[2 * n], end=years[2 * n + 1], reason="other")
        for n in range(1, 2_500)
    ]
    text = svg([claim(0, "Zug"), *cuts, claim(2_600, 3, predicate="employees")], SUBJECT)
    assert "+1 more" in texts(ET.fromstring(text))
    assert len(text.encode()) <= BYTES_MAX


# -- parts -----------------------------------------------------------------------------------------


def test_beliefs_before_those_told_apart_are_shown_as_they_were_then() -> None:
    found = beliefs(
        [
            claim(0, "Zug", start=Y20),
            *[record(n, op="verify", target=0, state="disputed") for n in range(1, 60)],
        ]
    )
    [cell] = found.shown[0].cells
    assert (cell.since, cell.state) == (found.moments[0], "disputed")
    assert (len(found.moments), found.earlier) == (STEPS_MAX, 60 - STEPS_MAX)


@pytest.mark.parametrize(
    ("periods", "expected"),
    [
        (NEVER, []),
        (ALWAYS, [(None, None)]),
        (Periods(True, (Y20,)), [(None, Y20)]),
        (Periods(False, (Y20,)), [(Y20, None)]),
        (Periods(True, (Y20, Y21)), [(None, Y20), (Y21, None)]),
        (Periods(False, (Y20, Y21)), [(Y20, Y21)]),
    ],
)
def test_a_set_of_valid_times_is_its_intervals(periods: Periods, expected: Any) -> None:
    assert spans(periods) == expected


def test_a_scale_gives_every_stretch_room_and_keeps_their_order() -> None:
    scale = Scale.over([0, 1, 1_000_000], 100, 200, 0.25)
    assert scale.positions[0] == 100
    assert scale.positions[-1] == pytest.approx(300)
    assert scale.positions[1] >= 125
    assert scale.at(0) == 100
    assert scale.at(1_000_000) == pytest.approx(300)
    assert 125 < scale.at(500_000) < 300
    assert Scale((7,), (5.0,)).at(7) == 5.0


MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug"]
QUARTERS = ["Apr 2025", "Jul 2025", "Oct 2025"]
CLOCK = ["06:00", "12:00", "18:00"]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2019-06-01", "2024-06-01", ["2020", "2021", "2022", "2023", "2024"]),
        ("0001-01-01", "9999-12-31", ["2000", "4000", "6000", "8000"]),
        ("2026-01-15", "2026-06-15", ["Feb 2026", "Mar 2026", "Apr 2026", "May 2026", "Jun 2026"]),
        ("2024-12-15", "2025-08-15", [f"{month} 2025" for month in MONTHS[:8]]),
        ("2024-12-15", "2026-01-15", ["Jan 2025", *QUARTERS, "Jan 2026"]),
        ("2026-01-01", "2026-01-03", ["1 Jan 2026", *CLOCK, "2 Jan 2026", *CLOCK, "3 Jan 2026"]),
        ("2026-01-02", "2026-01-20", ["5 Jan 2026", "12 Jan 2026", "19 Jan 2026"]),
        ("9999-12-31", "9999-12-31", ["31 Dec 9999"]),
    ],
)  # fmt: skip
def test_ticks_are_round(first: str, last: str, expected: Any) -> None:
    found = ticks(*(microseconds(f"{day}T00:00:00.000000Z") for day in (first, last)))
    assert [words for _, words in found] == expected
    assert len(found) <= 9


def test_ticks_go_down_to_seconds() -> None:
    first = microseconds("2026-01-01T10:00:00.000000Z")
    assert [words for _, words in ticks(first, first + 20_000_000)] == [
        "10:00:00", "10:00:05", "10:00:10", "10:00:15", "10:00:20",
    ]  # fmt: skip


def test_a_day_that_does_not_exist_counts_on() -> None:
    last = microseconds("2026-02-28T00:00:00.000000Z")
    assert microseconds("2026-02-31T00:00:00.000000Z") == last + 3 * 86_400_000_000
    assert microseconds("0000-01-01T00:00:00.000000Z") == 86_400_000_000


def test_an_instant_counts_to_the_microsecond() -> None:
    day, then = "2026-03-04T00:00:00.000000Z", "2026-03-04T10:20:30.000007Z"
    assert microseconds(then) - microseconds(day) == (10 * 3600 + 20 * 60 + 30) * 1_000_000 + 7


def test_a_moment_within_a_day_is_told_by_the_clock() -> None:
    assert moment("2026-01-05T09:10:00.000000Z", within_a_day=True) == "09:10:00"
    assert moment("2026-01-05T09:10:00.120000Z", within_a_day=True) == "09:10:00.12"
    assert moment("2026-01-05T09:10:00.120000Z", within_a_day=False) == "5 Jan 2026"


def test_long_words_are_shortened_to_what_fits() -> None:
    assert shortened("short", 100, 10) == "short"
    cut = shortened("a rather long sentence of words", 100, 10)
    assert cut.endswith("…")
    assert width_of(cut, 10) <= 100
    widths = [width_of(letter, 10) for letter in ("i", "a", "X", "W", "漢")]
    assert widths == sorted(widths)
    assert width_of("i", 10) < width_of("X", 10) < width_of("W", 10)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours (WCAG 2.2, relative luminance)."""

    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_has_contrast_and_states_have_patterns(palette: Any) -> None:
    assert contrast(palette["ink"], palette["paper"]) >= 7
    assert contrast(palette["quiet"], palette["paper"]) >= 4.5
    assert len(set(STATES.values())) == len(STATES)
    assert len({palette[state] for state in STATES}) == len(STATES)
