"""Every operation of the catalogue has one address, and every input of it a field that works."""

from typing import get_args

import pytest

from svc_core.access.scopes import SCOPES
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import Trait
from svc_core.operation.inputs import inputs_of
from svc_core.wire import shapes
from svc_http.dashboard.control_texts import control_words, json_value, query_text, value_texts
from svc_http.dashboard.form_fields import fields_of
from svc_http.dashboard.forms import request_of, with_faults, with_row, with_values
from svc_http.dashboard.page_addresses import (
    BY_ID,
    EVERY,
    page_address,
    page_ids,
    paths_of,
    show_of,
    steps_of,
    tail_of,
)
from tests.themes import each

WORKSPACE = "wsp_" + "a" * 24
WORDS = """
pick picks text longtext number lines choice choices instant check span pairs json box interval
"""
KINDS = set(WORDS.split())


def inputs_within(items, within=()):
    """The names of inputs, those of models within the body each by itself."""
    for item in items:
        inner, _ = shapes.plain_type(item.annotation)
        if item.place in {"member", "body"} and shapes.is_model(inner):
            path = (*within, item.name) if item.place == "member" else within
            yield from inputs_within(inputs_of(inner), path)
        else:
            yield ".".join((*within, item.name)), item


each_operation = each(EVERY)


# -- addresses ---------------------------------------------------------------------------------


def test_no_two_operations_share_an_address() -> None:
    paths = [path for operation in EVERY for path in paths_of(operation)]

    assert len(paths) == len(set(paths))
    assert all(paths_of(operation) for operation in EVERY)


@each_operation
def test_an_address_is_of_the_words_of_the_command_line(operation) -> None:
    ids = {name: f"{name}/1" for name in page_ids(operation)}
    address = page_address(operation, WORKSPACE, ids, limit="5")

    own, _, query = address.partition("?")
    assert query == "limit=5"
    assert own.startswith((f"/dashboard/w/{WORKSPACE}/{operation.group}", "/dashboard/operate/"))
    assert all(f"{name}/1" in own or f"{name}%2F1" in own for name in ids)


@pytest.mark.parametrize(
    ("id_", "tail"),
    {
        "listNews": "news",
        "getNewsItem": "news/{newsId}",
        "createProfile": "profiles/new",
        "updateProfile": "profiles/{profileId}/edit",
        "archiveProject": "projects/{projectId}/archive",
        "redeliverEvent": "webhooks/{webhookId}/redeliver/{eventId}",
        "listRecaps": "news/recaps",
        "getTile": "ledger/tile/{+tile}",
        "getKey": "keys/{keyId}",
        "streamChat": "agent/stream-chat",
    }.items(),
)
def test_where_pages_are(id_, tail) -> None:
    assert tail_of(BY_ID[id_]) == tail


@pytest.mark.parametrize(
    ("list_", "row"),
    {
        "listNews": "getNewsItem",
        "listRecaps": "getRecap",
        "listAutomationRuns": "getAutomationRun",
        "listKeys": "getKey",
        "createProfile": "getProfile",
        "listUsers": None,
        "listNewsFeeds": None,
    }.items(),
)
def test_what_shows_a_row_of_a_list(list_, row) -> None:
    shown = show_of(BY_ID[list_])

    assert (shown and shown.id) == row


def test_a_row_leads_to_what_takes_its_id() -> None:
    id_ = "prf_" + "1" * 24
    steps = {each.id: ids for each, ids in steps_of("profiles", {"profileId": id_}, {})}

    assert {"getProfile", "updateProfile", "deleteProfile", "generateReport"} <= steps.keys()
    assert "getReport" not in steps
    assert steps["generateReport"] == {"profileId": id_}


def test_a_row_without_a_page_leads_to_forms_that_hold_its_id() -> None:
    id_ = "src_" + "1" * 24
    steps = {each.id: ids for each, ids in steps_of("sources", {}, {"id": id_})}

    assert steps["pullSources"] == {"sourceIds": id_}
    address = page_address(BY_ID["pullSources"], None, {"sourceIds": id_})
    assert address == f"/dashboard/operate/sources/pull?sourceIds={id_}"


@pytest.mark.parametrize(
    ("group", "kind"),
    [
        ("search", "obs"),
        ("osint", "obs"),
        ("users", "usr"),
        ("workspaces", "wsp"),
        ("reports", "rpt"),
    ],
)
def test_an_id_that_several_kinds_have_leads_nowhere_else(group, kind) -> None:
    steps = steps_of(group, {}, {"id": f"{kind}_" + "1" * 24})

    assert {each.group for each, _ in steps} <= {group}


# -- fields ------------------------------------------------------------------------------------


@each_operation
def test_every_input_is_a_field(operation) -> None:
    fields = {field.name for field in fields_of(operation)}

    missing = {
        name
        for name, item in inputs_within(inputs_of(operation.request))
        if not {name} & {*fields, *page_ids(operation), "cursor"}
        and item.place != "header"
        and Trait.LIVE not in item.traits
    }
    assert missing == set()


@each_operation
def test_every_field_says_what_it_is(operation) -> None:
    for field in fields_of(operation):
        assert field.hint, field.name
        assert field.label[0].isupper(), field.label
        assert field.kind in KINDS
        assert not field.name.startswith("_"), "that is for the page itself"


@each_operation
def test_the_example_of_a_field_comes_back_as_it_was(operation) -> None:
    for _, item in inputs_within(inputs_of(operation.request)):
        for field in fields_of(operation):
            if field.name.endswith(item.name) and item.place == "query" and field.example:
                assert item.read(
                    query_text(field.kind, control_words(field.kind, (field.example,)))
                )


@each_operation
def test_a_list_of_texts_takes_a_value_a_line(operation) -> None:
    fields = {field.name: field for field in fields_of(operation)}
    for name, item in inputs_within(inputs_of(operation.request)):
        inner, _ = shapes.plain_type(item.annotation)
        if name in fields and shapes.is_tuple(inner) and not shapes.items_of(inner):
            base, _ = shapes.plain_type(get_args(inner)[0])
            field, word = fields[name], "7" if base is int else "word"
            if base in {str, int}:
                value = json_value(
                    field.kind, control_words(field.kind, (word,)), is_json=field.is_json
                )
                assert value == [base(word)], name


def test_a_list_of_names_takes_a_name_a_line() -> None:
    operation = BY_ID["matchEntities"]

    request = request_of(operation, fields_of(operation), {"lines": ("Ann Lee\nBen Or",)}, {})

    assert request.body["lines"] == [{"name": "Ann Lee"}, {"name": "Ben Or"}]


def test_scopes_are_chosen_by_their_words() -> None:
    (field,) = (each for each in fields_of(BY_ID["createKey"]) if each.name == "scopes")

    assert field.kind == "choices"
    assert field.options == tuple(SCOPES.items())


VALUES = [
    ("text", False, "words"),
    ("number", True, 3),
    ("number", True, 0.25),
    ("lines", False, ["a", "b c"]),
    ("lines", True, [1, 2]),
    ("choices", False, ["a", "b"]),
    ("choice", True, False),
    ("check", True, True),
    ("span", True, 5_400),
    ("span", True, 86_400),
    ("instant", False, "2026-01-31T09:30:00Z"),
    ("instant", False, "2026-01-31T09:30:00.250Z"),
    ("pairs", False, {"a": "b=c", "d": ""}),
    ("json", True, {"a": [1, {"b": None}]}),
]


@pytest.mark.parametrize(("kind", "is_json", "value"), VALUES)
def test_a_value_stands_in_its_control_and_comes_back(kind, is_json, value) -> None:
    texts = value_texts(kind, value)
    # A browser sends one text for a control of several lines.
    sent = texts if kind == "choices" else ("\r\n".join(texts).replace("\r\n", "\n"),)

    assert json_value(kind, control_words(kind, sent), is_json=is_json) == value


@pytest.mark.parametrize(
    ("kind", "texts", "text"),
    [
        ("instant", ("2026-01-31T09:30",), "2026-01-31T09:30:00Z"),
        ("instant", ("2026-01-31T09:30:00+01:00",), "2026-01-31T09:30:00+01:00"),
        ("instant", ("yesterday",), "yesterday"),
        ("span", ("15m",), "900"),
        ("span", ("soon",), "soon"),
        ("lines", ("a\nb",), "a,b"),
        ("choices", ("a", "b"), "a,b"),
        ("choices", ("a,b",), "a,b"),
        ("lines", ("a, b",), "a,b"),
        ("interval", ("2026-01-31T09:30", ""), "2026-01-31T09:30:00Z/.."),
        ("interval", ("2026-01-31T09:30:00Z/..",), "2026-01-31T09:30:00Z/.."),
        ("interval", ("../2026-01-31T09:30:00+01:00",), "../2026-01-31T09:30:00+01:00"),
        ("interval", ("2026-01-31T09:30:00Z",), "2026-01-31T09:30:00Z"),
        ("box", ("1", "2", "3", "4"), "1,2,3,4"),
        ("box", ("1,2,3,4",), "1,2,3,4"),
    ],
)
def test_a_control_makes_a_parameter(kind, texts, text) -> None:
    assert query_text(kind, control_words(kind, texts)) == text


def test_the_parts_of_an_area_and_of_an_interval_stand_in_controls_of_their_own() -> None:
    sent = {"bbox": ("177,-20,-178,-16",), "datetime": ("2026-01-31T00:00:00Z/..",)}

    fields = with_values(fields_of(BY_ID["listOsintEvents"]), sent)

    values = {field.name: field.values for field in fields}
    assert values["bbox"] == ("177", "-20", "-178", "-16")
    assert values["datetime"] == ("2026-01-31T00:00:00", "")


# -- forms -------------------------------------------------------------------------------------

PROFILE = {"profileId": "prf_" + "1" * 24}


def test_a_form_sends_what_differs_from_the_defaults() -> None:
    operation = BY_ID["createProfile"]
    sent = {
        "name": ("Ports",),
        "topic": ("Strikes",),
        "frequency": ("daily",),
        "timezone": ("UTC",),
        "language": ("",),
        "keywords": ("a\n\n b",),
        "scheduleDay": ("3",),
    }

    request = request_of(operation, fields_of(operation), sent, {})

    assert request.json == {
        "name": "Ports",
        "topic": "Strikes",
        "frequency": "daily",
        "keywords": ["a", "b"],
        "scheduleDay": 3,
    }


def test_a_change_in_part_sends_what_was_touched_and_null_for_what_was_cleared() -> None:
    operation = BY_ID["updateProfile"]
    row = {"name": "Ports", "topic": "Strikes", "keywords": ["a"], "scheduleDay": 3}
    fields = with_row(fields_of(operation), row)
    former = '{"name": ["Ports"], "topic": ["Strikes"], "keywords": ["a"], "scheduleDay": ["3"]}'
    sent = {field.name: (field.value,) for field in fields}
    sent |= {"topic": ("Closures",), "keywords": ("",), "scheduleDay": ("",), "_was": (former,)}

    request = request_of(operation, fields, sent, PROFILE)

    assert request.path == PROFILE
    assert request.json == {"topic": "Closures", "keywords": [], "scheduleDay": None}


@pytest.mark.parametrize("former", ["", "[", "[]", "3", '{"name": 3}', "null"])
def test_what_a_form_tells_of_itself_is_not_trusted(former) -> None:
    operation = BY_ID["updateProfile"]

    request = request_of(
        operation, fields_of(operation), {"name": ("Ports",), "_was": (former,)}, PROFILE
    )

    assert request.json == {"name": "Ports"}


def test_members_of_a_model_go_into_it() -> None:
    operation = BY_ID["createAutomation"]
    sent = {"schedule.frequency": ("daily",), "schedule.timezone": ("Europe/Paris",)}

    request = request_of(operation, fields_of(operation), sent, {})

    assert request.json == {"schedule": {"frequency": "daily", "timezone": "Europe/Paris"}}


def test_the_ids_of_a_local_operation_are_members() -> None:
    operation = BY_ID["getKey"]

    assert request_of(operation, (), {}, {"keyId": "key_1"}).json == {"keyId": "key_1"}


def test_a_body_that_is_one_value_is_sent_as_it_is() -> None:
    operation = BY_ID["appendRecords"]
    (field,) = (field for field in fields_of(operation) if field.place == "body")

    request = request_of(operation, (field,), {field.name: ('[{"kind": "claim"}]',)}, {})

    assert request.json == [{"kind": "claim"}]


@pytest.mark.parametrize(
    ("id_", "name", "text"),
    [("appendRecords", "body", "{"), ("addSources", "options", "key")],
)
def test_what_has_no_form_is_refused_at_its_field(id_, name, text) -> None:
    operation = BY_ID[id_]
    fields = fields_of(operation)
    with pytest.raises(Problem) as refused:
        request_of(operation, fields, {name: (text,)}, {})

    marked, rest = with_faults(fields, refused.value)

    assert [field.name for field in marked if field.error] == [name]
    assert rest == []


def test_faults_stand_at_their_fields_and_the_rest_on_top() -> None:
    operation = BY_ID["createAutomation"]
    detail = (
        "/schedule/timezone: must be a zone; or UTC; /name: is required; /name: is odd; /new: x; "
        "/projectId/0: is no id; and 3 more"
    )
    refusal = Problem(problem.VALIDATION_FAILED, detail)

    fields, rest = with_faults(fields_of(operation), refusal)

    errors = {field.name: field.error for field in fields if field.error}
    assert errors["name"] == "is required; is odd"
    assert errors["projectId"] == "0: is no id"
    assert errors["schedule.timezone"].startswith("must be a zone")
    assert rest[-2:] == ["/new: x", "and 3 more"]


def test_what_was_typed_is_kept() -> None:
    fields = with_values(
        fields_of(BY_ID["createProfile"]), {"name": (" Ports ",), "keywords": ("a\nb",)}
    )

    values = {field.name: field.value for field in fields}
    assert values["name"] == "Ports"
    assert values["keywords"] == "a\nb"
    assert values["timezone"] == ""
