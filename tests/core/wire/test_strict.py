"""Untrusted values become objects exactly, or every fault is told at once."""

import time
from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le
from attrs import field, frozen
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe
from svc_core.wire.constraints import Example
from svc_core.wire.faults import FAULTS_KEPT_MAX, NAME_SHOWN_MAX

LEAST: dict[str, Any] = {"name": "a", "at": "2026-01-31T09:30:00Z"}


def faults(class_: Any, value: wire.Json) -> list[tuple[str, str]]:
    with pytest.raises(wire.WireError) as caught:
        wire.structure(class_, value)
    return [(fault.place, fault.reason) for fault in caught.value.faults]


def test_defaults_stand_in_for_what_was_not_sent(models: SimpleNamespace) -> None:
    read = wire.structure(models.Everything, LEAST)
    assert read == models.Everything("a", datetime(2026, 1, 31, 9, 30, tzinfo=UTC))
    assert read.leaf is UNSET


@frozen
class Guest(wire.OpenShape):
    size: int


def test_a_shape_of_others_may_have_more_members() -> None:
    assert wire.structure(Guest, {"size": 1, "colour": "red"}) == Guest(1)
    assert faults(Guest, {"size": "1", "colour": 2}) == [("/size", "must be an integer")]


def test_every_shape_is_read(models: SimpleNamespace) -> None:
    value = LEAST | {
        "number": 100,
        "ratio": 1,
        "flag": True,
        "day": "2024-02-29",
        "mode": "hourly",
        "level": 2,
        "generatedAtISO": None,
        "leaf": {"aB": 1},
        "leaves": [{"aB": 2, "size": 3}],
        "pair": [1, "x"],
        "byName": {"k": {"aB": 4}},
        "free": [1, {"a": None}],
        "maybeFree": None,
        "either": {"kind": "guess", "text": "t"},
        "box": {"data": 1, "more": [2, 3]},
        "nothing": None,
        "code": "GB",
    }
    read = wire.structure(models.Everything, value)
    assert read == models.Everything(
        "a",
        datetime(2026, 1, 31, 9, 30, tzinfo=UTC),
        number=100,
        ratio=1.0,
        flag=True,
        day=date(2024, 2, 29),
        mode="hourly",
        level=2,
        generated_at_iso=None,
        leaf=models.Leaf(1),
        leaves=(models.Leaf(2, 3),),
        pair=(1.0, "x"),
        by_name={"k": models.Leaf(4)},
        free=[1, {"a": None}],
        maybe_free=None,
        either=models.Claim("guess", "t"),
        box=models.Box(1, (2, 3)),
        nothing=None,
        code="GB",
    )
    assert type(read.ratio) is float


@pytest.mark.parametrize(
    ("annotation", "value", "integer"),
    [
        (int, 2.0, 2),
        (int, -0.0, 0),
        (int | None, 2.0, 2),
        (Annotated[int, Ge(1), Le(2)], 2.0, 2),
        (Literal[1, 2], 2.0, 2),
        (int | str, 2.0, 2),
        (tuple[int, ...], [2.0], (2,)),
    ],
)
def test_a_whole_number_is_an_integer_however_it_is_written(
    annotation: Any, value: Any, integer: Any
) -> None:
    number = wire.structure(annotation, value)
    assert (number, repr(number)) == (integer, repr(integer))


STAMP = "must be an RFC 3339 timestamp with an offset, such as 2026-01-31T09:30:00Z"


@pytest.mark.parametrize(
    ("member", "value", "place", "reason"),
    [
        ("name", 1, "", "must be a string"),
        ("name", None, "", "must be a string"),
        ("name", "", "", "must have at least 1 character"),
        ("name", "abcdef", "", "must have at most 5 characters"),
        ("at", 1, "", "must be a string"),
        ("at", "2026-01-31", "", STAMP),
        ("at", "2026-01-31T09:30:00", "", STAMP),
        ("number", True, "", "must be an integer"),
        ("number", 1.5, "", "must be an integer"),
        ("number", "1", "", "must be an integer"),
        ("number", 0, "", "must be at least 1"),
        ("number", 101, "", "must be at most 100"),
        ("ratio", True, "", "must be a number"),
        ("ratio", "0.5", "", "must be a number"),
        ("ratio", 1.5, "", "must be at most 1"),
        ("flag", 1, "", "must be a boolean"),
        ("flag", "true", "", "must be a boolean"),
        ("day", "2026-02-30", "", "must be a day that exists"),
        ("day", "20260230", "", "must be a date, such as 2026-01-31"),
        ("day", 1, "", "must be a date, such as 2026-01-31"),
        ("mode", "weekly", "", "must be one of: hourly, daily"),
        ("mode", ["daily"], "", "must be one of: hourly, daily"),
        ("level", "1", "", "must be one of: 1, 2, true"),
        ("level", False, "", "must be one of: 1, 2, true"),
        ("generatedAtISO", "now", "", STAMP),
        ("leaf", None, "", "must be an object"),
        ("leaf", [], "", "must be an object"),
        ("leaf", {}, "/aB", "is required"),
        ("leaf", {"aB": 1, "size": None}, "/size", "must be an integer"),
        ("leaves", {}, "", "must be an array"),
        ("leaves", [{"aB": 1}, {"aB": "1"}], "/1/aB", "must be an integer"),
        ("pair", [1], "", "must have exactly 2 items"),
        ("pair", ["x", "x"], "/0", "must be a number"),
        ("byName", [], "", "must be an object"),
        ("byName", {"a/b~c": 1}, "/a~1b~0c", "must be an object"),
        ("either", 1, "", "must be an object or a string"),
        ("either", {"kind": "lie"}, "/kind", "must be one of: claim, guess, sighting"),
        ("either", {"kind": []}, "/kind", "must be one of: claim, guess, sighting"),
        ("either", {"kind": "sighting", "count": "1"}, "/count", "must be an integer"),
        ("box", {"data": "1"}, "/data", "must be an integer"),
        ("nothing", 0, "", "must be null"),
        ("code", "gb", "", "must be two capitals"),
        ("a_b", 1, "", "is not a known member"),
        ("", 1, "", "is not a known member"),
    ],
)
def test_each_fault_is_told_with_its_place(
    models: SimpleNamespace, member: str, value: wire.Json, place: str, reason: str
) -> None:
    assert faults(models.Everything, LEAST | {member: value}) == [(f"/{member}{place}", reason)]


def test_all_faults_come_together_in_the_order_of_the_fields(models: SimpleNamespace) -> None:
    value = {"zz": 1, "aa": 1, "pair": ["1", 2], "number": "x", "leaf": {"other": 1}}
    assert faults(models.Everything, value) == [
        ("/name", "is required"),
        ("/at", "is required"),
        ("/number", "must be an integer"),
        ("/leaf/aB", "is required"),
        ("/leaf/other", "is not a known member"),
        ("/pair/0", "must be a number"),
        ("/pair/1", "must be a string"),
        ("/aa", "is not a known member"),
        ("/zz", "is not a known member"),
    ]


@pytest.mark.parametrize("value", [None, True, 1, "a", []])
def test_a_body_of_the_wrong_kind_is_told_at_the_root(
    models: SimpleNamespace, value: wire.Json
) -> None:
    assert faults(models.Everything, value) == [("", "must be an object")]
    assert str(wire.InputFault("", "must be an object")) == "(body): must be an object"


def test_a_stranger_cannot_make_the_answer_long(models: SimpleNamespace) -> None:
    ((place, _),) = faults(models.Leaf, {"aB": 1, "x" * 1_000_000: 1})
    assert len(place) == NAME_SHOWN_MAX + 2


def test_a_hostile_body_costs_no_more_than_an_honest_one(models: SimpleNamespace) -> None:
    start = time.process_time()
    count = 250_000
    assert len(faults(models.Everything, LEAST | {"leaves": ["x"] * count})) == FAULTS_KEPT_MAX
    by_name = {str(number): "x" for number in range(count)}
    assert len(faults(models.Everything, LEAST | {"byName": by_name})) == FAULTS_KEPT_MAX
    assert len(faults(models.Leaf, by_name | {"aB": 1})) == FAULTS_KEPT_MAX
    # Half a second here; telling every fault took ten times as long.
    assert time.process_time() - start < 4


def test_a_refusal_reads_as_its_faults(models: SimpleNamespace) -> None:
    with pytest.raises(wire.WireError, match=r"^/aB: is required; /x: is not a known member$"):
        wire.structure(models.Leaf, {"x": 1})


def test_a_generic_model_is_read_with_its_argument(models: SimpleNamespace) -> None:
    assert wire.structure(models.Box[str], {"data": "a"}) == models.Box("a")
    assert faults(models.Box[str], {"data": 1}) == [("/data", "must be a string")]


def test_a_model_can_refuse_what_no_annotation_says() -> None:
    @frozen
    class Range:
        start: int
        end: int = field()

        @end.validator
        def _check(self, _: object, value: int) -> None:
            if value < self.start:
                raise ValueError("must not end before it starts")

    assert faults(Range, {"start": 2, "end": 1}) == [("", "must not end before it starts")]


def test_a_constraint_that_nobody_checks_is_our_fault_and_not_the_clients() -> None:
    @frozen
    class Odd:
        number: Annotated[int, Gt(1)]

    with pytest.raises(TypeError, match="not checked"):
        wire.structure(Odd, {"number": 2})


@pytest.mark.parametrize("union", [str | Literal["a"], int | float])
def test_a_union_that_json_cannot_tell_apart_is_refused_at_once(union: Any) -> None:
    @frozen
    class Unclear:
        value: union

    with pytest.raises(TypeError, match="cannot be told apart"):
        wire.structure(Unclear, {"value": "a"})


def test_classes_without_a_literal_of_their_own_cannot_share_a_union() -> None:
    @frozen
    class First:
        kind: Literal["a"]

    @frozen
    class Two:
        kind: Literal["a", "b"]

    @frozen
    class Unclear:
        value: First | Two

    with pytest.raises(TypeError, match="cannot be told apart"):
        wire.structure(Unclear, {"value": {"kind": "a"}})


def test_a_type_without_json_form_cannot_stand_in_a_union() -> None:
    @frozen
    class Unclear:
        value: bytes | str

    with pytest.raises(TypeError, match="no JSON form"):
        wire.structure(Unclear, {"value": "a"})


def test_a_tagged_class_may_carry_words_of_its_own() -> None:
    @frozen
    class Left:
        side: Literal["left"]

    @frozen
    class Right:
        side: Annotated[Literal["right"], Example("right")]
        depth: int = 0

    @frozen
    class Turn:
        to: Annotated[Left, Example(1)] | Right | tuple[int, ...] | None = None
        then: Maybe[Left | Right] = UNSET

    assert wire.structure(Turn, {"to": {"side": "right"}}) == Turn(Right("right"))
    assert wire.structure(Turn, {"to": [1]}) == Turn((1,))
    assert wire.structure(Turn, {"to": None}) == Turn()
    assert faults(Turn, {"to": "x", "then": {}}) == [
        ("/to", "must be an object or an array"),
        ("/then/side", "is required"),
    ]


@given(
    st.text(max_size=8)
    | st.booleans()
    | st.floats(allow_nan=False).filter(lambda number: not number.is_integer())
    | st.none()
)
def test_only_integers_are_integers(value: wire.Json) -> None:
    @frozen
    class Count:
        n: int

    assert faults(Count, {"n": value}) == [("/n", "must be an integer")]
