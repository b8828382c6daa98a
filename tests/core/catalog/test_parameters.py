"""What the schema of a parameter admits is read, and what is read its schema admits."""

import json
import re
from collections.abc import Callable
from datetime import datetime
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core.base.boxes import Box
from svc_core.base.instants import Interval
from svc_core.catalog import OPERATIONS
from svc_core.catalog.openapi.operations import OperationWriter
from svc_core.contract.problem import Problem
from svc_core.operation.inputs import Input, inputs_of
from svc_core.operation.query_string import parse_query
from svc_core.wire import shapes
from svc_core.wire.document import NUMBER_MAX
from svc_core.wire.schema import Schemas

WRITER = OperationWriter("https://api.svc.test", Schemas())
PARAMETERS = {
    f"{operation.id} {item.name}": item
    for operation in OPERATIONS
    for item in inputs_of(operation.request)
    if item.place in {"query", "header"}
}
ALIKE = {
    (repr(item.annotation), json.dumps(WRITER.parameter(item)["schema"])): name
    for name, item in PARAMETERS.items()
}
"""A parameter for each of those that are declared and described alike."""
READ: dict[str, Callable[[str], Any]] = {
    "integer": lambda text: int(text) if re.fullmatch("-?[0-9]+", text, re.ASCII) else text,
    "number": lambda text: (
        float(text) if re.fullmatch(r"-?[0-9]{1,16}(\.[0-9]{1,20})?", text, re.ASCII) else text
    ),
    "boolean": lambda text: {"true": True, "false": False}.get(text, text),
    "array": lambda text: text.split(",") if text else [],
    "string": str,
}


def admission(schema: Any) -> Callable[[str], bool]:
    """Whether a text is of a value that the schema admits, as OpenAPI has them written."""
    reader = jsonschema_rs.Draft202012Validator(schema, validate_formats=True)

    def is_admitted(text: str) -> bool:
        if any(character < " " or character == "\x7f" for character in text):
            return False  # which no field and, by our word, no query holds
        return bool(reader.is_valid(READ[schema["type"]](text)))

    return is_admitted


def is_read(item: Input, text: str) -> bool:
    try:
        item.read(parse_query(f"{item.name}={quote(text)}").parameters[item.name])
    except (ValueError, Problem):
        return False
    return True


def texts(schema: Any) -> st.SearchStrategy[str]:
    """Texts that the schema admits, nearly admits, or never heard of."""
    rows = [st.just(""), st.text(max_size=40), st.integers().map(str)]
    for part in (schema, schema.get("items", {})):
        rows += [st.just(str(example)) for example in part.get("examples", ()) if example]
        rows += [st.sampled_from([str(word) for word in part.get("enum", [part.get("const")])])]
        if "pattern" in part:
            rows.append(st.from_regex(part["pattern"], fullmatch=True))
    row = st.one_of(rows)
    several = st.lists(row, min_size=2, max_size=3).map(",".join)
    return row | several | row.map(lambda text: f" {text}") | row.map(lambda text: text[1:])


@pytest.mark.parametrize("name", ALIKE.values())
def test_the_schema_of_a_parameter_and_its_reader_agree(name: str) -> None:
    item = PARAMETERS[name]
    schema = WRITER.parameter(item)["schema"]
    is_admitted = admission(schema)
    # That a day exists, or that one comes after another, no expression says, nor where the globe
    # ends; and the format of instants also takes a leap second and more digits.
    is_looser = not {Interval, Box, datetime}.isdisjoint(inner(item.annotation))

    @given(texts(schema))
    @example(str(NUMBER_MAX))
    @example(str(NUMBER_MAX + 1))
    def agree(text: str) -> None:
        if is_read(item, text):
            assert is_admitted(text)
        elif not is_looser:
            assert not is_admitted(text)

    agree()


def test_no_parameter_is_empty() -> None:
    names = {name: WRITER.parameter(item)["schema"] for name, item in PARAMETERS.items()}
    assert [name for name, schema in names.items() if admission(schema)("")] == []


def inner(annotation: Any) -> tuple[Any, ...]:
    plain, _ = shapes.split_annotation(annotation)
    return (plain, *getattr(plain, "__args__", ()))
