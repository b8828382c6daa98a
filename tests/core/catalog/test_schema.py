"""Schemas say what the readers check."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

import jsonschema_rs
import pytest
from attrs import field, frozen, resolve_types
from hypothesis import given
from hypothesis import strategies as st

from svc_core import wire
from svc_core.base import boxes
from svc_core.base.instants import Interval
from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.declaration import QUERY
from svc_core.wire.constraints import Doc, Example, Ge, Le, MaxLen, MinLen, Pattern
from svc_core.wire.schema import Schemas, json_schema, name_of, summary_of
from tests.core.catalog import things

T = TypeVar("T")


@frozen
class Leaf:
    """A leaf."""

    size: Annotated[int, Ge(1)]


@frozen
class Claim:
    kind: Literal["claim"]


@frozen
class Guess:
    kind: Literal["guess"]


@frozen
class Box(Generic[T]):
    """A box."""

    data: T
    more: tuple[T, ...]
    count: int


@frozen
class Tree:
    """A tree."""

    left: "Maybe[Tree]" = UNSET


resolve_types(Tree)


REF = {"$ref": "#/components/schemas/Leaf"}
NULL = {"type": "null"}

SHAPES: list[tuple[Any, dict[str, Any]]] = [
    (str, {"type": "string"}),
    (int, {"type": "integer"}),
    (float, {"type": "number"}),
    (bool, {"type": "boolean"}),
    (None, NULL),
    (datetime, {"type": "string", "format": "date-time"}),
    (date, {"type": "string", "format": "date"}),
    (Any, {}),
    (wire.Json, {}),
    (Maybe[wire.Json], {}),
    (Maybe[None], NULL),
    (Literal["a"], {"type": "string", "const": "a"}),
    (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}),
    (Literal[1, True], {"type": ["integer", "boolean"], "enum": [1, True]}),
    (Literal["a"] | None, {"anyOf": [{"type": "string", "const": "a"}, NULL]}),
    (Literal["a", "b"] | None, {"type": ["string", "null"], "enum": ["a", "b", None]}),
    (Literal["a", 1] | None, {"type": ["string", "integer", "null"], "enum": ["a", 1, None]}),
    (Leaf, REF),
    (Leaf | None, {"anyOf": [REF, NULL]}),
    (Maybe[Leaf | None], {"anyOf": [REF, NULL]}),
    (Annotated[Leaf, Doc("Mine.")], {**REF, "description": "Mine."}),
    (str | int | None, {"anyOf": [{"type": "string"}, {"type": "integer"}, NULL]}),
    (str | Leaf, {"anyOf": [{"type": "string"}, REF]}),
    (tuple[Leaf, ...], {"type": "array", "items": REF}),
    (
        tuple[float, float],
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    ),
    (
        tuple[str, int],
        {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "integer"}],
            "items": False,
            "minItems": 2,
            "maxItems": 2,
        },
    ),
    (Mapping[str, Leaf], {"type": "object", "additionalProperties": REF}),
    (
        Annotated[str, MinLen(1), MaxLen(9), Pattern("a|b"), QUERY],
        {"type": "string", "minLength": 1, "maxLength": 9, "pattern": "^(?:a|b)$"},
    ),
    (Annotated[str | None, MaxLen(9)], {"type": ["string", "null"], "maxLength": 9}),
    (
        Annotated[str | int, MaxLen(9)],
        {"anyOf": [{"type": "string"}, {"type": "integer"}], "maxLength": 9},
    ),
    (
        Annotated[tuple[int, ...], MinLen(1)],
        {"type": "array", "items": {"type": "integer"}, "minItems": 1},
    ),
    (
        Annotated[Mapping[str, int], MaxLen(2)],
        {"type": "object", "additionalProperties": {"type": "integer"}, "maxProperties": 2},
    ),
    (
        Annotated[float, Ge(0), Le(1), Example(0.5)],
        {"type": "number", "minimum": 0, "maximum": 1, "examples": [0.5]},
    ),
    (
        Annotated[str, Doc("Deprecated: use other.")],
        {"type": "string", "description": "Deprecated: use other.", "deprecated": True},
    ),
]


@pytest.mark.parametrize(("annotation", "schema"), SHAPES, ids=lambda value: str(value)[:60])
def test_an_annotation_has_its_schema(annotation: Any, schema: dict[str, Any]) -> None:
    annotation = type(None) if annotation is None else annotation
    assert Schemas().of(annotation, "output") == schema


def test_an_interval_is_text() -> None:
    assert Schemas().of(Interval, "input")["type"] == "string"


def test_a_bounding_box_is_text() -> None:
    schema = Schemas().of(boxes.Box, "input")
    assert schema["type"] == "string"
    assert wire.reader(boxes.Box)(schema["examples"][0]).crosses_antimeridian


def test_classes_told_apart_by_a_literal_name_it() -> None:
    assert Schemas().of(Claim | Guess, "output") == {
        "oneOf": [
            {"$ref": "#/components/schemas/Claim"},
            {"$ref": "#/components/schemas/Guess"},
        ],
        "discriminator": {
            "propertyName": "kind",
            "mapping": {
                "claim": "#/components/schemas/Claim",
                "guess": "#/components/schemas/Guess",
            },
        },
    }


def test_a_generic_class_is_named_after_its_argument() -> None:
    schemas = Schemas()
    assert schemas.of(Box[Leaf], "output") == {"$ref": "#/components/schemas/BoxLeaf"}
    assert schemas.components["BoxLeaf"]["properties"] == {
        "data": REF,
        "more": {"type": "array", "items": REF},
        "count": {"type": "integer"},
    }
    assert name_of(Box[int], "input") == "BoxIntInput"
    assert name_of(Any, "output") == "Any"


def test_a_class_may_hold_itself() -> None:
    schemas = Schemas()
    schemas.of(Tree, "output")
    assert schemas.components["Tree"]["properties"] == {
        "left": {"$ref": "#/components/schemas/Tree"}
    }


def test_a_request_is_closed_and_an_answer_open() -> None:
    input_defs = json_schema(things.ThingInput, "input")["$defs"]
    output_defs = json_schema(things.ThingInput, "output")["$defs"]
    assert input_defs["ThingInput"]["additionalProperties"] is False
    assert input_defs["ThingInput"]["required"] == ["name"]
    assert input_defs["ThingInput"]["properties"]["parts"]["description"].endswith("Default: `[]`.")
    assert input_defs["PartInput"]["additionalProperties"] is False
    assert "additionalProperties" not in output_defs["ThingInput"]
    assert output_defs["ThingInput"]["required"] == ["name", "parts"]


def test_only_what_may_be_missing_is_optional_in_an_answer() -> None:
    thing = json_schema(things.Thing, "output")["$defs"]["Thing"]
    assert set(thing["properties"]) - set(thing["required"]) == {"oldName"}
    assert "required" not in json_schema(things.ThingPatch, "input")["$defs"]["ThingPatch"]


def test_the_first_paragraph_of_a_docstring_describes() -> None:
    assert summary_of(things.Part) == "A part of a thing, in two lines."
    assert "description" not in json_schema(Claim, "output")["$defs"]["Claim"]


def test_defaults_are_told_in_words_for_generators_demand_what_has_one() -> None:
    @frozen
    class Defaults:
        plain: int = 3
        numbers: tuple[int, ...] = field(factory=tuple)
        leaf: Leaf = Leaf(1)
        unset: Maybe[int] = UNSET

    properties = json_schema(Defaults, "input")["$defs"]["DefaultsInput"]["properties"]
    assert [properties[name].get("description") for name in properties] == [
        "Default: `3`.",
        "Default: `[]`.",
        'Default: `{"size":1}`.',
        None,
    ]
    assert all("default" not in schema for schema in properties.values())


def test_two_classes_cannot_share_a_name() -> None:
    first = Leaf

    @frozen
    class Leaf2:
        other: int

    Leaf2.__name__ = "Leaf"
    schemas = Schemas()
    schemas.of(first, "output")
    with pytest.raises(TypeError, match="both called Leaf"):
        schemas.of(Leaf2, "output")
    schemas.add("Mine", {})
    with pytest.raises(TypeError, match="Two schemas are called Mine"):
        schemas.add("Mine", {"type": "string"})


def test_what_has_no_json_form_has_no_schema() -> None:
    with pytest.raises(TypeError, match="no JSON form"):
        Schemas().of(bytes, "output")


def test_the_same_class_gives_the_same_bytes() -> None:
    assert wire.to_bytes(json_schema(things.Thing, "output")) == wire.to_bytes(
        json_schema(things.Thing, "output")
    )


@frozen
class Guest(wire.OpenShape):
    """A shape of others, who may send more."""

    size: int


@frozen
class Sample:
    """Bounds of every kind."""

    text: Annotated[str, MinLen(2), MaxLen(3)]
    code: Annotated[str, Pattern("[ab]{2}|c")]
    number: Annotated[int, Ge(-1), Le(2)]
    ratio: Annotated[float, Le(0.5)] | None
    mode: Literal["x", "y"]
    items: Annotated[tuple[Literal[1, 2], ...], MaxLen(1)]
    leaf: Maybe[Leaf] = UNSET
    guest: Guest | None = None
    names: Annotated[Mapping[str, bool], MinLen(1)] | None = None


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.sampled_from([0.25, 0.75])
    | st.text("abcxy", max_size=4)
)
candidates = (
    scalars
    | st.lists(scalars, max_size=2)
    | st.dictionaries(st.sampled_from(["size", "x"]), scalars, max_size=2)
)
GOOD: dict[str, Any] = {
    "text": "ab", "code": "c", "number": 0, "ratio": None, "mode": "x", "items": [],
}  # fmt: skip
VALIDATOR = jsonschema_rs.Draft202012Validator(json_schema(Sample, "input"))


@given(
    st.dictionaries(
        st.sampled_from([*GOOD, "leaf", "guest", "names", "other"]), candidates, max_size=3
    )
)
def test_the_schema_and_the_reader_agree(change: dict[str, Any]) -> None:
    value = GOOD | change
    try:
        wire.structure(Sample, value)
        is_accepted = True
    except wire.WireError:
        is_accepted = False
    assert VALIDATOR.is_valid(value) is is_accepted
