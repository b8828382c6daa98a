"""The real operations keep what the documents promise."""

from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from svc_core import wire
from svc_core.catalog import OPERATIONS
from svc_core.inputs import inputs
from svc_core.openapi import document, failures
from svc_core.operation import Operation
from svc_core.reference import operations_page

BASE = "https://api.example.com"
ids = pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.id)

# Spec: Reports; Profiles; Other v1 operations: the statuses in their tables. Its rows for reports
# name 429 and 500 once for all.
SPEC_STATUSES = {
    "/reports": {400, 401, 402, 403, 429, 500},
    "/reports/{reportId}": {400, 401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/signals": {400, 401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/graph": {400, 401, 402, 403, 404, 429, 500},
    "/reports/{reportId}/text": {401, 402, 403, 404, 429, 500},
    "/profiles": {401, 403, 429},
    "/profiles/{profileId}": {401, 403, 404, 429, 500},
    "/news": {400, 401, 403, 429, 500},
}


@pytest.mark.parametrize("flat", [False, True])
def test_the_document_is_valid(flat: bool) -> None:
    OpenAPIV31SpecValidator(document(OPERATIONS, base_url=BASE, flat=flat)).validate()


def test_every_example_satisfies_its_schema() -> None:
    described = document(OPERATIONS, base_url=BASE)
    for path in described["paths"].values():
        for item in path.values():
            for answer in [item.get("requestBody", {}), *item["responses"].values()]:
                for entry in answer.get("content", {}).values():
                    if "example" in entry:
                        schema = {**entry["schema"], "components": described["components"]}
                        jsonschema.validate(entry["example"], schema)


@ids
def test_a_declared_body_is_one_that_the_reader_accepts(operation: Operation[Any, Any]) -> None:
    bodies = [item for item in inputs(operation.request) if item.place == "body"]
    assert bool(bodies) is ("body" in operation.examples), "each body has an example"
    for item in bodies:
        wire.structure(item.annotation, wire.to_json(operation.examples["body"]))


@ids
def test_the_failures_of_the_spec_are_documented(operation: Operation[Any, Any]) -> None:
    statuses = {kind.status for kind in failures(operation)}
    assert SPEC_STATUSES.get(operation.path, {500}) <= statuses


@ids
def test_a_path_names_its_values(operation: Operation[Any, Any]) -> None:
    named = [item.name for item in inputs(operation.request) if item.place == "path"]
    assert [part[1:-1] for part in operation.path.split("/") if part.startswith("{")] == named


def test_the_page_of_operations_can_be_written() -> None:
    page = operations_page(OPERATIONS)
    assert all(f"(`{operation.id}`)" in page for operation in OPERATIONS)
