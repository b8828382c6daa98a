"""The real operations keep what the documents promise."""

import re
import time
from typing import Any

import jsonschema_rs
import pytest

from svc_core import wire
from svc_core.catalog import COLLECTIONS, LOCAL_OPERATIONS, OPERATIONS
from svc_core.catalog.openapi.failures import failure_responses
from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of
from tests.late import Late
from tests.themes import Theme

VALIDATION = Late("openapi_spec_validator")

BASE = "https://api.example.com"

# Spec: Reports; Profiles; Other v1 operations: the statuses in their tables. Its rows for reports
# name 429 and 500 once for all.
SPEC_STATUSES = {
    "/reports": {400, 401, 402, 403, 429, 500},
    "/reports/{reportId}": {400, 401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/signals": {400, 401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/graph": {400, 401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/audio-text": {401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/text": {401, 402, 403, 404, 429, 500},
    "/profiles": {401, 403, 429},
    "/profiles/{profileId}": {401, 403, 404, 429, 500},
    "/news": {400, 401, 403, 429, 500},
}


@pytest.fixture(scope="module")
def api_document() -> dict[str, Any]:
    return build_openapi(OPERATIONS, base_url=BASE)


@pytest.fixture(scope="module")
def flat_document() -> dict[str, Any]:
    return build_openapi(OPERATIONS, base_url=BASE, flat=True)


@pytest.mark.parametrize("form", ["api_document", "flat_document"])
def test_the_document_is_valid(form: str, request: pytest.FixtureRequest) -> None:
    VALIDATION.OpenAPIV31SpecValidator(request.getfixturevalue(form)).validate()


def test_every_example_satisfies_its_schema(api_document: dict[str, Any]) -> None:
    for path in api_document["paths"].values():
        for item in path.values():
            for answer in [item.get("requestBody", {}), *item["responses"].values()]:
                for media in answer.get("content", {}).values():
                    if "example" in media:
                        schema = {**media["schema"], "components": api_document["components"]}
                        jsonschema_rs.validate(schema, media["example"])


def test_every_example_of_a_part_satisfies_it(api_document: dict[str, Any]) -> None:
    waiting: list[Any] = [api_document["paths"], api_document["components"]["schemas"]]
    count = 0
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            # Of an answer the examples stand by their code, of a schema they are a list.
            if "type" in part and isinstance(part.get("examples"), list):
                count += 1
                refers = "$ref" in str(part)
                schema = part | ({"components": api_document["components"]} if refers else {})
                for example in part["examples"]:
                    jsonschema_rs.validate(schema, example)
            part = list(part.values())
        if isinstance(part, list):
            waiting.extend(part)
    assert count > 100


def test_every_part_of_the_document_is_described(flat_document: dict[str, Any]) -> None:
    schemas = flat_document["components"]["schemas"]
    bare = [
        f"{name}.{member}"
        for name, schema in schemas.items()
        for member, part in schema.get("properties", {}).items()
        # A member that is a class of its own may be described there.
        if not part.get("description") and not _component_refs(schemas, part).get("description")
    ]
    items = [item for path in flat_document["paths"].values() for item in path.values()]
    bare += [
        f"{item['operationId']}({parameter['name']})"
        for item in items
        for parameter in item["parameters"]
        if not parameter.get("description")
    ]
    bare += [name for name, schema in schemas.items() if not schema.get("description")]
    assert bare == []


def test_generators_of_any_age_can_read_what_permits_anything(
    flat_document: dict[str, Any],
) -> None:
    # For `additionalProperties: true` and `{}` openapi-generator 7.14 makes no Python client, and
    # one for TypeScript that does not compile. Its Python client wants a licence that SPDX lists.
    waiting, bare = [("", flat_document["components"]["schemas"])], []
    while waiting:
        place, part = waiting.pop()
        rows = part.items() if isinstance(part, dict) else enumerate(part)
        waiting += [(f"{place}/{key}", item) for key, item in rows if isinstance(item, dict | list)]
        if isinstance(part, dict) and part.get("additionalProperties") in (True, {}):
            bare.append(place)
    assert bare == []
    licence = flat_document["info"]["license"]
    assert licence["name"] == licence["identifier"]


def _component_refs(schemas: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    return schemas.get(part.get("$ref", "").rpartition("/")[2], {})


def test_every_body_of_an_answer_has_an_example(api_document: dict[str, Any]) -> None:
    bare = [
        (item["operationId"], status, media_type)
        for path in api_document["paths"].values()
        for item in path.values()
        for status, answer in item["responses"].items()
        for media_type, entry in answer.get("content", {}).items()
        if {"example", "examples"}.isdisjoint(entry)
    ]
    assert bare == []


@pytest.mark.usefixtures("flat_document")
def test_a_document_is_made_while_nobody_notices() -> None:
    start = time.process_time()
    build_openapi(OPERATIONS, base_url=BASE, flat=True)
    # Some 80 ms; several times that where coverage is measured among much else in memory. It is
    # made once, by the first who asks; what grew with the square of the operations would show.
    assert time.process_time() - start < 2


def test_the_change_feed_is_continued_by_its_watermark(flat_document: dict[str, Any]) -> None:
    feed = flat_document["paths"]["/api/v2/changes"]["get"]
    assert "Send `meta.watermark` back as `after`" in feed["description"]
    assert feed["x-fern-pagination"]["cursor"] == "$request.after"


declared: Theme = Theme(OPERATIONS)


@declared.of()
def a_declared_body_is_one_that_the_reader_accepts(operation: Operation[Any, Any]) -> None:
    bodies = [item for item in inputs_of(operation.request) if item.place == "body"]
    assert bool(bodies) is ("body" in operation.examples), "each body has an example"
    for item in bodies:
        wire.structure(item.annotation, wire.to_json(operation.examples["body"]))


@declared.of()
def the_failures_of_the_spec_are_documented(operation: Operation[Any, Any]) -> None:
    statuses = {kind.status for kind in failure_responses(operation)}
    assert SPEC_STATUSES.get(operation.path, {500}) <= statuses


@declared.of()
def a_path_names_its_values(operation: Operation[Any, Any]) -> None:
    names = [item.name for item in inputs_of(operation.request) if item.place == "path"]
    assert [part[1:-1] for part in operation.address.split("/") if part.startswith("{")] == names


@declared.rows
def test_it_is_declared_as_it_is_asked_for(
    request: pytest.FixtureRequest, operation: Operation[Any, Any]
) -> None:
    declared.keep(request)


def test_what_the_change_feed_names_can_be_read() -> None:
    read = {re.sub(r"{\w+}", "*", op.address) for op in OPERATIONS if op.method == "GET"}

    assert {row.kind for row in COLLECTIONS if row.kind and row.address("*") not in read} == set()


def test_a_local_operation_is_the_operators_and_nobody_is_routed_to_it() -> None:
    assert not {op.id for op in OPERATIONS} & {op.id for op in LOCAL_OPERATIONS}
    assert all(op.local and not op.path and "operator" in op.roles for op in LOCAL_OPERATIONS)
    assert not any(op.local or op.roles for op in OPERATIONS)


def test_a_command_is_one_operation() -> None:
    verbs = [(op.group, op.verb) for op in (*OPERATIONS, *LOCAL_OPERATIONS) if op.verb]

    assert len(set(verbs)) == len(verbs)
    assert all(op.group for op in (*OPERATIONS, *LOCAL_OPERATIONS))


def test_no_filter_is_named_like_the_choice_of_a_representation() -> None:
    """`format` says how an answer is written, wherever it stands in a query."""
    queries = {
        (operation.id, item.name)
        for operation in OPERATIONS
        for item in inputs_of(operation.request)
        if item.place == "query" and item.name == "format"
    }
    assert queries == set()


def test_a_member_named_date_is_a_day_and_one_named_at_an_instant() -> None:
    schemas = build_openapi(OPERATIONS, base_url=BASE)["components"]["schemas"]
    forms = {
        (name, member, form)
        for name, schema in schemas.items()
        for member, parts in schema.get("properties", {}).items()
        for form in re.findall(r"'format': '(date(?:-time)?)'", str(parts))
        if re.search("(?:Date|At)$", member)
    }
    ends = {(re.sub(".*(?=Date$|At$)", "", member), form) for _, member, form in forms}
    assert ends == {("Date", "date"), ("At", "date-time")}, forms
