"""The reference pages hold everything that is declared."""

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from svc_core import problem
from svc_core.openapi import failures
from svc_core.reference import operations_page, problem_page, problems_page


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
    linked = set(re.findall(r"problems\.md#([a-z0-9-]+)", page))
    assert linked <= anchors
    assert linked == {kind.slug for operation in operations for kind in failures(operation)}


def test_every_code_has_a_section_with_an_example() -> None:
    text = problems_page()
    examples = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    assert [example["code"] for example in examples] == list(problem.CATALOGUE)
    for kind in problem.CATALOGUE.values():
        assert f"## {kind.code}\n\n{kind.status} · {kind.title}. {kind.resolution}\n" in text


class Reader(HTMLParser):
    """Collects the text and the addresses of a page, and checks that tags are closed."""

    VOID = frozenset({"meta", "link"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.addresses: list[str | None] = []
        self.styles = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.addresses += [value for name, value in attrs if name in {"href", "src"}]
        self.styles += tag in {"style", "script"} or any(name == "style" for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("kind", problem.CATALOGUE.values(), ids=lambda kind: kind.code)
def test_the_page_of_a_problem_explains_it_without_other_hosts(kind: problem.ProblemType) -> None:
    read = Reader(problem_page(kind, base_url="https://api.example.org"))
    assert read.open == []
    assert read.addresses == ["data:,", "/static/page.css"]
    assert read.styles == 0
    for words in (kind.code, kind.title, kind.resolution, str(kind.status)):
        assert words in read.text
    assert f'"type": "https://api.example.org/problems/{kind.slug}"' in read.text


def test_markup_in_a_text_is_no_markup() -> None:
    odd = problem.ProblemType("ODD", 400, "<b>Odd</b>", "Send <script>.")
    assert Reader(problem_page(odd)).text.count("<script>") == 2
