"""Operations as tools: arguments become requests, or are refused."""

import json
from typing import Any

import jsonschema_rs
import pytest

from svc_core.base import drive
from svc_core.catalog import OPERATIONS, tools
from svc_core.catalog.tool_schemas import concise_object
from svc_core.catalog.tools import TOOLS, CallersTools, Tool, tool_spec
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.wire.schema import Schemas

BY_NAME = {tool.name: tool for tool in TOOLS}
EXPLANATION = {"type": "string", "const": "match"}
PROFILE = f"prf_{'0' * 24}"
REPORT = f"rpt_{'0' * 24}"


WRITING = {"generate_report"}


def test_every_tool_has_a_name_and_a_schema_of_its_own_and_one_writes() -> None:
    assert len(BY_NAME) == len(TOOLS)
    for tool in TOOLS:
        assert tool.operation.method == "GET" or tool.name in {"retrieve_knowledge", *WRITING}
        assert tool.operation.writes == (tool.name in WRITING)
        assert tool.operation.scopes
        spec_ = tool_spec(tool)
        jsonschema_rs.Draft202012Validator(spec_.parameters)
        assert spec_.parameters["additionalProperties"] is False
        assert spec_.description


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_model_is_told_every_input_with_its_type_its_values_and_its_bounds(tool: Tool) -> None:
    schemas, shown = Schemas("#/$defs/"), tool_spec(tool).parameters
    inputs = {item.name: schemas.of(item.described, "input") for item in tool.inputs}
    only_explains = {name for name, schema in inputs.items() if schema.get("items") == EXPLANATION}
    hidden = (
        {"tail", "Last-Event-ID", *tool.constants} if not tool.only else {*inputs} - {*tool.only}
    )
    assert shown["properties"].keys() == inputs.keys() - hidden - only_explains
    assert {*shown.get("required", ())} == {item.name for item in tool.inputs if item.required}
    for name, told in shown["properties"].items():
        for part in ("type", "enum", "const", "format", "minimum", "maximum", "$ref"):
            assert told.get(part) == inputs[name].get(part)
            assert told.get("items", {}).get(part) == inputs[name].get("items", {}).get(part)
        for example in inputs[name].get("examples", ()):
            jsonschema_rs.Draft202012Validator({**shown, **told, "required": []}).validate(example)


NAMES_PROMISED = """
    search_reports get_report retrieve_knowledge list_incidents get_incident list_entities
    get_entity entity_graph list_financial_observations entity_fusion list_markets list_finint
    list_signals cyber_graph get_cve list_cves get_actor list_actors search_ledger_subjects
    fold_ledger_subject list_news list_changes list_osint_events generate_report
"""


def test_the_names_of_the_tools_stay() -> None:
    assert {*NAMES_PROMISED.split()} <= BY_NAME.keys()


@pytest.mark.parametrize(
    ("full", "shown"),
    [
        ({"type": "string", "description": "Its place. More."}, {"description": "Its place."}),
        ({"type": "string", "description": "Providers."}, {}),
        ({"type": "string", "examples": ["a", "b"], "maxLength": 3}, {"examples": ["a"]}),
        ({"type": "string", "pattern": "^[a-z]$", "examples": ["d"]}, {"pattern": "^[a-z]$"}),
        ({"type": "string", "pattern": f"^{'[a-z]' * 9}$", "examples": ["d"]}, {"examples": ["d"]}),
        ({"type": "string", "format": "date-time", "examples": ["2026"]}, {"format": "date-time"}),
        ({"type": "string", "enum": ["a"], "description": "A or no."}, {"enum": ["a"]}),
        (
            {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 5,
             "description": "Comma list of names, in any case."},
            {"description": "Names, in any case.", "items": {"type": "string"}},
        ),
        ({"type": "integer", "minimum": 1, "examples": [3]}, {"minimum": 1}),
    ],
)  # fmt: skip
def test_a_model_is_told_an_input_in_the_fewest_words(full: Any, shown: Any) -> None:
    schema = concise_object({"type": "object", "properties": {"a": full}})
    assert schema["properties"]["a"] == {"type": full["type"], **shown}


@pytest.mark.parametrize(
    ("name", "arguments", "path", "query"),
    [
        ("get_report", {"reportId": REPORT}, {"reportId": REPORT}, {"view": "agent"}),
        ("generate_report", {"profileId": PROFILE}, {"profileId": PROFILE}, {}),
        ("list_cves", {}, {}, {}),
        ("list_cves", {"limit": 2, "kev": True, "q": None}, {}, {"limit": "2", "kev": "true"}),
        ("list_cves", {"limit": 2.0, "minScore": 7.5}, {}, {"limit": "2", "minScore": "7.5"}),
        ("list_news", {"topics": ["a", "b"]}, {}, {"topics": "a,b"}),
        ("list_cves", {"q": "ü & = ?"}, {}, {"q": "ü & = ?"}),
    ],
)
def test_arguments_are_the_inputs_of_the_operation(
    name: str, arguments: Any, path: Any, query: Any
) -> None:
    request = tools.build_call(BY_NAME[name], arguments)
    assert (request.path_values, tools.arguments_of(request)) == (path, query)


def test_members_of_a_body_are_sent_as_they_are() -> None:
    arguments = {"query": "ü", "limit": 2, "period": {"start": "2026-01-01T00:00:00Z"}}
    request = tools.build_call(BY_NAME["retrieve_knowledge"], arguments)
    assert (request.path_values, request.query, json.loads(request.body)) == ({}, "", arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "kind", "detail"),
    [
        ("get_report", {}, problem.VALIDATION_FAILED, "reportId"),
        ("get_report", {"reportId": None}, problem.VALIDATION_FAILED, "reportId"),
        ("get_report", {"reportId": REPORT, "view": "full"}, problem.VALIDATION_FAILED, "view"),
        ("list_changes", {"tail": True}, problem.VALIDATION_FAILED, "tail"),
        ("list_cves", {"q": {"a": 1}}, problem.VALIDATION_FAILED, "text"),
        ("list_cves", {"q": [["a", {}]]}, problem.VALIDATION_FAILED, "text"),
        ("list_cves", {"q": "\ud800"}, problem.INVALID_ENCODING, "half"),
    ],
)
def test_arguments_that_are_none_of_its_inputs_are_refused(
    name: str, arguments: Any, kind: Any, detail: str
) -> None:
    with pytest.raises(Problem) as failure:
        tools.build_call(BY_NAME[name], arguments)
    assert failure.value.type is kind
    assert detail in failure.value.detail


def test_a_tool_that_there_is_not_is_refused() -> None:
    no_actor: Any = None
    with pytest.raises(Problem) as failure:
        drive.run(CallersTools({}, no_actor, no_actor, no_actor).call("paint", {}))
    assert failure.value.detail == "There is no tool 'paint'."


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_an_answer_has_the_address_where_a_get_answers_it_or_none(tool: Tool) -> None:
    values = {item.name: PROFILE for item in tool.inputs if item.required}
    path = tools.tool_answer(tool, values, {"data": []}).path
    is_public = tool.operation in OPERATIONS and tool.operation.method == "GET"
    assert (path is not None) == is_public
    assert path is None or path.startswith(tool.operation.address.partition("{")[0])


@pytest.mark.parametrize(
    ("shows", "values", "path"),
    [
        ("getEntity", {"entityId": "ent_1"}, "/api/v2/entities/ent_1"),
        ("getKey", {"keyId": "key_1"}, None),
    ],
)
def test_a_row_of_all_kinds_has_the_address_of_the_operation_that_shows_it(
    shows: str, values: Any, path: str | None
) -> None:
    row = {"id": "ent_1", "title": "Kestrel", "operation": shows, "values": values}
    (hit,) = tools.tool_answer(BY_NAME["search_rows"], {"q": "Kestrel"}, {"data": [row]}).hits
    assert hit.path == path
