"""A sample satisfies its schema, or there is none."""

from typing import Any

import jsonschema_rs
import pytest

from svc_core.catalog.openapi.schema_samples import NoSampleError, schema_sample

COMPONENTS: dict[str, dict[str, Any]] = {
    "Leaf": {
        "type": "object",
        "properties": {"id": {"type": "string"}, "more": {}},
        "required": ["id"],
    },
    "Loop": {
        "type": "object",
        "properties": {"loop": {"$ref": "#/components/schemas/Loop"}},
        "required": ["loop"],
    },
}
LEAF = {"$ref": "#/components/schemas/Leaf"}
LOOP = {"$ref": "#/components/schemas/Loop"}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, {}),
        ({"type": "string"}, "text"),
        ({"type": "string", "minLength": 6}, "text.."),
        ({"type": "string", "format": "date-time"}, "2026-01-31T09:30:00Z"),
        ({"type": ["string", "null"], "format": "date"}, "2026-01-31"),
        ({"type": "string", "enum": ["a", "b"]}, "a"),
        ({"type": "string", "const": "a"}, "a"),
        ({"type": "string", "examples": ["x"], "default": "y"}, "x"),
        ({"type": "integer", "default": 3}, 3),
        ({"type": "integer"}, 1),
        ({"type": "integer", "minimum": 7}, 7),
        ({"type": "number"}, 0.5),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"type": "array", "items": {"type": "integer"}}, [1]),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 2}, [1, 1]),
        ({"type": "array", "items": LOOP}, []),
        (
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            [1, "text"],
        ),
        (LEAF, {"id": "text"}),
        ({"anyOf": [LEAF, {"type": "null"}]}, {"id": "text"}),
        ({"oneOf": [{"type": "boolean"}, LEAF]}, True),
        ({"type": "object", "additionalProperties": LEAF}, {}),
    ],
)
def test_a_sample_is_made_of_the_examples_of_its_parts(schema: dict[str, Any], value: Any) -> None:
    value_ = schema_sample(schema, COMPONENTS)
    assert value_ == value
    jsonschema_rs.validate({**schema, "components": {"schemas": COMPONENTS}}, value_)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[A-Z]{2}$"},
        {"type": "string", "maxLength": 3},
        {"type": "array", "items": LOOP, "minItems": 1},
        {"type": "object", "properties": {"a": LOOP}, "required": ["a"]},
        LOOP,
    ],
)
def test_where_the_parts_say_too_little_there_is_no_sample(schema: dict[str, Any]) -> None:
    with pytest.raises(NoSampleError):
        schema_sample(schema, COMPONENTS)
