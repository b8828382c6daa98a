"""The bodies of appends that are described are valid, of every sort, and make drafts."""

from typing import Any, get_args

import jsonschema_rs
import pytest

from svc_core import wire
from svc_core.catalog import OPERATIONS
from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.ledger.append.entries import Entry
from svc_core.ledger.append.validation import drafts
from svc_core.ledger.operations import APPENDS
from svc_core.ledger.records import Op

SINGLE = [name for name, example in APPENDS.items() if isinstance(example, dict)]


@pytest.fixture(scope="module")
def api_document() -> Any:
    return build_openapi(OPERATIONS, base_url="https://api.example.org")


def test_the_description_shows_every_sort_of_append(api_document: Any) -> None:
    body = api_document["paths"]["/ledger/records"]["post"]["requestBody"]
    media = body["content"]["application/json"]
    assert "example" not in media  # OpenAPI 3.1: it and `examples` exclude each other.
    schema = {**media["schema"], "components": api_document["components"]}
    assert {name: entry["value"] for name, entry in media["examples"].items()} == APPENDS
    for example in media["examples"].values():
        jsonschema_rs.validate(schema, example["value"])


def test_every_operation_and_what_it_is_done_to_is_shown() -> None:
    view = [APPENDS[name] for name in SINGLE]
    assert {item.get("op", "assert") for item in view} == set(get_args(Op))
    assert {item["kind"] for item in view} == {"designator", "observation", "claim"}


@pytest.mark.parametrize("name", SINGLE)
def test_a_shown_body_makes_a_draft(name: str) -> None:
    entry = wire.structure(Entry, APPENDS[name])
    (draft,) = drafts([entry], author="key_ann", salts=[bytes(16)])
    assert (draft.kind, draft.op) == (entry.kind, entry.op)
