"""Every code of the catalogue: provoked here, or named with the feature that brings it."""

import asyncio
import json
import tempfile
import threading
from functools import partial
from pathlib import Path

import pytest
from attrs import evolve, frozen

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.chat_credits import CREDITS, ChatCredits
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.base import passes
from svc_core.catalog.openapi import failures as openapi
from svc_core.contract import cursor, problem
from svc_core.contract.problem import CATALOGUE, Problem
from svc_core.contract.result import Empty
from svc_core.ledger.append.rules import check_new
from svc_core.operation import executor
from svc_core.operation.caller import Actor
from svc_core.operation.declaration import Operation
from svc_core.reports import addresses
from svc_core.reports.addresses import Opening
from svc_core.reports.recordings import forget_audio
from svc_http.guard import keyed_locks as turns

LATER = {
    "SIGN_IN_FAILED": "the pages of the dashboard",
    "PROVIDER_CREDITS_EXHAUSTED": "the agent streams",
    "UPSTREAM_RATE_LIMITED": "the agent streams with a model",
    "UPSTREAM_ERROR": "the agent streams with a model",
    "UPSTREAM_UNAVAILABLE": "the agent streams",
    "UPSTREAM_TIMEOUT": "the agent streams",
    "PAYMENT_INVALID": "payments",
    "PAYMENT_REPLAYED": "payments",
    "PAYMENT_IN_PROGRESS": "payments",
    "PAYMENT_IDENTIFIER_CONFLICT": "payments",
    "INVALID_PAYMENT": "payments",
    "RECEIPT_NOT_FOUND": "payments",
    "SETTLEMENT_FAILED": "payments",
    "SETTLEMENT_PENDING": "payments",
    "SETTLEMENT_UNKNOWN": "payments",
    "PAYMENT_RATE_LIMITED": "payments",
    "SERVICE_UNAVAILABLE": "a dependency besides the store, which has a code of its own",
}

HOW = {}


def gives(kind):
    """Registers a way to make the service give one code."""

    def register(provoke):
        HOW[kind.code] = provoke
        return provoke

    return register


@frozen
class NoInputs:
    pass


def extra(id_, run, **rest):
    """An operation of the tests' own."""
    return Operation(
        id=id_,
        method=rest.pop("method", "GET"),
        path=f"/extra/{id_}",
        summary=id_,
        description=id_,
        tag="Reports",
        request=NoInputs,
        response=Empty,
        run=run,
        **rest,
    )


async def empty_page(ctx, request):
    return Empty()


@frozen
class Stage:
    """What the ways may use."""

    shared: object
    make_world: object
    wire: object
    ask: object


def listing(stage):
    return stage.shared.ask_of(stage.shared.operation("listNews"))


def creation_of(stage, body=None, **fields):
    ask = stage.shared.ask_of(stage.shared.operation("createProfile")).having(**fields)
    return stage.shared.send(ask if body is None else ask.evolve(body=body))


# -- one request each --------------------------------------------------------------------------

UNKNOWN = "svc_" + "0" * 64

PATHS = {
    problem.BAD_REQUEST: "/api/v1/news%00",
    problem.URI_TOO_LONG: "/api/v1/" + "n" * 8_192,
    problem.ROUTE_NOT_FOUND: "/api/v1/nowhere",
    problem.NOT_FOUND: "/api/v1/profiles/prf_" + "0" * 24,
    problem.INVALID_PARAMETER: "/api/v1/news?limit=0",
    problem.UNKNOWN_PARAMETER: "/api/v1/news?colour=red",
    problem.DUPLICATE_PARAMETER: "/api/v1/news?limit=5&limit=5",
    problem.INVALID_CURSOR: "/api/v1/news?cursor=x",
    problem.INVALID_WATERMARK: "/api/v2/changes?after=x",
}
KEYS = {
    problem.MISSING_API_KEY: None,
    problem.INVALID_API_KEY: UNKNOWN,
    problem.API_KEY_REVOKED: "revoked",
    problem.API_KEY_EXPIRED: "expired",
    problem.PLAN_INELIGIBLE: "ineligible",
    problem.INSUFFICIENT_SCOPE: "a agent:svc",
    problem.IP_NOT_ALLOWED: "elsewhere",
}
FIELDS = {
    problem.HEADERS_TOO_LARGE: {"x_long": "v" * 33_000},
    problem.EXPECTATION_FAILED: {"expect": "200-maybe"},
    problem.NOT_ACCEPTABLE: {"accept": "image/png"},
}
CREATION_FIELDS = {
    problem.UNSUPPORTED_MEDIA_TYPE: {"content_type": "text/plain"},
    problem.IDEMPOTENCY_KEY_REQUIRED: {"idempotency_key": None},
    problem.INVALID_IDEMPOTENCY_KEY: {"idempotency_key": "short"},
}
BODIES = {
    problem.BODY_TOO_LARGE: b" " * 1_048_577,
    problem.MALFORMED_JSON: b"{",
    problem.DUPLICATE_JSON_MEMBER: b'{"name":"a","name":"a"}',
    problem.INVALID_ENCODING: b'{"name":"\xff"}',
    problem.JSON_TOO_DEEP: b"[" * 65 + b"]" * 65,
    problem.NUMBER_OUT_OF_RANGE: b'{"name":9007199254740992}',
    problem.VALIDATION_FAILED: b"{}",
}
HEADS = {
    problem.NOT_IMPLEMENTED: b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
    problem.HTTP_VERSION_NOT_SUPPORTED: b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
}
for _table, _give in [
    (PATHS, lambda stage, path: stage.shared.get(path)),
    (KEYS, lambda stage, key: stage.shared.send(listing(stage), key, client="127.0.0.2")),
    (FIELDS, lambda stage, fields: stage.shared.send(listing(stage).having(**fields))),
    (CREATION_FIELDS, lambda stage, fields: creation_of(stage, **fields)),
    (BODIES, creation_of),
    (HEADS, lambda stage, head: stage.wire.say(head)),
]:
    for _kind, _row in _table.items():
        HOW[_kind.code] = lambda stage, give=_give, row=_row: give(stage, row)


# -- what takes more ---------------------------------------------------------------------------


@gives(problem.METHOD_NOT_ALLOWED)
def _(stage):
    return stage.shared.send(listing(stage).evolve(method="DELETE"))


@gives(problem.PAYMENT_REQUIRED)
def _(stage):
    return stage.shared.get("/api/v1/reports", None)


@gives(problem.CONFLICTING_PARAMETERS)
def _(stage):
    path = "/api/v2/ledger/records"
    cursor_ = stage.shared.get(f"{path}?format=json&limit=1").json()["meta"]["page"]["nextCursor"]
    return stage.shared.get(f"{path}?after=1&cursor={cursor_}")


@gives(problem.FORBIDDEN)
def _(stage):
    executor.check_role(catalog.LOCAL_OPERATIONS[0], Actor(""))


@gives(problem.LINK_EXPIRED)
def _(stage):
    world = stage.shared
    opening = Opening("wsp_a", "rpt_" + "7" * 24, world.clock())
    token = addresses.seal_report_link(world.app.runtime.keyring, opening, bytes(12))
    return world.get(f"{addresses.PATH}/{token}", None)


@gives(problem.FOUR_EYES_REQUIRED)
def _(stage):
    return record_of(stage, {**VERDICT, "target": claim_id(stage)})


@gives(problem.DUPLICATE_RECORD)
def _(stage):
    check_new(["clm_" + "0" * 24] * 2)


@gives(problem.NEWS_NOT_READY)
def _(stage):
    return stage.make_world(is_sown=False).get("/api/v1/news")


@gives(problem.REQUEST_TIMEOUT)
def _(stage):
    async def never():
        yield b"{"
        await asyncio.Event().wait()

    world = stage.make_world(body_seconds_max=1, is_sown=False)
    ask = world.ask_of(world.operation("createProfile"))
    return world.send(ask.evolve(body=never()))


@gives(problem.WEBHOOK_URL_NOT_ALLOWED)
def _(stage):
    world = stage.shared
    hook = {"url": "https://169.254.169.254/latest", "secret": "whsec_" + "U0VD" * 8}
    body = json.dumps(hook).encode()
    return world.send(world.ask_of(world.operation("createWebhook")).evolve(body=body))


@gives(problem.AUDIO_NOT_AVAILABLE)
def _(stage):
    world = stage.make_world()
    report_id = world.rows["a"]["rpt"][-1]
    silence = partial(forget_audio, report_id=report_id)
    world.run(world.hands.write(world.tenants["a"], silence))
    return world.get(f"/api/v1/reports/{report_id}/audio")


@gives(problem.RANGE_NOT_SATISFIABLE)
def _(stage):
    name = f"{'ab' * 32}.mp3"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).write_bytes(b"sound")
        world = stage.make_world(is_sown=False, media=folder)
        query = passes.issue(world.app.runtime.keyring, name, world.clock()).query
        return world.get(f"/media/{name}?{query}", range="bytes=5-")


@gives(problem.AUTH_LOCKED)
def _(stage):
    asks = [listing(stage)] * 6
    return stage.shared.send_all(asks, "svc_" + "0" * 64, client="127.0.0.3")[-1]


@gives(problem.WORKSPACE_KEY_REQUIRED)
def _(stage):
    operation = extra("ours", empty_page, binding="workspace")
    world = stage.make_world(operations=[operation], is_sown=False)
    return world.get(operation.address, "personal")


@gives(problem.RATE_LIMITED)
def _(stage):
    world = stage.make_world(is_sown=False)
    return world.send_all([stage.ask("GET", "/api/v1/news/feeds")] * 31, "pro")[-1]


@gives(problem.AGENT_RATE_LIMITED)
def _(stage):
    agent = extra("agent", empty_page, pool="agent")
    world = stage.make_world(operations=[agent], is_sown=False)
    return world.send_all([stage.ask("GET", agent.address)] * 6, "pro")[-1]


def asking(stage, **members):
    """A question to the agent, as a completion."""
    ask = stage.shared.ask_of(stage.shared.operation("createChatCompletion"))
    body = {**json.loads(ask.body), **members}
    return ask.evolve(body=json.dumps(body).encode())


PICTURE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}
QUESTIONS = {
    problem.UNSUPPORTED_MODEL: {"model": "gpt-4o"},
    problem.STREAM_REQUIRED: {"stream": False},
    problem.ATTACHMENTS_NOT_SUPPORTED: {"messages": [PICTURE]},
    problem.THREAD_NOT_FOUND: {"threadId": "thr_" + "0" * 24},
    problem.REQUEST_TOO_LARGE: {"extra": "x" * 2**20},
}
for _kind, _members in QUESTIONS.items():
    gives(_kind)(lambda stage, members=_members: stage.shared.send(asking(stage, **members)))


@gives(problem.SUBSCRIPTION_REQUIRED)
def _(stage):
    return stage.shared.send(asking(stage), "lite")


@gives(problem.CHAT_CREDITS_EXHAUSTED)
def _(stage):
    ask, world = asking(stage), stage.make_world(is_sown=False)
    used = ChatCredits(f"{world.clock():%Y-%m}", used=500)
    tenant = world.tenants["pro"]
    world.run(world.hands.write(tenant, lambda ctx: ctx.create(CREDITS, used.period, used)))
    return world.send(ask, "pro")


@gives(problem.WATERMARK_GONE)
def _(stage):
    world = stage.shared
    token = world.get("/api/v2/changes").json()["meta"]["watermark"]
    mark = cursor.open_watermark(token, world.tenants["a"])
    watermark = cursor.seal_watermark(evolve(mark, epoch=b"restored"), world.tenants["a"])
    return world.get(f"/api/v2/changes?after={watermark}")


# -- the ledger --------------------------------------------------------------------------------

CLAIM = {"kind": "claim", "predicate": "motto", "value": "x"}
VERDICT = {"kind": "claim", "op": "verify", "state": "refuted"}
NEW_YEAR = "2024-01-01T00:00:00Z"
BAD_RECORDS = [
    (problem.TIMESTAMP_INVALID, {**CLAIM, "validFrom": "2024-01-01 00:00:00Z"}),
    (problem.TIMESTAMP_LEAP_SECOND, {**CLAIM, "validFrom": "2016-12-31T23:59:60Z"}),
    (problem.TIMESTAMP_PRECISION, {**CLAIM, "validFrom": "2024-01-01T00:00:00.1234567Z"}),
    (problem.INTERVAL_EMPTY, {**CLAIM, "validFrom": NEW_YEAR, "validTo": NEW_YEAR}),
    (problem.RECORD_TOO_LARGE, {**CLAIM, "value": ["x" * 10_000] * 7}),
    (problem.UNKNOWN_SUBJECT, {**CLAIM, "subject": "sbj_" + "0" * 24}),
    (problem.UNKNOWN_EVIDENCE, {**CLAIM, "evidence": ["obs_" + "0" * 24]}),
    (problem.UNKNOWN_TARGET, {**VERDICT, "target": "clm_" + "0" * 24}),
    (
        problem.DESIGNATOR_INVALID,
        {"kind": "designator", "scheme": "lei", "value": "5493001KJTIIGC8Y1R13"},
    ),
]


def record_of(stage, body):
    """The answer to an append of one record about a subject of the world."""
    world = stage.shared
    whole = {"subject": world.rows["a"]["sbj"][-1], **body}
    ask = world.ask_of(world.operation("appendRecords"))
    return world.send(ask.evolve(body=json.dumps(whole).encode()))


def claim_id(stage):
    """The id of a new claim."""
    return record_of(stage, CLAIM).json()["data"]["id"]


for _kind, _body in BAD_RECORDS:
    gives(_kind)(partial(record_of, body=_body))


@gives(problem.NUMBER_PRECISION)
def _(stage):
    ask = stage.shared.ask_of(stage.shared.operation("appendRecords"))
    return stage.shared.send(ask.evolve(body=b'{"kind":"claim","value":1e-400}'))


@gives(problem.TARGET_NOT_IN_FORCE)
def _(stage):
    retract = {"kind": "claim", "op": "retract", "target": claim_id(stage), "reason": "incorrect"}
    assert record_of(stage, retract).status_code == 201
    return record_of(stage, {**retract, "reason": "other"})


@gives(problem.TRANSITION_NOT_ALLOWED)
def _(stage):
    looking = {**VERDICT, "target": claim_id(stage), "state": "under_review"}
    assert record_of(stage, looking).status_code == 201
    return record_of(stage, looking)


@gives(problem.ERASURE_NOT_ALLOWED)
def _(stage):
    erase = {"kind": "claim", "op": "erase", "target": claim_id(stage), "reason": "asked"}
    return record_of(stage, erase)


@gives(problem.PRECONDITION_FAILED)
def _(stage):
    ask = stage.shared.ask_of(stage.shared.operation("updateProfile"))
    return stage.shared.send(ask.having(if_match='"stale"'))


@gives(problem.IDEMPOTENCY_CONFLICT)
def _(stage):
    body = {"name": "Other", "topic": "Other strikes", "frequency": "manual"}
    first = creation_of(stage, idempotency_key="conflict-1")
    assert first.status_code == 201
    return creation_of(stage, json.dumps(body).encode(), idempotency_key="conflict-1")


@gives(problem.RESOURCE_CONFLICT)
def _(stage):
    async def twice(ctx):
        for _ in range(2):
            await accounts.create_user(
                ctx, name="Ann", email="ann@example.org", plans=DEFAULT_PLANS
            )

    stage.shared.system(twice)


def run_of(stage):
    """Whoever asks for a run of the newest automation, which has none."""
    return stage.shared.ask_of(stage.shared.operation("runAutomation"))


@gives(problem.RUN_IN_PROGRESS)
def _(stage):
    ask = run_of(stage)
    assert stage.shared.send(ask).status_code == 202
    return stage.shared.send(ask.having(idempotency_key=None))


@gives(problem.AUTOMATION_ARCHIVED)
def _(stage):
    ask = run_of(stage)
    archive = stage.shared.ask_of(stage.shared.operation("archiveAutomation"))
    assert stage.shared.send(archive).status_code == 200
    return stage.shared.send(ask)


# -- the service itself ------------------------------------------------------------------------


@gives(problem.INTERNAL_ERROR)
def _(stage):
    async def fail(ctx, request):
        raise RuntimeError("a defect")

    defect = extra("defect", fail)
    world = stage.make_world(operations=[defect], is_sown=False)
    return world.get(defect.address)


@gives(problem.STORAGE_UNAVAILABLE)
def _(stage):
    world = stage.make_world("sqlite", is_sown=False)
    ask = world.ask_of(world.operation("createProfile"))
    assert world.send(ask).status_code == 201
    world.run(world.storage.close())
    return world.send(ask)


@gives(problem.OVERLOADED)
def _(stage):
    world = stage.make_world("sqlite", is_sown=False, in_flight_max=1)
    ask = world.ask_of(world.operation("createProfile"))
    assert world.get("/api/v1/profiles").status_code == 200  # the key is known from here on
    # The first waits for a thread of the store when the second comes.
    answers = world.send_all([ask, ask])
    assert [answer.status_code for answer in answers] == [201, 503]
    return answers[1]


@gives(problem.IDEMPOTENCY_IN_PROGRESS)
def _(stage):
    world = stage.make_world("sqlite", is_sown=False)
    ask = world.ask_of(world.operation("createProfile"))
    assert world.get("/api/v1/profiles").status_code == 200  # the key is known from here on
    refusal = threading.Event()
    world.on_answer = lambda answer: refusal.set() if answer.status_code == 409 else None

    async def hold(_):
        assert refusal.wait(60)

    async def keep_the_writer_busy():
        return asyncio.ensure_future(world.storage.write("", hold))

    writer = world.run(keep_the_writer_busy())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(turns, "WAIT_SECONDS_MAX", 0.05)
        answers = world.send_all([ask, ask])
    world.run(asyncio.wait_for(writer, 60))
    assert sorted(answer.status_code for answer in answers) == [201, 409]
    assert world.send(ask).headers["idempotency-replayed"] == "true"
    return next(answer for answer in answers if answer.status_code == 409)


@gives(problem.SHUTTING_DOWN)
def _(stage):
    world = stage.make_world(is_sown=False)
    world.app.drain()
    return world.get("/api/v1/news/feeds")


# -- the registry ------------------------------------------------------------------------------


@pytest.fixture
def stage(shared, make_world, wire_server, ask):
    return Stage(shared, make_world, wire_server, ask)


def _provoke(provoke, stage):
    """The answer over HTTP, or the refusal of a rule that no operation reaches yet."""
    try:
        return provoke(stage)
    except Problem as refusal:
        return refusal


@pytest.mark.parametrize("code", list(HOW))
def test_every_code_of_today_is_given(stage, code):
    kind = CATALOGUE[code]
    answer = _provoke(HOW[code], stage)
    if isinstance(answer, Problem):
        assert answer.type is kind
        return
    if isinstance(answer, bytes):
        head, _, body = answer.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % kind.status)
        assert json.loads(body)["code"] == code
        return
    assert (answer.status_code, answer.json()["code"]) == (kind.status, code), answer.text
    if kind.retryable and kind.status in {409, 429, 503}:
        assert int(answer.headers["retry-after"]) >= 1


def test_a_code_is_either_given_today_or_comes_with_a_feature():
    assert set(HOW) | set(LATER) == set(CATALOGUE)
    assert not set(HOW) & set(LATER)


def test_what_operations_say_they_fail_with_stands_in_the_catalogue():
    for operation in catalog.OPERATIONS:
        for kind in openapi.failure_responses(operation):
            assert CATALOGUE[kind.code] is kind


def test_every_type_address_resolves_to_its_explanation(shared):
    for code, kind in CATALOGUE.items():
        path = f"/problems/{kind.slug}"
        page = shared.get(path, None, accept="text/html")
        assert (page.status_code, code in page.text) == (200, True), code
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        body = shared.get(path, None, accept="application/json").json()
        assert (body["code"], body["status"], body["title"]) == (code, kind.status, kind.title)
        assert body["resolution"] == kind.resolution
        assert body["type"].endswith(path)
