"""The documents say what the operations declare, in a form that generators understand."""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest

from svc_core.catalog.openapi.failures import failure_responses
from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.contract.result import Page
from tests.core.catalog import golden
from tests.core.catalog.things import OPERATIONS, NoInput, Thing, declare
from tests.late import Late

VALIDATION = Late("openapi_spec_validator")

BASE = "https://api.example.com"
DATA = "https://data.example.com"
PROBLEM_MEMBERS = {
    "type", "title", "status", "detail", "instance", "code", "requestId", "resolution",
}  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["spec form", "flat"])
def api_document(request: pytest.FixtureRequest) -> dict[str, Any]:
    return build_openapi(OPERATIONS, base_url=BASE, data_url=DATA, flat=request.param)


def walk(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from walk(item)


# -- the whole ---------------------------------------------------------------------------------


def test_the_document_is_valid(api_document: dict[str, Any]) -> None:
    VALIDATION.OpenAPIV31SpecValidator(api_document).validate()


def test_every_reference_leads_somewhere(api_document: dict[str, Any]) -> None:
    for item in walk(api_document):
        if "$ref" in item:
            target: Any = api_document
            for step in item["$ref"].removeprefix("#/").split("/"):
                target = target[step]


def test_both_forms_describe_the_same_operations() -> None:
    forms = []
    for flat in (False, True):
        paths = build_openapi(OPERATIONS, base_url=BASE, flat=flat)["paths"].values()
        items = [item for path in paths for item in path.values()]
        forms.append([{**item, "servers": None} for item in items])
    assert forms[0] == forms[1]


def test_generators_find_what_they_ask_for(api_document: dict[str, Any]) -> None:
    assert api_document["info"]["description"]
    assert api_document["info"]["contact"]
    assert all(tag["description"] for tag in api_document["tags"])
    names = {tag["name"] for tag in api_document["tags"]}
    for path in api_document["paths"].values():
        for item in path.values():
            assert item["operationId"]
            assert item["summary"]
            assert item["description"]
            assert set(item["tags"]) <= names
    for schema in walk(api_document["components"]["schemas"]):
        if "const" in schema or "enum" in schema:
            assert "type" in schema
        if "prefixItems" in schema:
            assert "items" in schema


def test_every_json_body_is_a_named_component_or_anything(api_document: dict[str, Any]) -> None:
    for item in walk(api_document["paths"]):
        if "application/json" in item:
            assert set(item["application/json"]["schema"]) <= {"$ref", "anyOf"}


def test_no_component_is_left_unused(api_document: dict[str, Any]) -> None:
    used = {item["$ref"] for item in walk(api_document) if "$ref" in item}
    for kind in ("schemas", "headers", "examples"):
        names = {f"#/components/{kind}/{name}" for name in api_document["components"][kind]}
        assert names <= used


# -- failures ----------------------------------------------------------------------------------


def test_every_problem_has_an_example_of_the_real_shape(api_document: dict[str, Any]) -> None:
    examples = api_document["components"]["examples"]
    assert set(examples) == {kind.code for item in OPERATIONS for kind in failure_responses(item)}
    schema = api_document["components"]["schemas"]["Problem"]
    assert set(schema["required"]) == PROBLEM_MEMBERS
    for code, example in examples.items():
        jsonschema_rs.validate(schema, example["value"])
        assert set(example["value"]) == PROBLEM_MEMBERS
        assert example["value"]["code"] == code
        assert re.fullmatch(rf"{BASE}/problems/[a-z0-9-]+", example["value"]["type"])


# -- what is declared --------------------------------------------------------------------------


@pytest.mark.parametrize("name", golden.documents())
def test_what_is_declared_is_written_as_it_is_stored(name: str) -> None:
    assert golden.documents()[name] == (golden.FILES / name).read_text("utf-8")


def test_the_specs_form_puts_v1_on_top_and_v2_overrides_it() -> None:
    document = build_openapi(OPERATIONS, base_url=BASE, data_url=DATA)
    servers = [server["url"] for server in document["servers"]]
    assert servers == [f"{BASE}/api/v1", f"{DATA}/api/v1"]
    assert document["paths"]["/ask"]["post"]["servers"][0]["url"] == f"{BASE}/api/v2"


def test_the_flat_form_has_one_origin_and_full_paths() -> None:
    document = build_openapi(OPERATIONS, base_url=BASE, data_url=DATA, flat=True)
    assert [server["url"] for server in document["servers"]] == [BASE]
    assert set(document["paths"]) == {operation.address for operation in OPERATIONS}
    assert all("servers" not in item for item in walk(document["paths"]))


@pytest.mark.parametrize(
    ("path", "response", "message"),
    [
        ("/things", Page[Thing], "GET /things is declared twice"),
        ("/odd", Thing, "which is no result"),
    ],
)
def test_what_cannot_be_described_is_refused(path: str, response: Any, message: str) -> None:
    odd = declare("odd", "GET", path, NoInput, response)
    with pytest.raises(TypeError, match=message):
        build_openapi((*OPERATIONS, odd), base_url=BASE)
