"""What is written is read back, and is the JSON that clients were promised."""

import json
from datetime import UTC, date, datetime, timedelta, timezone
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from attrs import evolve, frozen, resolve_types
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base.unset import UNSET, Maybe

AT = datetime(2026, 1, 31, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="session")
def full(models: SimpleNamespace) -> Any:
    return models.Everything(
        "é",
        AT,
        generated_at_iso=AT + timedelta(microseconds=5),
        day=date(2024, 2, 29),
        leaf=models.Leaf(1),
        leaves=(models.Leaf(2, 3),),
        pair=(0.5, "x"),
        by_name={"k": models.Leaf(4)},
        free=[1, {"a": None}],
        maybe_free={"x": [True]},
        either=models.Sighting("sighting", 3),
        box=models.Box(1, (2,)),
        nothing=None,
        code=None,
    )


def test_the_wire_form_is_compact_camel_case_json(full: Any) -> None:
    assert wire.to_bytes(full).decode() == (
        '{"name":"é","at":"2026-01-31T09:30:00Z","number":1,"ratio":0.5,"flag":false,'
        '"day":"2024-02-29","mode":"daily","level":1,"leaves":[{"aB":2,"size":3}],'
        '"byName":{"k":{"aB":4}},"free":[1,{"a":null}],'
        '"generatedAtISO":"2026-01-31T09:30:00.000005Z","leaf":{"aB":1},"pair":[0.5,"x"],'
        '"maybeFree":{"x":[true]},"either":{"kind":"sighting","count":3},'
        '"box":{"data":1,"more":[2]},"nothing":null,"code":null}'
    )


def test_stored_bytes_give_the_object_back(full: Any, models: SimpleNamespace) -> None:
    assert wire.from_bytes(models.Everything, wire.to_bytes(full)) == full


def test_what_is_written_passes_the_strict_reader(full: Any, models: SimpleNamespace) -> None:
    assert wire.structure(models.Everything, wire.decode_json(wire.to_bytes(full))) == full


@pytest.mark.parametrize("value", [UNSET, None, (1, 2)])
def test_not_sent_null_and_present_stay_three_things(models: SimpleNamespace, value: Any) -> None:
    before = models.Everything("a", AT, maybe_free=value, either="text")
    plain = wire.to_json(before)
    assert isinstance(plain, dict)
    assert ("maybeFree" in plain) is (value is not UNSET)
    again = wire.from_bytes(models.Everything, wire.to_bytes(before))
    assert again == evolve(before, maybe_free=list(value) if value == (1, 2) else value)


def test_members_of_a_newer_version_are_passed_over(models: SimpleNamespace) -> None:
    assert wire.from_bytes(models.Leaf, b'{"aB":1,"later":{}}') == models.Leaf(1)


def test_plain_values_may_hold_objects(models: SimpleNamespace) -> None:
    value = {
        "row": models.Leaf(1),
        "rows": [models.Leaf(2)],
        "at": AT.astimezone(timezone(timedelta(hours=1))),
        "day": date(2026, 1, 31),
        "frozen": MappingProxyType({"a": (1,)}),
    }
    assert wire.to_json(value) == {
        "row": {"aB": 1},
        "rows": [{"aB": 2}],
        "at": "2026-01-31T09:30:00Z",
        "day": "2026-01-31",
        "frozen": {"a": [1]},
    }


def test_a_generic_object_is_written_by_what_it_holds(models: SimpleNamespace) -> None:
    assert wire.to_bytes(models.Box(models.Leaf(1), (models.Leaf(2),))) == (
        b'{"data":{"aB":1},"more":[{"aB":2}]}'
    )


@pytest.mark.parametrize("value", [{1, 2}, b"x", object(), [UNSET]])
def test_what_has_no_json_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="has no JSON form"):
        wire.to_bytes(value)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_no_number_is_written_that_json_does_not_know(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        wire.to_bytes(value)


def test_a_model_may_hold_itself() -> None:
    assert wire.from_bytes(Tree, wire.to_bytes(Tree((Tree(), Tree((Tree(),)))))) == Tree(
        (Tree(), Tree((Tree(),)))
    )
    assert wire.structure(Tree, {"children": [{"children": []}]}) == Tree((Tree(),))


@frozen
class Tree:
    """A node and what hangs on it."""

    children: tuple["Tree", ...] = ()


resolve_types(Tree)


instants = st.datetimes(timezones=st.just(UTC))


@given(
    name=st.text(max_size=5),
    at=instants,
    day=st.none() | st.dates(),
    generated=st.just(UNSET) | st.none() | instants,
    ratio=st.floats(allow_nan=False, allow_infinity=False),
)
def test_writing_and_reading_are_inverse(
    name: str, at: datetime, day: date | None, generated: Any, ratio: float, models: SimpleNamespace
) -> None:
    before = models.Everything(name, at, day=day, generated_at_iso=generated, ratio=ratio)
    assert wire.from_bytes(models.Everything, wire.to_bytes(before)) == before
    assert json.loads(wire.to_bytes(before)) == wire.to_json(before)


def test_a_list_that_need_not_be_sent_is_read_back(models: SimpleNamespace) -> None:
    @frozen
    class Row:
        leaves: Maybe[tuple[models.Leaf, ...]] = UNSET

    resolve_types(Row, {}, {"models": models, "Maybe": Maybe})
    row = Row((models.Leaf(1), models.Leaf(2, 3)))
    assert wire.from_bytes(Row, wire.to_bytes(row)) == row
    assert wire.structure(Row, wire.decode_json(wire.to_bytes(row))) == row
    assert wire.from_bytes(Row, b"{}") == Row()
