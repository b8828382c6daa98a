"""The documents say what the operations declare, in a form that generators understand."""

import json
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import jsonschema_rs
import pytest

from svc_core.access.model import KEYS
from svc_core.catalog.openapi.failures import failure_responses
from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.contract import problem
from svc_core.contract.result import Content, Page, Single
from svc_core.operation.declaration import JSON, TEXT, Operation, Target
from tests.late import Late

VALIDATION = Late("openapi_spec_validator")

BASE = "https://api.example.com"
DATA = "https://data.example.com"
PROBLEM_MEMBERS = {
    "type", "title", "status", "detail", "instance", "code", "requestId", "resolution",
}  # fmt: skip


@pytest.fixture(scope="module", params=[False, True], ids=["spec form", "flat"])
def api_document(request: pytest.FixtureRequest, operations: Any) -> dict[str, Any]:
    return build_openapi(operations, base_url=BASE, data_url=DATA, flat=request.param)


@pytest.fixture(scope="module")
def operation_objects(operations: Any) -> dict[str, dict[str, Any]]:
    """The operation objects of the spec's form by operationId."""
    paths = build_openapi(operations, base_url=BASE)["paths"].values()
    return {item["operationId"]: item for path in paths for item in path.values()}


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


def test_the_document_is_the_same_every_time(operations: Any) -> None:
    twice = [json.dumps(build_openapi(operations, base_url=BASE, flat=True)) for _ in range(2)]
    assert twice[0] == twice[1]


def test_every_reference_leads_somewhere(api_document: dict[str, Any]) -> None:
    for item in walk(api_document):
        if "$ref" in item:
            target: Any = api_document
            for step in item["$ref"].removeprefix("#/").split("/"):
                target = target[step]


def test_the_specs_form_puts_v1_on_top_and_v2_overrides_it(operations: Any) -> None:
    api_document = build_openapi(operations, base_url=BASE, data_url=DATA)
    assert [server["url"] for server in api_document["servers"]] == [
        f"{BASE}/api/v1",
        f"{DATA}/api/v1",
    ]
    assert [server["url"] for server in build_openapi(operations, base_url=BASE)["servers"]] == [
        f"{BASE}/api/v1"
    ]
    assert "servers" not in api_document["paths"]["/things"]["get"]
    (server,) = api_document["paths"]["/ask"]["post"]["servers"]
    assert server["url"] == f"{BASE}/api/v2"


def test_the_flat_form_has_one_origin_and_full_paths(operations: Any) -> None:
    api_document = build_openapi(operations, base_url=BASE, data_url=DATA, flat=True)
    assert [server["url"] for server in api_document["servers"]] == [BASE]
    assert set(api_document["paths"]) == {
        "/api/v1/things",
        "/api/v1/things/{thingId}",
        "/api/v2/things/{thingId}/bare",
        "/api/v2/ask",
        "/api/v1/changes",
    }
    assert all("servers" not in item for item in walk(api_document["paths"]))


def test_both_forms_describe_the_same_operations(operations: Any) -> None:
    forms = []
    for flat in (False, True):
        paths = build_openapi(operations, base_url=BASE, flat=flat)["paths"].values()
        items = [item for path in paths for item in path.values()]
        forms.append([{**item, "servers": None} for item in items])
    assert forms[0] == forms[1]


def test_two_operations_cannot_claim_one_address(operations: Any, make: Any, kit: Any) -> None:
    again = make("again", "GET", "/things", kit.NoInput, Page[kit.Thing])
    with pytest.raises(TypeError, match="GET /things is declared twice"):
        build_openapi((*operations, again), base_url=BASE)


def test_a_result_that_is_none_cannot_be_described(make: Any, kit: SimpleNamespace) -> None:
    odd = make("odd", "GET", "/odd", kit.NoInput, kit.Thing)
    with pytest.raises(TypeError, match="which is no result"):
        build_openapi((odd,), base_url=BASE)


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
            assert set(item["application/json"]["schema"]) <= {"$ref"}


def test_every_example_satisfies_its_schema(api_document: dict[str, Any]) -> None:
    count = 0
    for item in walk(api_document["paths"]):
        if "schema" in item and "example" in item:
            schema = {**item["schema"], "components": api_document["components"]}
            jsonschema_rs.validate(schema, item["example"])
            count += 1
    assert count >= 8


def test_no_component_is_left_unused(api_document: dict[str, Any]) -> None:
    used = {item["$ref"] for item in walk(api_document) if "$ref" in item}
    for kind in ("schemas", "headers", "examples"):
        names = {f"#/components/{kind}/{name}" for name in api_document["components"][kind]}
        assert names <= used


# -- parameters and bodies ---------------------------------------------------------------------


def parameters(item: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {parameter["name"]: parameter for parameter in item["parameters"]}


def test_parameters_carry_place_bounds_default_and_words(operation_objects: dict[str, Any]) -> None:
    parameters_ = parameters(operation_objects["listThings"])
    assert list(parameters_) == ["limit", "cursor", "kinds", "since", "datetime", "format",
                            "PAYMENT-SIGNATURE"]  # fmt: skip
    assert parameters_["limit"] == {
        "name": "limit",
        "in": "query",
        "description": "Rows in one page.",
        "required": False,
        "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
    }
    assert (parameters_["kinds"]["style"], parameters_["kinds"]["explode"]) == ("form", False)
    assert parameters_["since"]["deprecated"] is True
    assert parameters_["format"]["schema"] == {
        "type": "string",
        "enum": ["json", "ndjson", "geojson"],
        "default": "json",
    }


def test_a_path_value_is_required_and_has_its_pattern(operation_objects: dict[str, Any]) -> None:
    value = parameters(operation_objects["getThing"])["thingId"]
    assert (value["in"], value["required"]) == ("path", True)
    assert value["schema"] == {
        "type": "string",
        "pattern": "^thg_[a-f0-9]{24}$",
        "examples": ["thg_65f1c0de8badf00d12345678"],
    }


@pytest.mark.parametrize(
    ("id_", "headers"),
    [
        ("listThings", {"PAYMENT-SIGNATURE": False}),
        ("createThing", {"X-Agent": False, "Idempotency-Key": True}),
        ("getThing", {"If-None-Match": False}),
        ("bareThing", {"If-None-Match": False}),
        ("changeThing", {"If-Match": False, "Idempotency-Key": False}),
        ("deleteThing", {"If-Match": False}),
        ("ask", {}),
    ],
)
def test_headers_that_the_declaration_implies_are_parameters(
    operation_objects: dict[str, Any], id_: str, headers: dict[str, bool]
) -> None:
    names = {
        name: parameter["required"]
        for name, parameter in parameters(operation_objects[id_]).items()
        if parameter["in"] == "header"
    }
    assert names == headers


def test_a_header_list_has_no_query_style(make: Any, kit: SimpleNamespace) -> None:
    from_header = make("h", "GET", "/h", kit.HeaderList, Page[kit.Thing])
    (path,) = build_openapi((from_header,), base_url=BASE)["paths"].values()
    (parameter,) = path["get"]["parameters"]
    assert parameter["style"] == "simple"


def test_a_declared_header_is_not_written_twice(make: Any, kit: SimpleNamespace) -> None:
    target = Target(KEYS, "thing_id")
    own = make("own", "DELETE", "/own", kit.OwnIfMatch, Page[kit.Thing], target=target)
    (path,) = build_openapi((own,), base_url=BASE)["paths"].values()
    assert [item["name"] for item in path["delete"]["parameters"]] == ["If-Match"]


def test_bodies_are_named_closed_and_have_examples(
    operation_objects: dict[str, Any], api_document: dict[str, Any]
) -> None:
    body = operation_objects["createThing"]["requestBody"]
    assert (body["description"], body["required"]) == ("The thing.", True)
    assert body["content"] == {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/ThingInput"},
            "example": {"name": "Anvil"},
        }
    }
    assert api_document["components"]["schemas"]["ThingInput"]["additionalProperties"] is False


def test_a_body_without_words_or_example_has_none(make: Any, kit: SimpleNamespace) -> None:
    plain = make("code", "POST", "/code", kit.SendCode, Page[kit.Thing])
    (path,) = build_openapi((plain,), base_url=BASE)["paths"].values()
    assert path["post"]["requestBody"] == {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/CodeInput"}}},
    }


def test_a_patch_is_taken_as_json_and_as_merge_patch(operation_objects: dict[str, Any]) -> None:
    assert list(operation_objects["changeThing"]["requestBody"]["content"]) == [
        "application/json",
        "application/merge-patch+json",
    ]
    assert "requestBody" not in operation_objects["getThing"]


# -- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "status", "bodies"),
    [
        ("createThing", "201", {"application/json": "#/components/schemas/ThingOne"}),
        ("changeThing", "200", {"application/json": "#/components/schemas/ThingOne"}),
        ("bareThing", "200", {"application/json": "#/components/schemas/Thing"}),
        ("follow", "200", {"application/json": "#/components/schemas/ThingPage"}),
        (
            "getThing",
            "200",
            {
                "application/json": "#/components/schemas/ThingOne",
                "text/markdown": "string",
                "text/plain": "string",
            },
        ),
        (
            "listThings",
            "200",
            {
                "application/json": "#/components/schemas/ThingPage",
                "application/x-ndjson": "string",
                "application/geo+json": "#/components/schemas/FeatureCollection",
            },
        ),
        ("ask", "200", {"text/event-stream": None}),
        ("deleteThing", "204", {}),
    ],
)
def test_a_success_has_its_status_and_representations(
    operation_objects: dict[str, Any], id_: str, status: str, bodies: dict[str, str | None]
) -> None:
    (success,) = [key for key in operation_objects[id_]["responses"] if key.startswith("2")]
    content = operation_objects[id_]["responses"][success].get("content", {})
    schemas = {name: entry["schema"] for name, entry in content.items()}
    assert success == status
    assert {name: item.get("$ref", item.get("type")) for name, item in schemas.items()} == bodies


def test_an_answer_with_two_shapes_names_both(make: Any, kit: SimpleNamespace) -> None:
    two = make("two", "GET", "/two", kit.NoInput, Single[kit.Thing] | Single[kit.Part])
    (path,) = build_openapi((two,), base_url=BASE)["paths"].values()
    assert path["get"]["responses"]["200"]["content"]["application/json"]["schema"] == {
        "anyOf": [
            {"$ref": "#/components/schemas/ThingOne"},
            {"$ref": "#/components/schemas/PartOne"},
        ]
    }


def test_lines_of_json_hold_the_rows_of_the_json_example(operation_objects: dict[str, Any]) -> None:
    content = operation_objects["listThings"]["responses"]["200"]["content"]
    lines = content["application/x-ndjson"]["example"].splitlines()
    assert [json.loads(line) for line in lines] == content["application/json"]["example"]["data"]
    assert content["application/geo+json"]["example"]["type"] == "FeatureCollection"


def test_a_declared_example_of_a_text_is_shown(make: Any, kit: SimpleNamespace) -> None:
    rows = make(
        "told", "GET", "/told", kit.NoInput, Single[kit.Thing] | Content,
        media=(JSON, TEXT), examples={"text/plain": "Anvil\n"},
    )  # fmt: skip
    (path,) = build_openapi((rows,), base_url=BASE)["paths"].values()
    content = path["get"]["responses"]["200"]["content"]
    assert content["text/plain"] == {"schema": {"type": "string"}, "example": "Anvil\n"}


def test_envelopes_are_the_specs(api_document: dict[str, Any]) -> None:
    schemas = api_document["components"]["schemas"]
    assert schemas["ThingPage"]["required"] == ["data", "meta", "links"]
    assert schemas["ThingPage"]["properties"]["data"]["items"] == {
        "$ref": "#/components/schemas/Thing"
    }
    assert schemas["PageMeta"]["required"] == ["pageCount", "page"]
    assert schemas["PageMeta"]["properties"]["count"]["deprecated"] is True
    assert schemas["ThingOne"]["required"] == ["data"]


@pytest.mark.parametrize(
    ("id_", "status", "present", "absent"),
    [
        (
            "listThings",
            "200",
            {"X-Request-Id", "X-Svc-API-Version", "X-Svc-Schema-Version", "Link", "Deprecation",
             "Sunset", "X-RateLimit-Limit-Minute", "X-RateLimit-Remaining-User-Day"},
            {"ETag", "Location", "Idempotency-Key"},
        ),
        (
            "createThing",
            "201",
            {"ETag", "Location", "Idempotency-Key", "Idempotency-Replayed"},
            {"Link", "Deprecation"},
        ),
        ("getThing", "304", {"ETag", "X-Request-Id"}, {"Link"}),
        ("deleteThing", "204", {"X-Request-Id"}, {"ETag"}),
        (
            "ask",
            "200",
            {"X-Svc-Agent-RateLimit-Limit-Minute", "X-Svc-Agent-RateLimit-Account-Remaining-Day"},
            {"X-Svc-Schema-Version"},
        ),
        ("follow", "200", {"X-Request-Id"}, {"X-RateLimit-Limit-Minute"}),
        ("createThing", "401", {"WWW-Authenticate"}, {"Retry-After"}),
        ("createThing", "409", {"Retry-After"}, set()),
        ("listThings", "200", {"PAYMENT-RESPONSE", "X-Svc-Payment-Receipt"}, {"PAYMENT-REQUIRED"}),
        ("listThings", "402", {"PAYMENT-REQUIRED", "PAYMENT-RESPONSE"}, set()),
        ("createThing", "201", {"X-Request-Id"}, {"PAYMENT-RESPONSE"}),
        ("ask", "402", {"X-Request-Id"}, {"PAYMENT-REQUIRED"}),
        ("deleteThing", "412", {"ETag"}, set()),
        ("deleteThing", "409", {"X-Request-Id"}, {"Retry-After"}),
        ("listThings", "429", {"Retry-After", "RateLimit", "X-RateLimit-Limit-Minute"}, set()),
        ("ask", "429", {"Retry-After", "RateLimit", "X-RateLimit-Limit-Minute"}, set()),
        ("listThings", "503", {"Retry-After"}, set()),
        ("listThings", "400", {"X-Request-Id", "RateLimit"}, {"Retry-After", "ETag"}),
        ("listThings", "401", {"WWW-Authenticate"}, {"RateLimit"}),
        ("listThings", "403", {"WWW-Authenticate"}, {"RateLimit"}),
    ],
)  # fmt: skip
def test_answers_carry_their_headers(
    operation_objects: dict[str, Any], id_: str, status: str, present: set[str], absent: set[str]
) -> None:
    headers = set(operation_objects[id_]["responses"][status]["headers"])
    assert present <= headers
    assert not absent & headers


def test_a_created_resource_links_to_what_can_be_done_with_it(
    operation_objects: dict[str, Any],
) -> None:
    links = operation_objects["createThing"]["responses"]["201"]["links"]
    assert links == {
        name: {"operationId": name, "parameters": {"thingId": "$response.body#/data/id"}}
        for name in ("getThing", "changeThing", "deleteThing")
    }
    assert "links" not in operation_objects["changeThing"]["responses"]["200"]


# -- access, price, paging ---------------------------------------------------------------------


def test_scopes_prices_and_keys_are_told(operation_objects: dict[str, Any]) -> None:
    assert operation_objects["createThing"]["x-required-scopes"] == ["things:admin", "things:write"]
    assert operation_objects["createThing"]["security"] == [{"bearerAuth": []}]
    assert operation_objects["listThings"]["security"] == [{"bearerAuth": []}, {"x402": []}]
    assert operation_objects["listThings"]["x-x402"] == {
        "version": 2,
        "scheme": "exact",
        "tier": "T3_ENRICHED",
        "price": {"mode": "fixed", "currency": "USD", "amount": "0.01"},
        "asset": "USDC",
        "networks": {"production": "eip155:8453", "development": "eip155:84532"},
        "maxTimeoutSeconds": 300,
        "headers": {
            "challenge": "PAYMENT-REQUIRED",
            "payment": "PAYMENT-SIGNATURE",
            "settlement": "PAYMENT-RESPONSE",
        },
        "settlement": "before-response",
        "extensions": ["payment-identifier"],
    }
    # Merit-Systems/x402scan, docs/DISCOVERY.md
    assert operation_objects["listThings"]["x-payment-info"] == {
        "price": {"mode": "fixed", "currency": "USD", "amount": "0.01"},
        "protocols": [{"x402": {}}],
    }
    assert operation_objects["follow"]["security"] == []
    assert "x-required-scopes" not in operation_objects["follow"]
    assert not {"x-x402", "x-payment-info"} & operation_objects["createThing"].keys()
    assert "PAYMENT-SIGNATURE" not in parameters(operation_objects["createThing"])


def test_lists_say_how_to_go_on(operation_objects: dict[str, Any]) -> None:
    hint = operation_objects["listThings"]["x-speakeasy-pagination"]
    assert hint["inputs"] == [{"name": "cursor", "in": "parameters", "type": "cursor"}]
    assert operation_objects["listThings"]["x-fern-pagination"]["cursor"] == "$request.cursor"
    assert "x-speakeasy-pagination" not in operation_objects["follow"]
    assert "x-speakeasy-pagination" not in operation_objects["getThing"]


# -- words -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id_", "rows", "untold"),
    [
        ("listThings", ["`meta.page.nextCursor` back as `cursor`", "0.01 US dollars", "`ndjson`"],
         ["`If-None-Match`", "`Idempotency-Key`", "`If-Match`"]),
        ("createThing", ["`Idempotency-Key` is required", "24 hours", "`Location`",
                         "`things:admin` or `things:write`"],
         ["Paging", "x402", "Forms"]),
        ("changeThing", ["`Idempotency-Key` may be sent", "`If-Match`"], ["`Location`"]),
        ("getThing", ["`If-None-Match`", "`If-Match`", "`markdown` (text/markdown)"],
         ["Lost updates"]),
        ("ask", ["bound to a workspace"], ["`ETag`"]),
        ("follow", ["No key is needed"], ["scope", "Paging"]),
    ],
)  # fmt: skip
def test_a_description_tells_what_its_declaration_promises(
    operation_objects: dict[str, Any], id_: str, rows: list[str], untold: list[str]
) -> None:
    words = operation_objects[id_]["description"]
    assert words.startswith(f"Description of {id_}.")
    assert [part for part in rows if part not in words] == []
    assert [part for part in untold if part in words] == []


def test_a_key_without_a_scope_is_told_nothing_of_scopes(make: Any, kit: Any) -> None:
    scopeless = make("me", "GET", "/me", kit.NoInput, Page[kit.Thing], scopes=frozenset())
    (path,) = build_openapi((scopeless,), base_url=BASE)["paths"].values()
    assert path["get"]["description"] == "Description of me."


# -- failures ----------------------------------------------------------------------------------

ALWAYS = {400, 414, 500, 503}
KEYED_STATUSES = ALWAYS | {401, 403, 429}


@pytest.mark.parametrize(
    ("id_", "statuses"),
    [
        ("listThings", KEYED_STATUSES | {402, 406, 409}),
        ("createThing", KEYED_STATUSES | {406, 408, 409, 413, 415}),
        ("getThing", KEYED_STATUSES | {404, 406, 412}),
        ("changeThing", KEYED_STATUSES | {404, 406, 408, 409, 412, 413, 415}),
        ("deleteThing", KEYED_STATUSES | {404, 406, 409, 412}),
        ("bareThing", KEYED_STATUSES | {404, 406, 412}),
        ("ask", KEYED_STATUSES | {402, 408, 413, 415}),
        ("follow", ALWAYS | {406}),
    ],
)
def test_failures_derive_from_the_declaration(
    by_id: dict[str, Operation[Any, Any]],
    operation_objects: dict[str, Any],
    id_: str,
    statuses: set[int],
) -> None:
    assert {kind.status for kind in failure_responses(by_id[id_])} == statuses
    response_statuses = {int(status) for status in operation_objects[id_]["responses"]}
    assert {status for status in response_statuses if status >= 400} == statuses


@pytest.mark.parametrize(
    ("id_", "kind", "expected"),
    [
        ("listThings", problem.CONFLICTING_PARAMETERS, True),
        ("listThings", problem.NEWS_NOT_READY, True),
        ("listThings", problem.INVALID_CURSOR, True),
        ("getThing", problem.INVALID_CURSOR, False),
        ("listThings", problem.MISSING_API_KEY, False),
        ("createThing", problem.MISSING_API_KEY, True),
        ("createThing", problem.IDEMPOTENCY_KEY_REQUIRED, True),
        ("changeThing", problem.IDEMPOTENCY_KEY_REQUIRED, False),
        ("changeThing", problem.INVALID_IDEMPOTENCY_KEY, True),
        ("getThing", problem.STORAGE_UNAVAILABLE, False),
        ("deleteThing", problem.STORAGE_UNAVAILABLE, True),
        ("ask", problem.AGENT_RATE_LIMITED, True),
        ("ask", problem.RATE_LIMITED, False),
        ("ask", problem.WORKSPACE_KEY_REQUIRED, True),
        ("getThing", problem.WORKSPACE_KEY_REQUIRED, False),
        ("follow", problem.INSUFFICIENT_SCOPE, False),
    ],
)
def test_a_code_is_listed_exactly_where_it_can_occur(
    by_id: dict[str, Operation[Any, Any]], id_: str, kind: problem.ProblemType, expected: bool
) -> None:
    assert (kind in failure_responses(by_id[id_])) is expected


def test_an_operation_without_scopes_still_needs_its_key(make: Any, kit: Any) -> None:
    scopeless = make("me", "GET", "/me", kit.NoInput, Page[kit.Thing], scopes=frozenset())
    codes = {kind.code for kind in failure_responses(scopeless)}
    assert "MISSING_API_KEY" in codes
    assert "INSUFFICIENT_SCOPE" not in codes


def test_failures_come_in_the_order_of_the_catalogue(
    by_id: dict[str, Operation[Any, Any]],
) -> None:
    order = list(problem.CATALOGUE.values())
    places = [order.index(kind) for kind in failure_responses(by_id["changeThing"])]
    assert places == sorted(places)


def test_every_problem_has_an_example_of_the_real_shape(
    operations: Any, api_document: dict[str, Any]
) -> None:
    examples = api_document["components"]["examples"]
    assert set(examples) == {kind.code for item in operations for kind in failure_responses(item)}
    schema = api_document["components"]["schemas"]["Problem"]
    assert set(schema["required"]) == PROBLEM_MEMBERS
    for code, example in examples.items():
        jsonschema_rs.validate(schema, example["value"])
        assert set(example["value"]) == PROBLEM_MEMBERS
        assert example["value"]["code"] == code
        assert re.fullmatch(rf"{BASE}/problems/[a-z0-9-]+", example["value"]["type"])


def test_a_failure_names_its_codes(operation_objects: dict[str, Any]) -> None:
    missing = operation_objects["getThing"]["responses"]["404"]
    assert missing["description"] == "Resource not found (`NOT_FOUND`)."
    assert missing["content"]["application/problem+json"]["examples"] == {
        "NOT_FOUND": {"$ref": "#/components/examples/NOT_FOUND"}
    }
