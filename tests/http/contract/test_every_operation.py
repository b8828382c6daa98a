"""What holds for every operation of the catalogue, asked of each; later ones come by themselves.

Every answer is held against the OpenAPI document when it comes: status, code, media type, body
and fields. The tests here say which of the documented answers it has to be.
"""

import json
import re
from typing import get_args

import attrs

from svc_core import catalog, wire
from svc_core.access.scopes import SCOPES
from svc_core.contract import problem
from svc_core.contract.result import Bare, Content, Page, Single
from svc_core.operation import readonly
from svc_core.operation.declaration import Trait
from svc_core.operation.inputs import inputs_of
from svc_core.operation.parsing import MERGE_PATCH, request_shape
from svc_core.wire import shapes
from svc_core.wire.constraints import IdOf
from tests.themes import Theme

EVENT_STREAM = "text/event-stream"


def has(place):
    return lambda operation: any(item.place == place for item in inputs_of(operation.request))


def has_input(name):
    return lambda operation: any(item.name == name for item in inputs_of(operation.request))


def is_keyed(operation):
    return operation.auth != "public"


def is_foreign(operation):
    return request_shape(operation).has(Trait.FOREIGN)


def is_streamed(operation):
    return any(offer.media_type == EVENT_STREAM for offer in operation.media)


def ids_of(operation, place="path"):
    """The inputs of an operation that take an identifier there."""
    return [item for item in inputs_of(operation.request) if item.id_of and item.place == place]


EVERYBODYS = {
    collection.prefix for collection in catalog.COLLECTIONS if collection.scope != "tenant"
} | {*("ent", "inc")}  # who takes part in events of news, and these
"""The prefixes of rows that belong to no tenant."""


def is_owned(id_of):
    """Whether what an identifier names belongs to one tenant."""
    return not EVERYBODYS.issuperset(id_of.prefixes)


def is_private(operation):
    return any(is_owned(item.id_of) for item in ids_of(operation))


def digits_of(id_):
    return id_.partition("_")[2]


def made_up(id_):
    """An identifier of the same kind that names nothing."""
    return id_.replace(digits_of(id_), "0" * 24)


def reads_one(operation):
    kinds = {kind for kind, _ in operation.results}
    return operation.method == "GET" and bool(kinds & {Single, Bare, Content}) and ids_of(operation)


def rows_of(answer):
    """The rows of a page; of a graph its edges, of a fusion its timeline and links."""
    data = answer.json()["data"]
    if isinstance(data, dict) and "timeline" in data:
        return [*data["timeline"], *data["links"]]
    return data["edges"] if isinstance(data, dict) and "edges" in data else data


def is_page(operation):
    return any(kind is Page for kind, _ in operation.results)


everywhere, success, access, identifiers, queries, bodies, writes, order = (
    Theme(catalog.OPERATIONS) for _ in range(8)
)
"""What is promised of an operation over every store, and what over one, by what it concerns."""


# -- success -----------------------------------------------------------------------------------


@everywhere.of()
def a_good_request_succeeds_as_documented(each_shared, operation):
    answer = each_shared.send(each_shared.ask_of(operation))
    assert answer.status_code == operation.success, answer.text


def without_charset(answer):
    """The media type of an answer with the parameters that belong to it."""
    return re.sub(r"; *charset=[^;]*", "", answer.headers["content-type"])


@success.of(lambda op: op.method == "GET" and op.success != 204 and not is_streamed(op))
def every_representation_is_given_by_format_and_by_accept(shared, operation):
    ask = shared.ask_of(operation)
    for offer in operation.media:
        answers = [shared.send(ask.having(accept=offer.media_type))]
        if len(operation.media) > 1:
            answers.append(shared.send(ask.asking(("format", offer.format)).having(accept="*/*")))
        for answer in answers:
            assert answer.status_code == 200
            assert without_charset(answer) == offer.media_type
    assert shared.send(ask).headers["content-type"].startswith(operation.media[0].media_type)


@success.of(lambda op: len(op.media) > 1 and not is_streamed(op))
def the_caller_weighs_the_representations(shared, operation):
    ask = shared.ask_of(operation)
    first, second = (offer.media_type for offer in operation.media[:2])
    for accept, media_type in [
        (f"{second};q=0.5, {first};q=0.4", second),
        (f"{first};q=0.4, {second};q=0.5", second),
        (f"{second}, */*;q=0.9", second),
        (f"{second}, {first};q=0.9", second),
        (f"{first};q=0, */*;q=0.1", second),
        ("image/png, */*;q=0.1", first),
        ("nonsense", first),
        ("", first),
    ]:
        answer = shared.send(ask.having(accept=accept))
        assert without_charset(answer) == media_type, accept
        assert answer.headers["vary"] == "Authorization, Accept"
    by_format = shared.send(ask.asking(("format", operation.media[1].format)).having(accept=first))
    assert without_charset(by_format) == second


@success.of(reads_one)
def one_resource_has_a_strong_tag_for_each_representation_and_honours_it(shared, operation):
    ask = shared.ask_of(operation)
    tags = []
    for offer in operation.media:
        first = shared.send(ask.having(accept=offer.media_type))
        tag = first.headers["etag"]
        assert tag.startswith('"')
        tags.append(tag)
        assert first.headers["cache-control"] == "private, no-cache"
        for condition in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = shared.send(ask.having(accept=offer.media_type, if_none_match=condition))
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == tag
            for name in ("cache-control", "vary"):
                assert again.headers.get(name) == first.headers.get(name)
        answer = shared.send(ask.having(accept=offer.media_type, if_none_match='"other"'))
        assert answer.status_code == 200
    assert len(set(tags)) == len(operation.media)


@success.of(reads_one)
def a_read_is_given_only_of_the_version_it_is_asked_for(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    for offer in operation.media:
        request = ask.having(accept=offer.media_type)
        tag = shared.send(request).headers["etag"]
        for condition in (tag, "*", f'"other", {tag}'):
            assert shared.send(request.having(if_match=condition)).status_code == 200
        for condition in ('"other"', f"W/{tag}", "", "other"):
            # Asked for the other way as well, it is still refused (RFC 9110 13.2.2).
            answer = shared.send(request.having(if_match=condition, if_none_match=tag))
            check_problem(answer, problem.PRECONDITION_FAILED)
            assert answer.headers["etag"] == tag


@success.of(lambda op: op.method == "GET" and not is_streamed(op))
def head_answers_as_get_without_the_body(shared, operation):
    ask = shared.ask_of(operation)
    get, head = shared.send(ask), shared.send(ask.evolve(method="HEAD"))
    assert (head.status_code, head.content) == (get.status_code, b"")
    for name in ("content-type", "content-length", "etag", "cache-control", "vary"):
        assert head.headers.get(name) == get.headers.get(name), name


@success.of()
def options_needs_no_key_and_tells_the_methods(shared, operation):
    preflight_fields = {
        "Origin": "https://shop.example",
        "Access-Control-Request-Method": operation.method,
    }
    ask = shared.ask_of(operation).evolve(method="OPTIONS", body=None)
    answer = shared.send(ask, None)
    assert answer.status_code == 204
    assert operation.method in answer.headers["allow"].split(", ")
    preflight = shared.send(ask.evolve(headers=preflight_fields), None)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "*"
    assert operation.method in preflight.headers["access-control-allow-methods"]
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in preflight.headers


@success.of()
def another_method_is_refused_with_those_that_are_allowed(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    methods = {op.method for op in catalog.OPERATIONS if op.address == operation.address}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"} - methods:
        answer = shared.send(ask.evolve(method=method))
        check_problem(answer, problem.METHOD_NOT_ALLOWED)
        assert set(answer.headers["allow"].split(", ")) >= methods


# -- access ------------------------------------------------------------------------------------


@access.of(is_keyed, authorization=[None, "bearer svc_", "Basic eDp5", "Token svc_"])
def without_a_key_it_asks_for_one_or_for_payment(shared, operation, check_problem, authorization):
    answer = shared.send(shared.ask_of(operation).having(authorization=authorization), None)
    is_priced = operation.auth == "bearer-or-x402"
    check_problem(answer, problem.PAYMENT_REQUIRED if is_priced else problem.MISSING_API_KEY)
    assert ("www-authenticate" in answer.headers) != is_priced
    assert ("payment-required" in answer.headers) == is_priced


@access.of(
    is_keyed,
    authorization=[
        *("Bearer", "Bearer ", "Bearer svc_"),
        *("Bearer  svc_{}", "Bearersvc_{}", "Bearer svc_{}x"),
    ],
)
def a_malformed_key_is_refused_and_never_offered_payment(
    shared, operation, check_problem, authorization
):
    shared.clock.forward(minutes=16)
    credential = authorization.format("0" * 64)
    answer = shared.send(shared.ask_of(operation).having(authorization=credential), None)
    check_problem(answer, problem.INVALID_API_KEY)
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert "payment-required" not in answer.headers


@access.of(
    is_keyed,
    refusal=[
        ("svc_" + "0" * 64, problem.INVALID_API_KEY),
        ("revoked", problem.API_KEY_REVOKED),
        ("expired", problem.API_KEY_EXPIRED),
        ("ineligible", problem.PLAN_INELIGIBLE),
        ("elsewhere", problem.IP_NOT_ALLOWED),
    ],
)
def a_key_without_standing_is_refused_for_what_is_wrong_with_it(
    shared, operation, check_problem, refusal
):
    key, kind = refusal
    shared.clock.forward(minutes=16)
    answer = shared.send(shared.ask_of(operation), key)
    check_problem(answer, kind)
    assert ("www-authenticate" in answer.headers) == (kind.status == 401)
    assert "payment-required" not in answer.headers


@access.of(is_keyed)
def a_key_with_one_scope_succeeds_where_that_scope_suffices_and_nowhere_else(
    shared, operation, check_problem
):
    for scope in SCOPES:
        answer = shared.send(shared.ask_of(operation), f"a {scope}")
        if scope in operation.scopes or not operation.scopes:
            assert answer.status_code == operation.success, answer.text
        else:
            body = check_problem(answer, problem.INSUFFICIENT_SCOPE)
            assert all(scope in body["detail"] for scope in operation.scopes)


@access.of(is_keyed)
def a_listed_address_may_call_however_it_is_written(shared, operation):
    for address in ("203.0.113.7", "::ffff:203.0.113.7", " 203.0.113.7 "):
        ask = shared.ask_of(operation).having(cf_connecting_ip=address)
        assert shared.send(ask, "elsewhere").status_code == operation.success
    answer = shared.send(
        shared.ask_of(operation).having(cf_connecting_ip="203.0.113.7"),
        "elsewhere",
        client="198.51.100.9",
    )
    assert answer.json()["code"] == "IP_NOT_ALLOWED"


@access.of(is_keyed)
def a_personal_key_is_refused_by_the_operations_of_workspaces_alone(
    shared, operation, check_problem
):
    place = "a" if operation.binding == "workspace" else "personal"
    answer = shared.send(shared.ask_of(operation, place), "personal")
    if operation.binding == "workspace":
        check_problem(answer, problem.WORKSPACE_KEY_REQUIRED)
    else:
        assert answer.status_code == operation.success, answer.text


@access.of(is_keyed)
def a_grandfathered_key_still_serves(shared, operation):
    shared.clock.forward(minutes=1)
    answer = shared.send(shared.ask_of(operation), "lite")
    # Rows of another tenant are not there, whether the path names them or the body.
    absent = answer.status_code == 404 or "UNKNOWN_SUBJECT" in answer.text
    if operation.pool == "agent":  # its plan has no turns
        assert answer.json()["code"] == "SUBSCRIPTION_REQUIRED"
        return
    assert answer.status_code == operation.success or absent
    if operation.pool == "account":
        assert answer.headers["x-ratelimit-limit-minute"] == "10"


# -- identifiers -------------------------------------------------------------------------------


@everywhere.of(is_private)
def another_tenants_row_is_not_to_be_told_from_one_that_is_not(
    each_shared, operation, check_problem
):
    foreign_ask = each_shared.ask_of(operation, "b")
    if operation.method == "GET":  # its owner reads it first, so that it may be remembered
        assert each_shared.send(foreign_ask, "b").status_code == operation.success
    path = foreign_ask.path
    for item in ids_of(operation):
        id_ = each_shared.id_for(item.id_of, "b")
        path = path.replace(id_, made_up(id_))
    answers = [
        each_shared.send(
            foreign_ask.having(if_match=condition, if_none_match=condition).evolve(path=at)
        )
        for at in (foreign_ask.path, path)
        for condition in (None, "*")
    ]
    bodies = set()
    for answer in answers:
        check_problem(answer, problem.NOT_FOUND)
        bodies.add(answer.text.replace(answer.json()["requestId"], ""))
    assert len(bodies) == 1
    names = [sorted(answer.headers) for answer in answers]
    assert names.count(names[0]) == len(names)
    assert each_shared.send(each_shared.ask_of(operation, "b"), "b").status_code < 300


@identifiers.of(lambda op: reads_one(op) and any(item.id_of.takes_legacy for item in ids_of(op)))
def the_old_form_of_an_identifier_gives_the_same_answer(shared, operation):
    ask = shared.ask_of(operation)
    old = ask.path
    for item in ids_of(operation):
        id_ = shared.id_for(item.id_of)
        old = old.replace(id_, digits_of(id_) if item.id_of.takes_legacy else id_)
    first, second = shared.send(ask), shared.send(ask.evolve(path=old))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.content == second.content
    assert first.headers["etag"] == second.headers["etag"]


@identifiers.of(
    ids_of,
    spoilt=[
        "digits",
        "{}0",
        "{}%20",
        "X{}",
        "%7B{}%7D",
        "{}%5Cn",
        "..%2f{}",
        "%2e%2e",
        "0",
        "%252F",
        "%EF%BC%90",
    ],
)
def what_cannot_be_an_identifier_names_nothing(shared, operation, spoilt):
    ask = shared.ask_of(operation)
    for item in ids_of(operation):
        id_ = shared.id_for(item.id_of)
        bad = digits_of(id_) if spoilt == "digits" else spoilt.format(id_)
        if spoilt == "digits" and item.id_of.takes_legacy:
            continue
        answer = shared.send(ask.evolve(path=ask.path.replace(id_, bad)))
        assert answer.status_code == 404, answer.text
        assert answer.json()["code"] in {"NOT_FOUND", "ROUTE_NOT_FOUND"}


@identifiers.of(ids_of, spoilt=["{}%0A", "%00{}", "{}%7F", "%FF{}"])
def a_path_with_control_characters_or_broken_text_is_malformed(
    shared, operation, check_problem, spoilt
):
    ask = shared.ask_of(operation)
    id_ = shared.id_for(ids_of(operation)[-1].id_of)
    answer = shared.send(ask.evolve(path=ask.path.replace(id_, spoilt.format(id_))))
    check_problem(answer, problem.BAD_REQUEST)


@identifiers.of(lambda op: ids_of(op, "query"))
def a_filter_finds_what_its_identifier_names_and_tells_nothing_of_others(
    shared, operation, check_problem
):
    ask = shared.ask_of(operation)
    for item in ids_of(operation, "query"):
        own_id, foreign_id = (shared.id_for(item.id_of, key) for key in ("a", "b"))
        # The newest one that a key knows may be known from elsewhere: from the graph of a report.
        answer = shared.send(ask)
        own = {row["id"] for row in rows_of(answer) if "id" in row}
        ids = re.findall(f"{item.id_of.prefixes[0]}_[a-f0-9]{{24}}", answer.text)
        own_id = next((id_ for id_ in ids if id_ not in own), own_id)
        matches = shared.send(ask.asking((item.name, own_id)))
        assert rows_of(matches), item.name
        bare = shared.send(ask.asking((item.name, digits_of(own_id))))
        if item.id_of.takes_legacy:
            assert bare.json()["data"] == matches.json()["data"]
        else:
            assert item.name in check_problem(bare, problem.INVALID_PARAMETER)["detail"]
        no_matches = shared.send(ask.asking((item.name, made_up(own_id))))
        assert (no_matches.status_code, rows_of(no_matches)) == (200, [])
        if is_owned(item.id_of):
            foreign_answer = shared.send(ask.asking((item.name, foreign_id)))
            assert (foreign_answer.status_code, foreign_answer.content) == (200, no_matches.content)


def named_in(annotation, path=()):
    """Where a body may name something, and what: the way through it and the kinds."""
    inner, metadata = shapes.split_annotation(annotation)
    kinds = next((item for item in metadata if isinstance(item, IdOf)), None)
    if kinds is not None:
        yield path, kinds
    elif shapes.is_model(inner):
        for member in attrs.fields(inner):
            yield from named_in(member.type, (*path, wire.camel(member.name)))
    elif shapes.is_tuple(inner):
        yield from named_in(get_args(inner)[0], (*path, 0))
    elif shapes.is_union(inner):
        for arg in get_args(inner):
            yield from named_in(arg, path)


def body_ids(operation):
    return [place for item in inputs_of(operation.request) if item.place == "body"
            for place in named_in(item.annotation)]  # fmt: skip


def naming(body, path, id_):
    """The body with an identifier in one place of it."""
    if not path:
        return id_
    if path[0] == 0:
        return [naming(body, path[1:], id_)]
    members = body if isinstance(body, dict) else {}
    return {**members, path[0]: naming(members.get(path[0]), path[1:], id_)}


@identifiers.of(body_ids)
def a_body_that_names_another_tenants_row_is_answered_as_if_there_were_none(shared, operation):
    for path, kinds in body_ids(operation):
        answers = []
        for id_ in (foreign_id := shared.id_for(kinds, "b"), made_up(foreign_id)):
            body = naming(shared.example_body(operation), path, id_)
            ask = shared.ask_of(operation).evolve(body=json.dumps(body).encode())
            answer = shared.send(ask)
            document = answer.json()
            answers.append(answer.text.replace(document.get("requestId", id_), "").replace(id_, ""))
            is_none = answer.status_code == 200 and document["data"] == []
            assert is_none or answer.status_code in {400, 404, 409}, answer.text
        assert answers[0] == answers[1]


# -- queries -----------------------------------------------------------------------------------


@queries.of()
def a_name_that_is_not_known_is_refused_and_the_known_ones_are_told(
    shared, operation, check_problem
):
    ask = shared.ask_of(operation).asking(("colour", "red"))
    body = check_problem(shared.send(ask), problem.UNKNOWN_PARAMETER)
    for item in inputs_of(operation.request):
        assert item.place != "query" or item.name in body["detail"]


@queries.of()
def a_name_that_stands_twice_is_refused(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    names = [item.name for item in inputs_of(operation.request) if item.place == "query"]
    name = (names or ["limit"])[0]
    body = check_problem(
        shared.send(ask.asking((name, "5"), (name, "5"))), problem.DUPLICATE_PARAMETER
    )
    assert name in body["detail"]


BAD_VALUES = ["\u0665", "", "-1", "no such value", "a,,b", "0" * 5000]


@queries.of(has("query"))
def a_bad_value_is_refused_by_name(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    for item in inputs_of(operation.request):
        if item.place != "query":
            continue
        for value in BAD_VALUES:
            answer = shared.send(ask.asking((item.name, value)))
            if _reads(item, value):
                assert answer.status_code < 500, answer.text
            else:
                assert item.name in check_problem(answer, item.refusal)["detail"]


def _reads(item, value):
    try:
        item.read(value)
    except ValueError:
        return False
    return True


def parts_of(shared, operation):
    """What an operation adds to its rows where `include` names it."""
    parameters = shared.contract.description_of(operation).get("parameters", ())
    items = [item["schema"]["items"] for item in parameters if item["name"] == "include"]
    return {part for item in items for part in item.get("enum") or [item["const"]]}


def details_of(operation):
    """The operations that read one row of a list."""
    return [op for op in catalog.OPERATIONS if op.id != "getReport" and op.method == "GET"
            and is_page(operation) and re.fullmatch(rf"{operation.path}/{{\w+}}", op.path)
            and has_input("include")(op)]  # fmt: skip


@queries.of(details_of)
def a_list_includes_whatever_its_detail_does(shared, operation):
    for detail in details_of(operation):
        parts = parts_of(shared, detail)
        assert parts <= parts_of(shared, operation)
        for query in (*parts, ",".join(sorted(parts))):
            ask = shared.ask_of(operation).asking(("include", query), ("limit", "3"))
            answer = shared.send(ask.having(accept="application/json"))
            assert answer.status_code == 200, answer.text
            assert answer.json()["data"]
            for row in answer.json()["data"]:
                assert set(query.split(",")) <= row.keys()


@queries.of(lambda op: len(op.media) > 1)
def a_format_that_is_not_offered_is_refused(shared, operation, check_problem):
    for value in ("xml", "JSON", "json ", ""):
        answer = shared.send(shared.ask_of(operation).asking(("format", value)))
        assert "format" in check_problem(answer, problem.INVALID_PARAMETER)["detail"]


@queries.of(has_input("limit"))
def a_limit_is_a_plain_number_within_its_bounds(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    parameters = shared.contract.description_of(operation)["parameters"]
    bounds = next(item["schema"] for item in parameters if item["name"] == "limit")
    least, most = bounds["minimum"], bounds["maximum"]
    for value in (least - 1, most + 1, -1, "1.0", "+5", " 5", "5 ", "\u0665", "1e1", "", "0x1",
                  "1_0", "9" * 400):  # fmt: skip
        answer = shared.send(ask.asking(("limit", str(value))))
        assert "limit" in check_problem(answer, problem.INVALID_PARAMETER)["detail"]
    for value in (least, most):
        answer = shared.send(ask.asking(("limit", str(value))).having(accept="application/json"))
        assert answer.status_code == 200
        assert len(rows_of(answer)) <= value


@queries.of(has_input("cursor"))
def a_cursor_of_nobodys_making_is_refused(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    for value in ("", "x", "A" * 64, "%00", "\u00e9", "A" * 4000):
        check_problem(shared.send(ask.asking(("cursor", value))), problem.INVALID_CURSOR)


# -- negotiation and bodies --------------------------------------------------------------------


@bodies.of(lambda op: not is_streamed(op) and not is_foreign(op))
def an_accept_that_excludes_every_offer_is_refused(shared, operation, check_problem):
    for accept in ("image/png", "application/*;q=0, text/*;q=0", "*/*;q=0"):
        answer = shared.send(shared.ask_of(operation).having(accept=accept))
        body = check_problem(answer, problem.NOT_ACCEPTABLE)
        assert "Accept" in answer.headers["vary"]
        assert all(offer.media_type in body["detail"] for offer in operation.media)


OTHER_CONTENT = [
    {"content_type": "text/plain"},
    {"content_type": None},
    {"content_type": "application/xml"},
    {"content_type": "application/json; charset=latin-1"},
    {"content_encoding": "gzip"},
]


@bodies.of(is_foreign, fields=OTHER_CONTENT)
def a_lenient_one_takes_whatever_is_json_and_answers_as_it_can(shared, operation, fields):
    ask = shared.ask_of(operation).having(accept="image/png;q=0.1, */*;q=0", **fields)
    answer = shared.send(ask)
    assert answer.status_code == operation.success, answer.text
    assert answer.headers["content-type"] == operation.media[0].media_type


@bodies.of(lambda op: has("body")(op) and not is_foreign(op), fields=OTHER_CONTENT)
def another_content_type_or_coding_is_refused(shared, operation, check_problem, fields):
    answer = shared.send(shared.ask_of(operation).having(**fields))
    check_problem(answer, problem.UNSUPPORTED_MEDIA_TYPE)
    if "content_encoding" in fields:
        assert answer.headers["accept-encoding"] == "identity"
    else:
        field = "accept-patch" if operation.method == "PATCH" else "accept"
        assert "application/json" in answer.headers[field]
        assert (MERGE_PATCH in answer.headers[field]) == (operation.method == "PATCH")


@bodies.of(has("body"))
def json_is_taken_with_a_charset_and_patches_as_merge_patches_too(shared, operation):
    types = ["application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"']
    if operation.method == "PATCH":
        types.append(MERGE_PATCH)
    for content_type in types:
        answer = shared.send(shared.ask_of(operation).having(content_type=content_type))
        assert answer.status_code == operation.success, answer.text


def integers_in(annotation, path=()):
    """The members of a body that are integers, with the least that each may be."""
    inner, metadata = shapes.split_annotation(annotation)
    if inner is int:
        yield path, next((item.ge for item in metadata if hasattr(item, "ge")), 1)
    elif shapes.is_model(inner):
        for member in attrs.fields(inner):
            yield from integers_in(member.type, (*path, wire.camel(member.name)))
    elif shapes.is_tuple(inner):
        yield from integers_in(get_args(inner)[0], (*path, 0))
    elif shapes.is_union(inner):
        for arg in get_args(inner):
            yield from integers_in(arg, path)


def body_integers(operation):
    return [place for item in inputs_of(operation.request) if item.place == "body"
            for place in integers_in(item.annotation)]  # fmt: skip


@bodies.of(body_integers)
def an_integer_may_be_written_with_a_point(shared, operation):
    for path, least in body_integers(operation):
        answers = []
        for number in (least, float(least), least + 0.5):
            body = json.dumps(naming(shared.example_body(operation), path, number)).encode()
            answer = shared.send(shared.ask_of(operation).evolve(body=body))
            answers.append((answer.status_code, answer.json().get("detail")))
        assert answers[0] == answers[1]
        assert answers[2][0] == 400


BAD_JSON = [
    (b"", problem.MALFORMED_JSON),
    (b"{", problem.MALFORMED_JSON),
    (b"{} {}", problem.MALFORMED_JSON),
    (b"{'a':1}", problem.MALFORMED_JSON),
    (b'{"a":NaN}', problem.MALFORMED_JSON),
    (b'{"a":-Infinity}', problem.MALFORMED_JSON),
    (b'{"a":01}', problem.MALFORMED_JSON),
    (b'{"a":"\x01"}', problem.MALFORMED_JSON),
    (b'{"a":1,"a":1}', problem.DUPLICATE_JSON_MEMBER),
    (b'{"a":1,"\\u0061":1}', problem.DUPLICATE_JSON_MEMBER),
    (b'{"a":9007199254740992}', problem.NUMBER_OUT_OF_RANGE),
    (b'{"a":1e400}', problem.NUMBER_OUT_OF_RANGE),
    (b'{"a":' + b"9" * 5000 + b"}", problem.NUMBER_OUT_OF_RANGE),
    (b'{"a":"\\ud800"}', problem.INVALID_ENCODING),
    (b'{"a":"\\u0000"}', problem.INVALID_ENCODING),
    (b'{"a":"\xff"}', problem.INVALID_ENCODING),
    (b'{"a":"\xed\xa0\x80"}', problem.INVALID_ENCODING),
    (b"[" * 100_000, problem.JSON_TOO_DEEP),
    (b'{"a":' * 100_000, problem.JSON_TOO_DEEP),
]


@bodies.of(has("body"))
def what_is_not_sound_json_is_refused_by_its_kind(shared, operation, check_problem):
    for body, kind in BAD_JSON:
        if body or request_shape(operation).body.required:
            check_problem(shared.send(shared.ask_of(operation).evolve(body=body)), kind)


@bodies.of(lambda op: has("body")(op) and not request_shape(op).body.required)
def an_optional_body_may_be_left_out(shared, operation):
    for fields in ({}, {"content_type": None}):
        answer = shared.send(shared.ask_of(operation).evolve(body=None).having(**fields))
        assert answer.status_code == operation.success, answer.text


@bodies.of(has("body"))
def what_does_not_fit_the_schema_is_refused_by_pointer(shared, operation, check_problem):
    good = shared.example_body(operation)
    spoilt = [({**good, "colour": "red"}, "/colour")]
    spoilt += [({**good, name: {"x": [None]}}, f"/{name}") for name in good]
    for value in ([], "text", 7, None, True, [good]):
        spoilt.append((value, "(body)"))
    fits = shared.contract.reader_of_body(operation).is_valid
    misfits = [(body, at) for body, at in spoilt if not fits(body) and not fits([body])]
    assert len(misfits) >= len(good)
    for body, pointer in misfits:
        answer = shared.send(shared.ask_of(operation).evolve(body=json.dumps(body).encode()))
        assert pointer in check_problem(answer, problem.VALIDATION_FAILED)["detail"]


@bodies.of(has("body"))
def a_byte_order_mark_is_overlooked_once(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    mark = b"\xef\xbb\xbf"
    answer = shared.send(ask.evolve(body=mark + ask.body))
    assert answer.status_code == operation.success, answer.text
    answer = shared.send(shared.ask_of(operation).evolve(body=mark + mark + ask.body))
    check_problem(answer, problem.MALFORMED_JSON)


@bodies.of()
def a_body_over_a_mebibyte_is_refused_wherever_it_is_sent(shared, operation, check_problem):
    answer = shared.send(shared.ask_of(operation).evolve(body=b" " * (1024 * 1024 + 1)))
    too_large = problem.REQUEST_TOO_LARGE if is_foreign(operation) else problem.BODY_TOO_LARGE
    check_problem(answer, too_large)


def test_what_may_be_answered_everywhere_is_told_of_the_whole_interface(contract, edge_codes):
    words = contract.document["info"]["description"]
    for code in edge_codes:
        assert str(problem.CATALOGUE[code].status) in words


# -- repeated and conditional writes -----------------------------------------------------------


@writes.of(lambda op: op.idempotency != "none")
def an_idempotency_key_has_8_to_200_visible_characters(shared, operation, check_problem):
    ask = shared.ask_of(operation)
    for key in ("1234567", "k" * 201, "", "with space", "tab\there"):
        answer = shared.send(ask.having(idempotency_key=key))
        check_problem(answer, problem.INVALID_IDEMPOTENCY_KEY)
    for key in (f"{operation.id:.<8}"[:8], f"{operation.id:~<200}", f'"{operation.id}"'):
        answer = shared.send(shared.ask_of(operation).having(idempotency_key=key))
        assert answer.status_code == operation.success
        assert answer.headers["idempotency-key"] == key
    without = shared.send(shared.ask_of(operation).having(idempotency_key=None))
    if operation.idempotency == "required":
        check_problem(without, problem.IDEMPOTENCY_KEY_REQUIRED)
    else:
        assert without.status_code == operation.success


@writes.of(lambda op: op.target is not None)
def a_precondition_holds_for_the_current_tag_and_the_star_alone(shared, operation, check_problem):
    reader = reader_of(operation)
    for condition in ('"other"', "W/{}", "", "other", "{}x", '"', "x, y"):
        ask = shared.ask_of(operation)
        tag = shared.send(shared.ask_of(reader)).headers["etag"]
        answer = shared.send(ask.having(if_match=condition.format(tag)))
        check_problem(answer, problem.PRECONDITION_FAILED)
        assert answer.headers["etag"] == tag
    for condition in ("{}", "*", '"other", {}', "{},"):
        shared.ask_of(reader)  # what went with a row that was deleted is there again
        ask = shared.ask_of(operation)
        tag = shared.send(shared.ask_of(reader)).headers["etag"]
        answer = shared.send(ask.having(if_match=condition.format(tag)))
        assert answer.status_code == operation.success, (condition, answer.text)


@writes.of(lambda op: op.target is not None)
def if_none_match_star_never_overwrites(shared, operation, check_problem):
    answer = shared.send(shared.ask_of(operation).having(if_none_match="*"))
    check_problem(answer, problem.PRECONDITION_FAILED)


# -- what is read may be sent back -------------------------------------------------------------


def reader_of(operation):
    """The operation that reads the row which another changes."""
    path = operation.target.collection.address("{id}")
    return next(
        op
        for op in catalog.OPERATIONS
        if op.method == "GET" and re.sub(r"\{\w+\}", "{id}", op.address) == path
    )


def lister_of(operation):
    """The operation that lists such rows."""
    path = operation.target.collection.address("{id}").removesuffix("/{id}")
    return next(op for op in catalog.OPERATIONS if op.method == "GET" and op.address == path)


def shown_by(world, operation):
    """The row that an operation is about, by itself and as the list has it, and its tag."""
    ask = world.ask_of(operation)
    answer = world.get(ask.path)
    rows = world.get(lister_of(operation).address + "?limit=100").json()["data"]
    row = next(row for row in rows if row["id"] == answer.json()["data"]["id"])
    return answer.json()["data"], row, answer.headers["etag"]


def is_replacing(operation):
    return operation.method in {"PUT", "PATCH"}


@writes.of(is_replacing)
def what_was_read_may_be_sent_back_and_changes_nothing(shared, operation):
    row, row_of_list, tag = shown_by(shared, operation)
    for resource in (row, row_of_list):
        body = json.dumps(resource).encode()
        assert shared.contract.reader_of_body(operation).is_valid(resource)
        for condition in (None, tag):
            ask = shared.ask_of(operation).evolve(body=body).having(if_match=condition)
            answer = shared.send(ask)
            assert answer.status_code == 200, answer.text
            assert answer.headers["etag"] == tag
            again = shared.get(ask.path)
            assert (again.headers["etag"], again.json()["data"]) == (tag, row)


@writes.of(is_replacing)
def what_is_changed_elsewhere_is_passed_over_or_has_to_stand(shared, operation, check_problem):
    row, row_of_list, tag = shown_by(shared, operation)
    members = readonly.readonly_members(operation)
    assert set(members) == (set(row_of_list) | set(row)) - taken_by(operation)
    standing = {name for name, member in members.items() if member.name in readonly.FIXED_MEMBERS}
    assert {"id", "createdAt"} <= standing
    assert "updatedAt" not in standing
    odd = ("x" * 64, None, 7, [], {"x": [None]}, "2001-01-01T00:00:00Z")
    for value in odd:
        changed_row = {**row, **dict.fromkeys(set(members) - standing, value)}
        answer = shared.send(shared.ask_of(operation).evolve(body=json.dumps(changed_row).encode()))
        assert (answer.status_code, answer.headers["etag"]) == (200, tag), answer.text
    for value in odd:
        wrong = {**row, **dict.fromkeys(standing, value), "colour": "red"}
        ask = shared.ask_of(operation).evolve(body=json.dumps(wrong).encode())
        detail = check_problem(shared.send(ask), problem.VALIDATION_FAILED)["detail"]
        assert all(f"/{name}: " in detail for name in (*standing, "colour"))
        assert shared.get(ask.path).headers["etag"] == tag


@writes.of(lambda op: is_replacing(op) and op.group in {"profiles", "webhooks"})
def what_moves_by_itself_meanwhile_stands_in_nobodys_way(shared, operation):
    shared.plant("a")  # a profile that nobody stopped following
    row, row_of_list, tag = shown_by(shared, operation)
    shared.clock.forward(days=1)
    shared.take_news([shared.clock.at.toordinal()])
    shared.make_report("a")
    shared.tell_webhooks()
    current = shown_by(shared, operation)
    assert current[1] != row_of_list
    assert current[2] == tag
    for condition in (None, tag):
        for resource in (row, row_of_list):
            ask = shared.ask_of(operation).evolve(body=json.dumps(resource).encode())
            answer = shared.send(ask.having(if_match=condition))
            assert (answer.status_code, answer.headers["etag"]) == (200, tag), answer.text


def taken_by(operation):
    """The members that the body of an operation has of its own."""
    body = next(item.annotation for item in inputs_of(operation.request) if item.place == "body")
    return {wire.camel(field.name) for field in attrs.fields(body)}


# -- the order of the checks -------------------------------------------------------------------


def _steps(world, operation):
    """Every fault that a request to the operation can have, in the order they are judged."""
    ask = world.ask_of(operation)
    if is_keyed(operation):
        yield problem.INVALID_API_KEY, lambda a: a.having(authorization="Bearer x")
        if operation.scopes:
            foreign_scope = next(scope for scope in SCOPES if scope not in operation.scopes)
            weak = f"Bearer {world.keys[f'a {foreign_scope}']}"
            yield problem.INSUFFICIENT_SCOPE, lambda a: a.having(authorization=weak)
    if not is_streamed(operation):
        yield problem.NOT_ACCEPTABLE, lambda a: a.having(accept="image/png")
    if has("body")(operation) and not is_foreign(operation):
        yield problem.UNSUPPORTED_MEDIA_TYPE, lambda a: a.having(content_type="text/plain")
    yield problem.UNKNOWN_PARAMETER, lambda a: a.asking(("colour", "red"))
    if operation.idempotency != "none":
        yield problem.INVALID_IDEMPOTENCY_KEY, lambda a: a.having(idempotency_key="short")
    if is_private(operation):
        foreign_path = world.ask_of(operation, "b").path
        yield problem.NOT_FOUND, lambda a: a.evolve(path=foreign_path)
    if operation.target is not None:
        yield problem.PRECONDITION_FAILED, lambda a: a.having(if_match='"other"')
    if has("body")(operation):
        yield problem.MALFORMED_JSON, lambda a: a.evolve(body=b"{")
        yield problem.VALIDATION_FAILED, lambda a: a.evolve(body=b"[]")
    del ask


@order.of()
def faults_are_told_in_one_order_however_many_there_are(shared, operation, check_problem):
    shared.clock.forward(minutes=16)
    steps = list(_steps(shared, operation))
    for first, (kind, _) in enumerate(steps):
        ask = shared.ask_of(operation)
        # From the last fault to the first, so that of two for one part the earlier stands.
        for _, spoil in reversed(steps[first:]):
            ask = spoil(ask)
        check_problem(shared.send(ask), kind)


# -- pages of a list ---------------------------------------------------------------------------


@queries.of(is_page)
def a_page_says_its_row_count_and_where_to_go_on(shared, operation):
    answer = shared.send(shared.ask_of(operation).having(accept="application/json"))
    body = answer.json()
    assert list(body) == ["data", "meta", "links"]
    assert body["meta"]["pageCount"] == len(body["data"])
    assert ("count" in body["meta"]) == (operation.version == "1.0")
    assert (body["links"]["next"] is None) == (body["meta"]["page"]["nextCursor"] is None)
    assert ("link" in answer.headers) == (body["links"]["next"] is not None)
    assert "totalCount" not in body


@queries.of(is_page)
def a_list_names_nothing_that_belongs_to_another_tenant(shared, operation):
    ids_of_keys = []
    for key in ("a", "b"):
        ask = shared.ask_of(operation, key).having(accept="application/json")
        ids_of_keys.append(set(re.findall('"([a-z]{3}_[0-9a-f]{24})"', shared.send(ask, key).text)))
    # What happened to everybody's rows is one change for all.
    assert {id_.partition("_")[0] for id_ in ids_of_keys[0] & ids_of_keys[1]} <= EVERYBODYS | {
        "chg"
    }


# -- one test for an operation and a theme -----------------------------------------------------


@everywhere.rows
def test_it_serves_its_own_tenant_alone_over_every_store(request, each_shared, operation):
    everywhere.keep(request)


@success.rows
def test_it_answers_in_the_way_that_is_asked_for(request, operation):
    success.keep(request)


@access.rows
def test_it_is_given_to_those_who_may_have_it(request, operation):
    access.keep(request)


@identifiers.rows
def test_its_identifiers_name_what_its_caller_has(request, operation):
    identifiers.keep(request)


@queries.rows
def test_its_queries_are_judged_and_its_pages_complete(request, operation):
    queries.keep(request)


@bodies.rows
def test_its_bodies_are_judged_by_type_form_and_schema(request, operation):
    bodies.keep(request)


@writes.rows
def test_its_writes_are_repeated_and_conditional_as_asked(request, operation):
    writes.keep(request)


@order.rows
def test_its_faults_are_told_in_order(request, operation):
    order.keep(request)
