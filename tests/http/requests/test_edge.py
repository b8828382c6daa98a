"""What every request passes before anything looks at its meaning."""

import asyncio
import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.clock_jumps import JUMP_SECONDS
from svc_core.contract import problem
from svc_core.ledger.timestamps import SealedTime, utc_text
from svc_core.operation.ports import StorageUnavailable
from svc_http.guard import edge
from svc_http.settings import Settings
from svc_http.stores import MemoryStorage

MIB = 1024 * 1024


def fields(*pairs):
    return {"headers": [(name.encode(), value.encode()) for name, value in pairs]}


def parts(*chunks):
    last = len(chunks) - 1
    return [
        {"type": "http.request", "body": chunk, "more_body": number < last}
        for number, chunk in enumerate(chunks)
    ]


# -- the target --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        ({"raw_path": b"/livez%00"}, "BAD_REQUEST"),
        ({"raw_path": b"/livez%0a"}, "BAD_REQUEST"),
        ({"raw_path": b"/livez%7F"}, "BAD_REQUEST"),
        ({"raw_path": b"/livez%ff"}, "BAD_REQUEST"),
        ({"raw_path": b"/livez#top"}, "BAD_REQUEST"),
        ({"raw_path": b"/livez\xc3\xa4"}, "BAD_REQUEST"),
        ({"path": "/livez\n", "raw_path": b""}, "BAD_REQUEST"),
        ({"query_string": b"a#b"}, "BAD_REQUEST"),
        ({"query_string": b"a=\xff"}, "BAD_REQUEST"),
        ({"raw_path": b"livez"}, "BAD_REQUEST"),
        ({"raw_path": b"ftp://host/livez"}, "BAD_REQUEST"),
        ({"raw_path": b"*"}, "BAD_REQUEST"),
        ({"raw_path": b"\xff"}, "BAD_REQUEST"),
        ({"raw_path": b"http:///livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http:livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http://:80/livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http://[::1/livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http://[zz]/livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http://name:word@other.example/livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http://other.example:port/livez"}, "BAD_REQUEST"),
        ({"raw_path": b"http://other.example/livez#top"}, "BAD_REQUEST"),
        ({"raw_path": b"http://other.example/livez%00"}, "BAD_REQUEST"),
        ({"raw_path": b"http://other.example/live%2Fz"}, "ROUTE_NOT_FOUND"),
        ({"method": "OPTIONS", "path": "*", "raw_path": b"*", "query_string": b"a"}, "BAD_REQUEST"),
        ({"raw_path": b"/problems%2Fnot-found"}, "ROUTE_NOT_FOUND"),
        ({"path": "/%zz", "raw_path": b"/%zz"}, "ROUTE_NOT_FOUND"),
        ({"path": "/../livez", "raw_path": b"/../livez"}, "ROUTE_NOT_FOUND"),
        ({"query_string": b"x" * 8_190}, "URI_TOO_LONG"),
        ({"path": "/" + "x" * 8_191}, "URI_TOO_LONG"),
    ],
)
def test_a_target_that_is_none_is_refused(house, scope, code):
    answer = house.raw(scope)
    assert answer.json()["code"] == code
    assert answer.status == problem.CATALOGUE[code].status


@pytest.mark.parametrize(
    "scope",
    [
        {"raw_path": b"http://other.example/livez"},
        {"raw_path": b"https://other.example/live%7a"},
        {"raw_path": b"HTTP://[::1]:8080/livez"},
        {"raw_path": b"/live%7A"},
        {"raw_path": b""},
        {"root_path": "/svc", "path": "/svc/livez", "raw_path": b"/svc/livez"},
        {"query_string": b"x" * 8_000},
    ],
)
def test_a_target_is_served_in_every_form_that_names_it(house, scope):
    assert house.raw(scope).status == 200


def test_the_root_of_an_absolute_target_or_a_mount_is_the_index(house):
    assert house.raw({"raw_path": b"http://other.example"}).json()["name"]
    assert house.raw({"root_path": "/svc", "path": "/svc", "raw_path": b"/svc"}).json()["name"]


def test_the_server_as_a_whole_has_options(house):
    assert house.raw({"method": "OPTIONS", "path": "*", "raw_path": b"*"}).status == 204


# -- fields ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("authorization", "Bearer x"),
        ("content-type", "application/json"),
        ("idempotency-key", "12345678"),
        ("host", "a"),
        ("content-length", "0"),
    ],
)
def test_a_field_that_must_be_single_is_refused_twice(house, name, value):
    answer = house.raw(fields((name, value), (name, value)))
    assert answer.json()["code"] == "BAD_REQUEST"
    assert name in answer.json()["detail"]
    assert answer.headers[b"connection"] == b"close"


def test_the_lines_of_a_list_field_are_joined(house):
    answer = house.raw({"path": "/", **fields(("accept", "text/html"), ("accept", "image/png"))})
    assert answer.headers[b"content-type"].startswith(b"text/html")


@pytest.mark.parametrize(
    "pairs",
    [
        [(f"x-{number}", "") for number in range(101)],
        [("x-long", "x" * 33_000)],
        [("x-long", "x" * 17_000), ("x-long", "x" * 17_000)],
    ],
)
def test_too_many_or_too_large_fields_are_refused(house, pairs):
    assert house.raw(fields(*pairs)).json()["code"] == "HEADERS_TOO_LARGE"


def test_as_many_fields_as_are_promised_are_read(house):
    assert house.raw(fields(*[(f"x-{number}", "") for number in range(100)])).status == 200


@pytest.mark.parametrize(
    ("value", "status"),
    [
        ("100-Continue", 200),
        ("", 200),
        ("100-continue, 100-continue", 200),
        ("200-maybe", 417),
        ("100-continue, 200-maybe", 417),
        ("100-continue;a=b", 417),
    ],
)
def test_one_expectation_is_known(house, value, status):
    assert house.raw(fields(("expect", value))).status == status


@pytest.mark.parametrize(
    "host",
    [
        "", "a", "api.example.org", "api.example.org:8080", "a:", "my_service:80", "%61",
        "127.0.0.1", "[::1]", "[::ffff:127.0.0.1]:80", "[v1.a:b]", "a,b",
    ],
)  # fmt: skip
def test_a_host_of_every_form_is_taken(house, host):
    assert house.raw(fields(("host", host))).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "a b", "a/b", "a?b", "a#b", "u@a", "a:b", "a:80:80", "::1", "[::1", "[::1]a", "[zz]",
        "[1.2.3.4]", "[]", "%zz", "\u00e4", "a\t", "[fe80::1%25eth0]", "a" * 262,
    ],
)  # fmt: skip
def test_a_host_that_is_none_is_refused(house, host):
    answer = house.raw({"headers": [(b"host", host.encode())]})
    assert (answer.status, answer.json()["code"]) == (400, "BAD_REQUEST")
    assert answer.headers[b"connection"] == b"close"


# -- bodies ------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", ["+3", "-1", "3, 4", "", "x", "1" * 20])
def test_a_length_that_is_none_is_refused_and_the_connection_closed(house, length):
    answer = house.raw(fields(("content-length", length)))
    assert answer.json()["code"] == "BAD_REQUEST"
    assert answer.headers[b"connection"] == b"close"


def test_one_length_said_twice_on_one_line_is_one_length(house):
    assert house.raw(fields(("content-length", "3, 3")), parts(b"abc")).status == 200


def test_two_framings_at_once_are_refused(house):
    answer = house.raw(fields(("content-length", "3"), ("transfer-encoding", "chunked")))
    assert answer.json()["code"] == "BAD_REQUEST"
    assert answer.headers[b"connection"] == b"close"


def test_a_coding_that_http_1_0_does_not_know_is_refused(house):
    answer = house.raw({"http_version": "1.0", **fields(("transfer-encoding", "chunked"))})
    assert answer.json()["code"] == "BAD_REQUEST"
    assert answer.headers[b"connection"] == b"close"


def test_a_connection_is_not_told_to_close_in_http_2(house):
    answer = house.raw({"http_version": "2", **fields(("content-length", "x"))})
    assert b"connection" not in answer.headers


def test_a_large_body_is_refused_before_it_is_read_and_then_drained(house):
    body = parts(b"x" * MIB, b"x" * MIB)
    answer = house.raw({"method": "POST", **fields(("content-length", str(2 * MIB)))}, body)
    assert answer.json()["code"] == "BODY_TOO_LARGE"
    assert answer.headers[b"connection"] == b"close"
    # The whole answer leaves first; the end of it only once the request has been read.
    assert [message.get("more_body") for message in answer.events] == [None, True, False]
    assert answer.events[2]["body"] == b""


def post(house, key, messages, *extra_fields):
    headers = fields(
        ("authorization", f"Bearer {key}"),
        ("content-type", "application/json"),
        ("idempotency-key", "12345678"),
        *extra_fields,
    )
    return house.raw({"method": "POST", "path": "/api/v1/notes", **headers}, messages)


def test_a_chunked_body_is_refused_at_the_limit(house):
    chunks = parts(*[b" " * 65_536] * 20)
    answer = post(house, house.key(), chunks, ("transfer-encoding", "chunked"))
    assert answer.json()["code"] == "BODY_TOO_LARGE"


def test_a_chunked_body_within_the_limit_is_read_whole(house):
    answer = post(house, house.key(), parts(b'{"text"', b':"a"}'), ("transfer-encoding", "chunked"))
    assert answer.status == 201


def test_a_body_at_the_limit_is_read(house):
    body = b'{"text":"a"}'
    body += b" " * (MIB - len(body))
    answer = post(house, house.key(), parts(body), ("content-length", str(len(body))))
    assert answer.status == 201


def test_a_client_that_leaves_in_the_middle_of_its_body_gets_no_answer(house):
    key = house.key()
    messages = [{"type": "http.request", "body": b"{", "more_body": True}]
    assert post(house, key, messages, ("content-length", "20")).events == []
    house.service.runtime.journal.flush()
    assert house.log.lines[-1]["status"] == 499


def test_a_client_that_leaves_while_its_refusal_lingers_ends_it(house):
    messages = [{"type": "http.request", "body": b"x", "more_body": True}]
    assert house.raw(fields(("content-length", str(2 * MIB))), messages).status == 413


def answer_to_a_stall(house, path, *lines):
    """What is sent to a client that posts a head and then nothing."""
    events = []

    async def send(message):
        events.append(message)

    async def receive():
        await asyncio.Event().wait()

    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": path,
        "raw_path": path.encode(), "query_string": b"", "client": None, **fields(*lines),
    }  # fmt: skip
    house.run(house.service(scope, receive, send))
    return events


def test_a_slow_body_is_refused_in_time(make_house):
    house = make_house(body_seconds_max=1)
    key = house.key()
    begin = edge.system.monotonic()
    events = answer_to_a_stall(
        house, "/api/v1/notes",
        ("authorization", f"Bearer {key}"), ("content-type", "application/json"),
        ("idempotency-key", "12345678"), ("content-length", "9"),
    )  # fmt: skip
    assert events[0]["status"] == 408
    assert dict(events[0]["headers"])[b"connection"] == b"close"
    assert 0.9 < edge.system.monotonic() - begin < Settings().body_seconds_max


def test_an_answer_before_a_body_that_never_comes_lingers_only_for_a_while(house, monkeypatch):
    monkeypatch.setattr("svc_http.exchange.http_exchange.LINGER_SECONDS", 0.02)
    events = answer_to_a_stall(house, "/nowhere", ("content-length", "9"))
    assert [message.get("more_body") for message in events] == [None, True, False]


# -- load and drain ----------------------------------------------------------------------------


def test_more_requests_than_can_be_worked_on_are_told_to_come_again(make_house):
    house = make_house(in_flight_max=2)
    key = house.key()
    answers = house.asks([("GET", "/api/v1/notes"), *[("GET", "/livez")] * 3], key)
    assert {answer.status_code for answer in answers} == {200}
    house.service.runtime.load.in_flight = 2
    busy = house.ask("GET", "/api/v1/notes", key)
    assert (busy.status_code, busy.json()["code"]) == (503, "OVERLOADED")
    assert busy.headers["retry-after"] == "1"
    assert house.ask("GET", "/livez").status_code == 200
    house.service.runtime.load.in_flight = 0
    assert house.ask("GET", "/api/v1/notes", key).status_code == 200


def test_a_service_that_stops_takes_no_new_requests_but_says_how_it_is(house):
    house.service.drain()
    refusal = house.ask("GET", "/api/v1/notes")
    assert (refusal.status_code, refusal.json()["code"]) == (503, "SHUTTING_DOWN")
    assert refusal.headers["connection"] == "close"
    assert refusal.headers["retry-after"] == "1"
    assert house.ask("GET", "/livez").status_code == 200
    assert house.ask("GET", "/readyz").json()["code"] == "SHUTTING_DOWN"


def test_one_of_several_services_that_stops_answers_and_ends_its_connections(make_house):
    house = make_house(processes=2, in_flight_max=2)
    key = house.key()
    house.service.drain()
    for path in ("/api/v1/notes", "/livez", "/readyz", "/none"):
        answer = house.ask("GET", path, key)
        assert answer.status_code == (404 if path == "/none" else 200)
        assert answer.headers["connection"] == "close"
    house.service.runtime.load.in_flight = 2
    assert house.ask("GET", "/api/v1/notes", key).json()["code"] == "OVERLOADED"
    house.service.runtime.load.in_flight = 0


class FilledStore(MemoryStorage):
    """A store on a disk that is full while it is told so: all of it can be read."""

    is_full = False
    trials = 0

    async def write(self, tenant, unit):
        self.trials += 1
        if self.is_full:
            raise StorageUnavailable("SQLITE_FULL: database or disk is full")
        return await super().write(tenant, unit)


def test_a_full_disk_shows_where_readiness_is_asked_until_something_can_be_written(
    make_house, check_problem
):
    storage = FilledStore(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    key = house.key()
    version = storage.version
    assert house.ask("GET", "/readyz").status_code == 200
    assert storage.version == version  # as long as nothing failed, nothing is written
    storage.is_full = True
    note = {"json": {"text": "a"}, "headers": {"Idempotency-Key": "12345678"}}
    answer = house.ask("POST", "/api/v1/notes", key, **note)
    check_problem(answer, problem.STORAGE_UNAVAILABLE)
    assert answer.headers["retry-after"] == "1"
    lines = [line for line in house.log.lines if line["event"] == "storage"]
    assert ["traceback" in line for line in lines] == [True]
    for _ in range(2):
        house.ticks += 1
        check_problem(house.ask("GET", "/readyz"), problem.STORAGE_UNAVAILABLE)
        assert house.ask("GET", "/livez").status_code == 200
        assert house.ask("GET", "/api/v1/notes", key).status_code == 200
    again = [line for line in house.log.lines if line["event"] == "storage"][1:]
    assert [("traceback" in line, "disk is full" in line["error"]) for line in again] == [
        (False, True)
    ] * 2
    storage.is_full = False
    house.ticks += 1
    assert house.ask("GET", "/readyz").status_code == 200
    version = storage.version
    assert house.ask("GET", "/readyz").status_code == 200
    assert storage.version == version


@pytest.mark.parametrize(("is_full", "status"), [(False, 200), (True, 503)])
def test_readiness_is_looked_at_once_for_all_who_ask(make_house, is_full, status):
    storage = FilledStore(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    house.service.runtime.is_doubted, storage.is_full = True, is_full
    for seconds, trials in ((0, 1), (0.9, 1), (0.1, 2 if is_full else 1)):
        house.ticks += seconds
        answers = house.asks([("GET", "/readyz")] * 20)
        assert {answer.status_code for answer in answers} == {status}
        assert storage.trials == trials
    house.service.runtime.journal.flush()
    lines = [line for line in house.log.lines if line["event"] == "storage"]
    assert len(lines) == (2 if is_full else 0)


def test_a_defect_while_it_is_looked_does_not_stay(make_house, check_problem):
    storage = FilledStore(make_house().service_collections)
    house = make_house(parts={"storage": storage})
    house.service.runtime.is_doubted = True
    storage.write = lambda tenant, unit: 1 / 0
    check_problem(house.ask("GET", "/readyz"), problem.INTERNAL_ERROR)
    check_problem(house.ask("GET", "/readyz"), problem.STORAGE_UNAVAILABLE)
    del storage.write
    house.ticks += 1
    assert house.ask("GET", "/readyz").status_code == 200


def test_quiet_comes_when_the_last_request_has_ended(house):
    async def go():
        at_work, leave = asyncio.Event(), asyncio.Event()

        async def receive():
            at_work.set()
            await leave.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            raise AssertionError("there is nobody to answer")

        scope = {
            "type": "http", "http_version": "1.1", "method": "POST", "path": "/api/v1/notes",
            "raw_path": b"/api/v1/notes", "query_string": b"", "client": None,
            **fields(
                ("authorization", f"Bearer {key}"), ("content-type", "application/json"),
                ("idempotency-key", "12345678"), ("content-length", "9"),
            ),
        }  # fmt: skip
        request = asyncio.create_task(house.service(scope, receive, send))
        await at_work.wait()
        house.service.drain()
        quiet = asyncio.create_task(house.service.edge.quiet())
        finished_tasks, _ = await asyncio.wait([quiet], timeout=0.02)
        assert not finished_tasks
        leave.set()
        await asyncio.gather(request, quiet)
        await house.service.edge.quiet()

    key = house.key()
    house.run(go())


# -- other kinds of connection -----------------------------------------------------------------


@pytest.mark.parametrize("target", ["other.example:443", "/livez", "/nowhere", "*"])
def test_a_tunnel_is_refused_and_nothing_after_it_is_heard(house, target):
    answer = house.raw({"method": "CONNECT", "path": target, "raw_path": target.encode()})
    assert answer.status in {400, 404, 405}
    assert answer.headers[b"connection"] == b"close"


SWITCH = (("connection", "keep-alive, Upgrade"), ("upgrade", "WebSocket"))


@pytest.mark.parametrize("path", ["/livez", "/api/v1/notes", "/nowhere"])
@pytest.mark.parametrize(
    "extra_fields", [(), (("content-length", "3"),), (("sec-websocket-key", "x"),)]
)
def test_a_handshake_of_websocket_is_refused_however_it_is_made(house, path, extra_fields):
    answer = house.raw({"path": path, **fields(*SWITCH, *extra_fields)}, parts(b"abc"))
    assert (answer.status, answer.json()["code"]) == (400, "BAD_REQUEST")
    assert "WebSocket" in answer.json()["detail"]
    assert answer.headers[b"connection"] == b"close"


@pytest.mark.parametrize(
    "scope",
    [
        {"http_version": "1.0", **fields(*SWITCH)},
        {"method": "OPTIONS", **fields(*SWITCH)},
        fields(("upgrade", "websocket")),
        fields(("upgrade", "h2c, tls/1.2"), ("connection", "upgrade")),
    ],
)
def test_every_other_upgrade_is_overlooked(house, scope):
    assert house.raw(scope).status in {200, 204}


def websocket(house, extensions, path="/"):
    events = []

    async def receive():
        return {"type": "websocket.connect"}

    async def send(message):
        events.append(message)

    scope = {"type": "websocket", "path": path, "headers": [], "extensions": extensions}
    house.run(house.service(scope, receive, send))
    return events


def test_a_websocket_is_refused_as_every_request_is(house):
    start, body = websocket(house, {"websocket.http.response": {}})
    assert start["status"] == 400
    assert json.loads(body["body"])["code"] == "BAD_REQUEST"
    assert dict(start["headers"])[b"x-svc-api-version"] == b"1.0"
    start, _ = websocket(house, {"websocket.http.response": {}}, "/api/v2/changes")
    assert dict(start["headers"])[b"x-svc-api-version"] == b"2.0"


def test_a_websocket_is_closed_where_no_answer_can_be_given(house):
    assert websocket(house, {}) == [{"type": "websocket.close", "code": 1008}]
    house.service.runtime.journal.flush()
    assert (house.log.lines[-1]["method"], house.log.lines[-1]["status"]) == ("OTHER", 400)
    counts = house.ask("GET", "/metrics").text
    assert 'svc_requests_total{method="OTHER",route="",status="400"} 1.0' in counts


# -- whatever comes ----------------------------------------------------------------------------


@given(
    path=st.binary(max_size=40),
    query=st.binary(max_size=40),
    headers=st.lists(
        st.tuples(
            st.sampled_from(
                [b"content-length", b"transfer-encoding", b"expect", b"accept", b"host", b"origin",
                 b"authorization", b"if-none-match", b"x-forwarded-for", b"accept-encoding",
                 b"upgrade", b"connection"]
            ),
            st.binary(max_size=20),
        ),
        max_size=4,
    ),
    method=st.sampled_from(
        ["GET", "HEAD", "POST", "OPTIONS", "DELETE", "PATCH", "BREW", "CONNECT"]
    ),
    prefix=st.sampled_from(
        [b"/", b"/api/v1/notes", b"/api/v1/notes/", b"/problems/", b"http:", b"http://",
         b"https://[", b"http://a:", b"*"]
    ),
)  # fmt: skip
def test_nothing_escapes_and_every_error_is_a_problem(
    shared_house, path, query, headers, method, prefix
):
    raw = prefix + path
    scope = {
        "method": method,
        "path": edge.unquote_to_bytes(raw).decode("utf-8", "replace"),
        "raw_path": raw,
        "query_string": query,
        "headers": headers,
    }
    answer = shared_house.raw(scope)
    assert answer.status < 500
    if answer.status >= 400 and method != "HEAD":
        assert answer.json()["status"] == answer.status
        assert answer.headers[b"content-type"] == b"application/problem+json"
    assert answer.headers[b"x-request-id"].startswith(b"req_")
    assert b"x-svc-api-version" in answer.headers


def test_damage_is_said_to_be_that_with_the_way_out(make_house, check_problem):
    class DamagedStore(MemoryStorage):
        async def read(self, tenant, unit):
            raise StorageUnavailable("SQLITE_CORRUPT: malformed", is_damaged=True)

    house = make_house(parts={"storage": DamagedStore(make_house().service_collections)})
    answer = house.ask("GET", "/readyz")
    check_problem(answer, problem.STORAGE_UNAVAILABLE)
    assert "svc db check" in answer.json()["detail"]


def test_a_clock_that_was_set_and_sealed_times_ahead_of_it_show_in_readiness(make_house):
    house = make_house()
    runtime = house.service.runtime
    assert house.ask("GET", "/readyz").json() == {"status": "ready"}
    runtime.clock.look(1e9, 0.0)
    runtime.clock.look(1e9 - 3_600, 1.0)
    ahead = runtime.now() + timedelta(hours=1)
    runtime.host.providers[SealedTime].note(utc_text(ahead))
    body = house.ask("GET", "/readyz").json()
    assert (body["status"], body["sealedAheadSeconds"]) == ("ready", 3_600)
    assert body["clockJumpSeconds"] < -JUMP_SECONDS
