"""The order of checks and the answer to every malformed input, without a socket.

Tables follow the reading of RFC 9110, 9457, 8259 and 7396 that the pipeline promises.
"""

import json
from typing import Annotated, Any, ClassVar
from urllib.parse import urlencode

import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Bare, Content, Empty, Page
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.declaration import (
    BODY,
    JSON,
    MANAGERS,
    MARKDOWN,
    QUERY,
    Operation,
    Trait,
    Unit,
    header_field,
    local,
)
from svc_core.operation.executor import Execution
from svc_core.operation.parsing import Call, Invocation, Site, prepare
from svc_core.operation.ports import SYSTEM
from svc_core.operation.query_string import parse_query

SITE = Site("https://api.example")


def code_of(query: str) -> str:
    with pytest.raises(Problem) as failure:
        parse_query(query)
    return failure.value.type.code


@pytest.mark.parametrize(
    ("query", "pairs"),
    [
        ("", ()),
        ("a=1", (("a", "1"),)),
        ("a=1&b=2", (("a", "1"), ("b", "2"))),
        ("a=&b", (("a", ""), ("b", ""))),
        ("a=%C3%A9", (("a", "é"),)),
        ("a=é", (("a", "é"),)),
        ("a=b+c", (("a", "b c"),)),
        ("a=b%2Bc", (("a", "b+c"),)),
        ("a=b=c", (("a", "b=c"),)),
        ("&&a=1&", (("a", "1"),)),
    ],
)
def test_a_query_is_decoded_as_a_form(query: str, pairs: tuple[tuple[str, str], ...]) -> None:
    assert tuple(parse_query(query).parameters.items()) == pairs


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("a=1&a=2", "DUPLICATE_PARAMETER"),
        ("a=1&%61=2", "DUPLICATE_PARAMETER"),
        ("a=%", "INVALID_PARAMETER"),
        ("a=%4", "INVALID_PARAMETER"),
        ("a=%zz", "INVALID_PARAMETER"),
        ("a=%ff", "INVALID_PARAMETER"),
        ("a=%00", "INVALID_PARAMETER"),
        ("a=%0d%0ax", "INVALID_PARAMETER"),
        ("a=%7f", "INVALID_PARAMETER"),
        ("a=\x01+", "INVALID_PARAMETER"),
    ],
)
def test_a_query_that_says_two_things_or_none_is_refused(query: str, code: str) -> None:
    assert code_of(query) == code


PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=8)


@given(st.dictionaries(PRINTABLE.filter(bool), PRINTABLE, max_size=4))
def test_what_a_client_encodes_is_what_is_read(pairs: dict[str, str]) -> None:
    assert parse_query(urlencode(pairs)).parameters == pairs


@given(st.text(max_size=30))
def test_a_query_is_read_or_refused_as_the_clients_fault(query: str) -> None:
    status = 400
    try:
        parse_query(query)
    except Problem as error:
        status = error.type.status
    assert status == 400


def test_all_bad_parameters_are_told_together(house: Any) -> None:
    detail = house.refusal("listReports", query="limit=0&profileId=x").detail
    assert "limit: " in detail
    assert "profileId: " in detail


def test_unknown_parameters_may_be_ignored_by_setting(house: Any) -> None:
    house.site = Site("https://api.example", unknown_query="ignore")
    assert house.send("listReports", query="page=2").status == 200


@pytest.mark.parametrize(
    ("fields", "header_name"),
    [
        ({"content_type": "text/plain"}, "Accept"),
        ({"content_type": "application/json; charset=latin-1"}, "Accept"),
        ({"content_type": "application/json; charset=utf-8; charset=utf-8"}, "Accept"),
        ({"content_type": "application/json; charset"}, "Accept"),
        ({"content_type": "application/json; version=2"}, "Accept"),
        ({"content_type": "application/json, application/json"}, "Accept"),
        ({"content_type": "application/jsonl"}, "Accept"),
        ({"content_type": "application/merge-patch+json"}, "Accept"),
        ({"content_type": "json"}, "Accept"),
        ({"content_type": ""}, "Accept"),
        ({"content_encoding": "gzip"}, "Accept-Encoding"),
    ],
)
def test_another_content_type_or_coding_is_415(
    house: Any, fields: dict[str, str], header_name: str
) -> None:
    refusal = house.refusal("createProfile", raw=b"{}", idempotency_key="some-key", **fields)
    assert refusal.type.code == "UNSUPPORTED_MEDIA_TYPE"
    assert header_name in refusal.headers


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        'Application/JSON; charset="utf-8"',
        "application/json;charset=UTF-8;",
        "application/json ; ; charset=utf-8",
        "application/json;",
    ],
)
def test_the_content_type_is_read_as_a_media_type(house: Any, content_type: str) -> None:
    body = {"name": "a", "topic": "abc", "frequency": "manual"}
    reply = house.send(
        "createProfile", body=body, idempotency_key="some-key", content_type=content_type
    )
    assert reply.status == 201


# Pairs of faults in one request: the earlier check answers, whatever else is wrong.
MISSING, STALE = {"profileId": "prf_" + "0" * 24}, '"stale"'


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"accept": "image/png", "content_type": "text/plain", "raw": b"{}"}, "NOT_ACCEPTABLE"),
        ({"content_type": "text/plain", "raw": b"{", "query": "x=1"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"accept": "image/png", "raw": b"{", "query": "x=1&x=2"}, "NOT_ACCEPTABLE"),
        ({"content_type": "text/plain", "raw": b"{", "query": "x=%"}, "UNSUPPORTED_MEDIA_TYPE"),
        ({"raw": b"{", "query": "x=1&x=2", "idempotency_key": "k"}, "DUPLICATE_PARAMETER"),
        ({"raw": b"{", "query": "x=1", "idempotency_key": "k"}, "UNKNOWN_PARAMETER"),
        ({"raw": b"{", "idempotency_key": "k"}, "INVALID_IDEMPOTENCY_KEY"),
        ({"raw": b"{"}, "IDEMPOTENCY_KEY_REQUIRED"),
        ({"raw": b"{", "idempotency_key": "used-key"}, "MALFORMED_JSON"),
        ({"raw": b'{"x":1}', "idempotency_key": "used-key"}, "IDEMPOTENCY_CONFLICT"),
        ({"raw": b'{"x":1}', "idempotency_key": "free-key"}, "VALIDATION_FAILED"),
    ],
)
def test_checks_of_a_creation_come_in_their_order(
    house: Any, arguments: dict[str, Any], code: str
) -> None:
    house.profile("wsp_a", "used-key")
    assert house.refusal("createProfile", **arguments).type.code == code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"path": {"profileId": "x"}, "raw": b"{", "query": "x=1"}, "NOT_FOUND"),
        ({"path": {"profileId": "x"}, "raw": b"{", "query": "x=1&x=2"}, "NOT_FOUND"),
        ({"path": {"profileId": "x"}, "raw": b"{", "query": "x=%zz"}, "NOT_FOUND"),
        ({"path": MISSING, "raw": b"{", "if_match": STALE}, "NOT_FOUND"),
        ({"raw": b"{", "if_match": STALE}, "PRECONDITION_FAILED"),
        ({"raw": b'{"x":1}', "if_match": STALE}, "PRECONDITION_FAILED"),
        ({"raw": b"{", "if_match": "*"}, "MALFORMED_JSON"),
        ({"raw": b'{"x":1}', "if_match": "*"}, "VALIDATION_FAILED"),
    ],
)
def test_checks_of_a_replacement_come_in_their_order(
    house: Any, arguments: dict[str, Any], code: str
) -> None:
    profile = house.profile()
    arguments.setdefault("path", {"profileId": profile["id"]})
    assert house.refusal("replaceProfile", **arguments).type.code == code


# -- results of other shapes -------------------------------------------------------------------


@frozen
class Ask:
    """What the sample operation takes."""

    word: Annotated[str, QUERY]
    mark: Annotated[str, header_field("X-Mark")] = "none"


def sample(result: Any, **members: Any) -> Operation[Any, Any]:
    async def run(_: Context, ask: Ask) -> Any:
        return result(ask) if callable(result) else result

    return Operation(
        id="sample",
        method="GET",
        path="/sample",
        summary="",
        description="",
        tag="",
        request=Ask,
        response=Bare,
        run=run,
        auth="public",
        **members,
    )


@frozen
class SentModel:
    """A body that counts how often it is made of JSON."""

    word: str
    row: ClassVar[list[str]] = []

    def __attrs_post_init__(self) -> None:
        self.row.append(self.word)


@frozen
class Post:
    """A request with such a body."""

    body: Annotated[SentModel, BODY]


@pytest.mark.parametrize("idempotency", ["none", "required"])
def test_a_body_is_structured_once_whoever_asks_for_it(house: Any, idempotency: Any) -> None:
    bodies: list[Any] = []

    async def run(ctx: Context, post: Post) -> Bare:
        bodies.extend((post, ctx.ahead))
        return Bare(post.body.word.encode())

    def ahead(post: Post) -> Any:
        async def look(_: Context) -> Post:
            return post

        return look

    operation = Operation(
        id="post", method="POST", path="/post", summary="", description="", tag="",
        request=Post, response=Bare, run=run, unit=Unit("write", ahead), idempotency=idempotency,
    )  # fmt: skip
    fields = {"content-type": "application/json", "idempotency-key": "a-key-of-the-caller"}
    SentModel.row.clear()
    invocation = prepare(operation, Call({}, "", fields.get, b'{"word": "x"}'), SITE)
    reply = drive.run(Execution(invocation, Actor("a"), house.clock.now(), house.hands).reply())
    assert (reply.body, SentModel.row) == (b"x", ["x"])
    assert bodies[0] is bodies[1]


def answer(house: Any, operation: Operation[Any, Any], query: str, **headers: str) -> Any:
    invocation = prepare(operation, Call({}, query, headers.get), SITE)
    return drive.run(Execution(invocation, Actor(SYSTEM), house.clock.now(), house.hands).reply())


def test_a_facet_without_tag_is_its_own_body(house: Any) -> None:
    reply = answer(house, sample(lambda ask: Bare(ask.word.encode())), "word=x")
    assert (reply.status, reply.body, reply.headers) == (200, b"x", ())


def test_a_header_is_an_input_like_any_other(house: Any) -> None:
    operation = sample(lambda ask: Bare(ask.mark.encode()))
    assert answer(house, operation, "word=x", **{"x-mark": "m"}).body == b"m"


def test_a_required_parameter_is_missed_by_name(house: Any) -> None:
    with pytest.raises(Problem) as failure:
        answer(house, sample(Bare(b"")), "")
    assert failure.value.type is problem.INVALID_PARAMETER
    assert failure.value.detail == "word: is required"


def test_a_representation_of_its_own_keeps_its_type_and_tag(house: Any) -> None:
    content = Content("text/markdown", b"# x", ("id", 1))
    operation = sample(content, media=(JSON, MARKDOWN))
    markdown = answer(house, operation, "word=x&format=markdown")
    json_ = answer(house, operation, "word=x")
    assert markdown.media_type == "text/markdown"
    assert dict(markdown.headers)["ETag"] != dict(json_.headers)["ETag"]


def test_a_last_page_has_no_next_link(house: Any) -> None:
    reply = answer(house, sample(Page((b"1", b"2"))), "word=x")
    assert json.loads(reply.body) == {
        "data": [1, 2],
        "meta": {"pageCount": 2, "count": 2, "page": {"nextCursor": None}},
        "links": {"next": None},
    }
    assert reply.headers == ()


def test_the_next_link_repeats_the_filters_and_not_the_old_cursor(house: Any) -> None:
    page = sample(Page((b"1",), "c2"))
    reply = answer(house, page, "word=a%26b")
    link = "https://api.example/api/v1/sample?word=a%26b&cursor=c2"
    assert json.loads(reply.body)["links"]["next"] == link
    assert dict(reply.headers)["Link"] == f'<{link}>; rel="next"'


def test_the_next_link_holds_nothing_that_could_end_it(house: Any) -> None:
    page = sample(Page((b"1",), "c2"))
    reply = answer(house, page, 'word=<a>"%20\\|^')
    link = json.loads(reply.body)["links"]["next"]
    assert link == "https://api.example/api/v1/sample?word=%3Ca%3E%22%20%5C%7C%5E&cursor=c2"


def test_success_without_a_body_is_204(house: Any) -> None:
    reply = answer(house, sample(Empty()), "word=x")
    assert (reply.status, reply.body, reply.media_type) == (204, b"", None)


def test_a_use_case_that_returns_something_else_is_a_defect(house: Any) -> None:
    with pytest.raises(AssertionError, match="sample returned"):
        answer(house, sample(lambda _: 5), "word=x")


@frozen
class NamedWork:
    word: str = ""
    workspace: Annotated[str | None, Trait.OPERATOR] = None


async def _echo(_: Context, request: NamedWork) -> Bare:
    return Bare(f"{request.word} {request.workspace}".encode())


@pytest.mark.parametrize(
    ("role", "body", "outcome"),
    [
        ("operator", {"word": "a", "workspace": "w"}, b"a w"),
        ("admin", {"word": "a"}, b"a None"),
        ("admin", {"word": "a", "workspace": "w"}, "VALIDATION_FAILED"),
        ("admin", {"workspace": None}, "VALIDATION_FAILED"),
        ("admin", [], "VALIDATION_FAILED"),
        ("member", {"word": "a"}, "FORBIDDEN"),
    ],
)
def test_what_the_operator_says_is_taken_from_nobody_else(
    house: Any, role: str, body: Any, outcome: bytes | str
) -> None:
    operation = local(
        "samples name", "Sample", _echo, id_="nameSample", binding="system", roles=MANAGERS
    )
    fields = {"content-type": "application/json"}
    invocation = prepare(operation, Call({}, "", fields.get, json.dumps(body).encode()), SITE)
    actor = Actor(SYSTEM, "wsp_1", "usr_1", roles=frozenset({role}))
    run = Execution(invocation, actor, house.clock.now(), house.hands)
    if isinstance(outcome, bytes):
        assert drive.run(run.reply()).body == outcome
        return
    with pytest.raises(Problem) as refusal:
        drive.run(run.reply())
    assert refusal.value.type.code == outcome
    if "workspace" in body:
        reason = "/workspace: is said by the operator alone; leave it out"
        assert refusal.value.detail == reason


# -- readings that are remembered ----------------------------------------------------------------

READINGS = st.tuples(
    st.sampled_from(["listReports", "listNews"]),
    st.sampled_from(["", "limit=1", "limit=2", "limit=0", "format=ndjson", "colour=red"]),
    st.sampled_from([{}, {"accept": "application/x-ndjson"}, {"accept": "image/png"}]),
    st.sampled_from([{}, {"if-none-match": '"a"'}, {"if-none-match": '"b"'}]),
    st.sampled_from([Site("https://a.example"), Site("https://a.example", unknown_query="ignore")]),
)


def reading(house: Any, request: tuple[str, str, dict[str, str], dict[str, str], Site]) -> Any:
    """What a request is read as, or the code that it is refused with."""
    id_, query, accept, condition, site = request
    try:
        call = Call({}, query, {**accept, **condition}.get)
        return prepare(house.operations[id_], call, site)
    except Problem as error:
        return error.type.code


@given(st.lists(READINGS, min_size=1, max_size=12))
def test_what_was_read_before_changes_no_reading(house_factory: Any, request: list[Any]) -> None:
    house = house_factory()
    for row in request:
        _, query, accept, condition, site = row
        read = reading(house, row)
        if isinstance(read, Invocation):
            assert read.query == parse_query(query)
            assert read.if_none_match == condition.get("if-none-match")
            wants_lines = "ndjson" in query or (accept and "format" not in query)
            assert read.representation.format == ("ndjson" if wants_lines else "json")
            assert read.values.get("limit", 0) == int(query[6:] if "limit" in query else 0)
            assert query != "colour=red" or site.unknown_query == "ignore"
        else:
            assert read in {"NOT_ACCEPTABLE", "INVALID_PARAMETER", "UNKNOWN_PARAMETER"}
        assert reading(house, row) == read
