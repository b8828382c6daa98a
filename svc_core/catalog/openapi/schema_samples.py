"""Example values for schemas, composed from the examples of their parts.

Rule: a sample satisfies its schema; where the parts do not say enough for one, there is none.
"""

import re
from collections.abc import Mapping
from typing import Any

from svc_core.wire.schema import Schema

_LEAVES = {"integer": 1, "number": 0.5, "boolean": True, "null": None}
_FORMATS = {"date-time": "2026-01-31T09:30:00Z", "date": "2026-01-31"}


class NoSampleError(Exception):
    """The schema does not say enough."""


def schema_sample(schema: Schema, components: Mapping[str, Schema]) -> Any:
    """A value that the schema accepts; `components` holds what it refers to by name.

    Raises:
        NoSampleError: a pattern or a length that no example satisfies, or a class in itself.
    """
    return _sample(schema, components, ())


def _sample(schema: Schema, components: Mapping[str, Schema], path: tuple[str, ...]) -> Any:
    for word in ("examples", "enum"):
        if word in schema:
            return schema[word][0]
    for word in ("default", "const"):
        if word in schema:
            return schema[word]
    if "$ref" in schema:
        return _of_reference(schema["$ref"], components, path)
    if "oneOf" in schema or "anyOf" in schema:
        return _sample((schema.get("oneOf") or schema["anyOf"])[0], components, path)
    return _of_type(schema, components, path)


def _of_reference(reference: str, components: Mapping[str, Schema], path: tuple[str, ...]) -> Any:
    name = reference.rpartition("/")[2]
    if name in path:
        raise NoSampleError(name)
    return _sample(components[name], components, (*path, name))


def _of_type(schema: Schema, components: Mapping[str, Schema], path: tuple[str, ...]) -> Any:
    types = schema.get("type", "object")
    type_ = types if isinstance(types, str) else types[0]
    match type_:
        case "object":
            properties = schema.get("properties", {})
            names = schema.get("required", ())
            return {name: _sample(properties[name], components, path) for name in names}
        case "array":
            return _array(schema, components, path)
        case "string":
            return _string(schema)
        case _:
            return schema.get("minimum", _LEAVES[type_])


def _array(schema: Schema, components: Mapping[str, Schema], path: tuple[str, ...]) -> list[Any]:
    if "prefixItems" in schema:
        return [_sample(item, components, path) for item in schema["prefixItems"]]
    try:
        return [_sample(schema["items"], components, path)] * schema.get("minItems", 1)
    except NoSampleError:
        if schema.get("minItems", 0) > 0:
            raise
        return []


def _string(schema: Schema) -> str:
    if "format" in schema:
        return _FORMATS[schema["format"]]
    pattern = schema.get("pattern")
    if pattern is None:
        text = "text".ljust(schema.get("minLength", 0), ".")
    else:
        text = pattern.removeprefix("^").removesuffix("$")
    fits = len(text) <= schema.get("maxLength", len(text))
    if not fits or (pattern is not None and re.fullmatch(pattern, text) is None):
        raise NoSampleError(str(pattern))
    return text
