"""The reference pages hold everything that is declared."""

import json
import re
from typing import Annotated, Any

import attrs
import pytest
from attrs import frozen

from svc_core import catalog
from svc_core.base.unset import UNSET, Maybe
from svc_core.catalog.openapi.failures import failure_responses
from svc_core.catalog.reference import (
    Deprecation,
    deprecated_inputs,
    deprecated_members,
    operations_page,
    problems_page,
)
from svc_core.contract import problem
from svc_core.operation.declaration import QUERY, Trait
from svc_core.operation.period import Since
from svc_core.wire.constraints import Doc


@pytest.fixture(scope="module")
def page(operations: Any) -> str:
    return operations_page(operations)


def test_every_operation_has_its_section(page: str, operations: Any) -> None:
    for operation in operations:
        assert f"`{operation.method} {operation.address}` (`{operation.id}`)" in page
        assert operation.summary in page
        assert operation.description in page


def test_operations_stand_under_their_tag(page: str) -> None:
    profiles = page.index("## Profiles")
    assert page.index("`listThings`") < profiles < page.index("`deleteThing`")
    assert page.count("## Reports\n") == 1


@pytest.mark.parametrize(
    "line",
    [
        "- Access: API key or x402 payment; scope `things:read`; "
        "T3_ENRICHED, 0.01 US dollars a request",
        "- Access: API key; scope `things:admin` or `things:write`",
        "- Access: API key; scope `things:read`; bound to a workspace",
        "- Access: No key",
        "- Success: 200, `application/json`, `application/x-ndjson`, `application/geo+json`",
        "- Success: 204, no body",
        "- `Idempotency-Key`: required",
        "- `Idempotency-Key`: optional",
        "- `If-Match`: honoured",
        "| `limit` | query | integer, at least 1, at most 100 | no | `20` | Rows in one page. |",
        "| `kinds` | query | list of `a` or `b` | no |  | Kinds. |",
        "| `since` | query | date-time | no |  |  |",
        "| `thingId` | path | string, `^thg_[a-f0-9]{24}$` | yes |  | Thing identifier. |",
        "| `body` | body | `ThingInput` | yes |  | The thing. |",
        "| `body` | body | any JSON | yes |  |  |",
        '  "name": "Anvil"',
    ],
)
def test_a_page_says_what_is_declared(page: str, line: str) -> None:
    assert line in page.splitlines()


def test_every_failure_leads_to_its_section(page: str, operations: Any) -> None:
    anchors = set(re.findall(r'<a id="([a-z0-9-]+)"></a>', problems_page()))
    link_targets = set(re.findall(r"problems\.md#([a-z0-9-]+)", page))
    assert link_targets <= anchors
    assert link_targets == {
        kind.slug for operation in operations for kind in failure_responses(operation)
    }


def test_every_code_has_a_section_with_an_example() -> None:
    text = problems_page()
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert [example["code"] for example in examples] == list(problem.CATALOGUE)
    for kind in problem.CATALOGUE.values():
        assert f"## {kind.code}\n\n{kind.status} · {kind.title}. {kind.resolution}\n" in text


def test_what_is_deprecated_says_what_to_use_instead() -> None:
    rows = {(item.name, item.instead) for item in deprecated_members(catalog.OPERATIONS)}
    assert rows >= {("count", "pageCount"), ("duration", "durationSeconds")}
    assert all(instead for _, instead in rows)


def test_a_deprecated_input_leads_from_its_operation_to_the_new_spelling() -> None:
    @frozen
    class Request:
        since: Since = UNSET
        old: Annotated[Maybe[str], QUERY, Trait.DEPRECATED] = UNSET
        new: Annotated[Maybe[str], QUERY, Doc("What to use.")] = UNSET

    row = next(operation for operation in catalog.OPERATIONS if operation.id == "listNews")
    old = attrs.evolve(row, request=Request)
    assert deprecated_inputs([row, old]) == (
        Deprecation("since", "GET /api/v1/news", "datetime=START/.."),
        Deprecation("old", "GET /api/v1/news", ""),
    )
