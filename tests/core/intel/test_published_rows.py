"""Every row of every list is of the form that the published OpenAPI document gives it."""

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from svc_core.catalog import OPERATIONS
from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.contract.result import Page
from svc_core.formats.model import DocumentRefused
from svc_core.operation.inputs import inputs_of
from tests.core import demo
from tests.core.intel.incident_documents import fold

DOCUMENT = build_openapi(OPERATIONS, base_url="https://api.example.com")
LISTS = [
    operation
    for operation in OPERATIONS
    if operation.method == "GET"
    and "{" not in operation.path
    and any(kind is Page for kind, _ in operation.results)
    and not operation.path.startswith(("/ledger", "/reports", "/profiles", "/subscriptions"))
]
BYTES_MAX, DOCUMENTS_MAX = 150_000, 4  # of one folder, so that all are read in some seconds
OPTIONS = {"fred": {"series": "GDP"}, "ofac": {}}


@pytest.fixture(scope="module")
def real_house(house_factory: Any, real_documents: Callable[[str], list[Path]]) -> Any:
    """A house with some real documents of every format, and what follows from them."""
    house = house_factory()
    root = real_documents("cisa_kev")[0].parents[1]
    for folder in filter(Path.is_dir, sorted(root.iterdir())):
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        for path in [path for path in files if path.stat().st_size < BYTES_MAX][:DOCUMENTS_MAX]:
            with suppress(DocumentRefused):
                options = OPTIONS.get(folder.name, {})
                demo.take(house, path.name, path.read_bytes(), **options)
    fold(house)
    return house


def validator_of(operation: Any) -> Any:
    """What judges the JSON answers of an operation."""
    answer = DOCUMENT["paths"][operation.path]["get"]["responses"]["200"]
    schema = answer["content"]["application/json"]["schema"]
    return jsonschema_rs.Draft202012Validator(
        {**schema, "components": DOCUMENT["components"]}, validate_formats=True
    )


def check(house: Any, operation: Any) -> int:
    """Hold every row of a list against the schema of its answer; the number of rows."""
    validator = validator_of(operation)
    has_pages = any(item.name == "limit" for item in inputs_of(operation.request))
    count, cursor = 0, ""
    while True:
        query = f"limit=100{cursor}" if has_pages else ""
        body = house.body(operation.id, query)
        faults = [f"{e.instance_path}: {e.message}"[:200] for e in validator.iter_errors(body)]
        assert not faults, faults[:3]
        count += len(body["data"])
        end = body["meta"]["page"]["nextCursor"] if "page" in body.get("meta", {}) else None
        if not end or count >= 2_000:
            return count
        cursor = f"&cursor={end}"


@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_rows_of_the_demo_are_as_published(folded_house: Any, operation: Any) -> None:
    check(folded_house, operation)


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("operation", LISTS, ids=lambda operation: operation.id)
def test_rows_of_real_documents_are_as_published(real_house: Any, operation: Any) -> None:
    check(real_house, operation)


DETAILS = [
    operation
    for operation in OPERATIONS
    if operation.method == "GET"
    and operation.path.count("{") == 1
    and any(operation.path.startswith(f"{row.path}/{{") for row in LISTS)
    and operation.path.split("/")[1] in {"news", "osint", "incidents", "entities", "markets"}
    | {"finint", "signals"}
]  # fmt: skip


@pytest.mark.needs("SVC_REAL_DATA")
@pytest.mark.parametrize("operation", DETAILS, ids=lambda operation: operation.id)
def test_single_rows_of_real_documents_are_as_published(real_house: Any, operation: Any) -> None:
    (place,) = (item.name for item in inputs_of(operation.request) if item.place == "path")
    (listing,) = (row for row in LISTS if row.path == operation.path.partition("/{")[0])
    rows = real_house.rows(listing.id, "limit=100")
    if operation.id == "getFusion":  # which is of parties
        rows = [row for row in rows if row["type"] != "vulnerability"]
    validator = validator_of(operation)
    for row in rows:
        path = {place: row.get("id") or row["countryCode"]}
        body = json.loads(real_house.send(operation.id, path=path).body)
        faults = [f"{e.instance_path}: {e.message}"[:200] for e in validator.iter_errors(body)]
        assert not faults, (path, faults[:3])
