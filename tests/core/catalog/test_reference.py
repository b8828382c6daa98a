"""The reference pages hold everything that is declared."""

import json
import re
from typing import Annotated

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
from tests.core.catalog.things import OPERATIONS


@pytest.fixture(scope="module")
def page() -> str:
    return operations_page(OPERATIONS)


def test_every_failure_leads_to_its_section(page: str) -> None:
    anchors = set(re.findall(r'<a id="([a-z0-9-]+)"></a>', problems_page()))
    link_targets = set(re.findall(r"problems\.md#([a-z0-9-]+)", page))
    assert link_targets <= anchors
    assert link_targets == {
        kind.slug for operation in OPERATIONS for kind in failure_responses(operation)
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
