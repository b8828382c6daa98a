"""Nothing that a caller sends in confidence comes out again: not in a log, not in a refusal."""

import json
from itertools import cycle

import pytest
from attrs import frozen

from svc_core import catalog
from svc_core.contract import problem
from svc_core.contract.result import Empty
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of
from tests.backends import NAMES

CANARY = "canary7f3a"
"""Stands in every part that travels: values, never names."""

UNKNOWN = "svc_" + "c0ffee00" * 8
LOUD = f"{CANARY} at /srv/secret/path: SELECT * FROM keys WHERE secret = 'svc_{'ab' * 32}'"


def spoilt(world, operation):
    """The requests of one operation that carry canaries, good ones and every kind of bad one."""
    ask = world.ask_of(operation)
    if ask.path != operation.address:
        for item in inputs_of(operation.request):
            if item.place == "path" and item.id_of:
                id_ = world.id_for(item.id_of)
                yield ask.evolve(path=ask.path.replace(id_, CANARY))
                yield ask.evolve(path=ask.path.replace(id_, f"{id_[:4]}{CANARY}%0A"))
    for item in inputs_of(operation.request):
        if item.place == "query":
            yield ask.asking((item.name, CANARY))
            yield ask.asking((item.name, CANARY), (item.name, CANARY))
            yield ask.asking((item.name, f"%00{CANARY}"))
    yield ask.asking(("colour", CANARY))
    yield ask.asking(("format", CANARY))
    yield ask.evolve(method="BREW").asking(("colour", CANARY))
    for name in ("Accept", "If-Match", "If-None-Match", "X-Request-Id", "X-Forwarded-For", "Cookie",
                 "User-Agent", "Referer", "PAYMENT-SIGNATURE", "Expect", "Origin", "X-Other",
                 "Content-Encoding", "Content-Type", "X-HTTP-Method-Override"):  # fmt: skip
        yield ask.having(**{name.lower().replace("-", "_"): f"{CANARY}/{CANARY}"})
    if operation.idempotency != "none":
        yield ask.having(idempotency_key=f"{CANARY} with space")
        yield ask.having(idempotency_key=f"{CANARY}-{operation.id}")
    if ask.body is not None:
        yield from spoilt_bodies(world, operation, ask)


def spoilt_bodies(world, operation, ask):
    example = world.example_body(operation)
    for name, value in example.items():
        wrong = {"x": CANARY} if isinstance(value, str) else CANARY
        yield ask.evolve(body=json.dumps({**example, name: wrong}).encode())
        yield ask.evolve(body=json.dumps({**example, name: CANARY * 300}).encode())
        yield ask.evolve(body=json.dumps({**example, name: CANARY}).encode())
    yield ask.evolve(body=json.dumps({**example, "colour": CANARY}).encode())
    for text in (
        CANARY,
        f'"{CANARY}"',
        f'["{CANARY}"]',
        f'{{"name":"{CANARY}',
        f'{{"name":"{CANARY}\\u0000"}}',
        f'{{"name":"{CANARY}","name":"{CANARY}"}}',
    ):
        yield ask.evolve(body=text.encode())
    yield ask.evolve(body=f'{{"name":"{CANARY}'.encode() + b'\xff"}')


def assert_silent(answer):
    """The answer, where it refuses, repeats nothing of the request."""
    for name, value in answer.headers.items():
        assert CANARY not in value or name == "idempotency-key", name
        assert UNKNOWN[12:] not in value
    if answer.status_code >= 400:
        assert CANARY not in answer.text, answer.text


def assert_unlogged(world):
    log = world.log_text()
    assert log
    assert CANARY not in log
    assert UNKNOWN[12:] not in log
    for secret in world.keys.values():
        assert secret not in log
        assert secret[12:] not in log
    for line in log.splitlines():
        json.loads(line)
    world.log.text = ""  # what was looked at is not looked at again


@pytest.mark.parametrize(
    "operation", catalog.OPERATIONS, ids=[operation.id for operation in catalog.OPERATIONS]
)
def test_no_part_of_a_request_is_logged_or_told_back_by_a_refusal(shared, operation):
    # Of who is refused one is judged by scopes and one before; little of a request is read by then.
    keys = cycle((("a", "a agent:svc"), ("a",), ("a",), ("a", None), ("a",)))
    for ask, senders in zip(spoilt(shared, operation), keys, strict=False):
        for key in senders:
            assert_silent(shared.send(ask, key))
    shared.clock.forward(minutes=16)
    for key in (UNKNOWN, "revoked", "expired", "ineligible", "elsewhere"):
        answer = shared.send(shared.ask_of(operation), key)
        assert_silent(answer)
        assert shared.keys.get(key, key)[12:] not in answer.text
    for authorization in (f"Bearer {CANARY}", f"Basic {CANARY}", f"Bearer {UNKNOWN}{CANARY}"):
        assert_silent(shared.send(shared.ask_of(operation).having(authorization=authorization)))
    assert_unlogged(shared)


@pytest.fixture(scope="module", autouse=True)
def _metrics(shared):
    """What is counted keeps the labels of all that was asked: it is read behind the last test."""
    yield
    assert CANARY not in shared.get("/metrics", None).text


def test_addresses_that_lead_nowhere_are_not_logged(shared):
    for path in (
        f"/{CANARY}",
        f"/api/v1/{CANARY}",
        f"/problems/{CANARY}",
        f"/static/{CANARY}.js",
        f"/docs/../{CANARY}",
        f"//{CANARY}",
        f"/api/v1/news/{CANARY}?x={CANARY}",
    ):
        assert_silent(shared.get(path))
    assert_unlogged(shared)


# -- defects -----------------------------------------------------------------------------------


@frozen
class NoInputs:
    pass


async def fail(ctx, request):
    raise RuntimeError(LOUD)


async def fail_in_chain(ctx, request):
    try:
        raise ValueError(f"Bearer {UNKNOWN}")
    except ValueError as first:
        error = KeyError("whsec_c2VjcmV0")
        error.add_note(f"seen with {UNKNOWN}")
        raise error from first


async def return_nonsense(ctx, request):
    return object()


async def write_and_fail(ctx, request):
    await ctx.tx.documents.delete(catalog.COLLECTIONS[0], "wsp_" + "0" * 24)
    raise ZeroDivisionError(LOUD)


def defect(run, **rest):
    name = f"{rest.get('method', 'GET')}-{run.__name__}"
    return Operation(
        id=name,
        path=f"/defects/{name}",
        summary="Defect.",
        description="Defect.",
        tag="Reports",
        request=NoInputs,
        response=Empty,
        run=run,
        **{"method": "GET", **rest},
    )


DEFECTS = [
    defect(fail),
    defect(fail_in_chain),
    defect(return_nonsense),
    defect(write_and_fail, method="DELETE"),
    defect(fail, method="POST"),
]


@pytest.mark.parametrize("store", NAMES)
def test_a_defect_answers_without_a_word_of_its_own(make_world, ask, check_problem, store):
    world = make_world(store, operations=DEFECTS, is_sown=False)
    for operation in DEFECTS:
        answer = world.send(ask(operation.method, operation.address))
        body = check_problem(answer, problem.INTERNAL_ERROR)
        assert body["detail"] == "The request could not be completed."
        for word in (CANARY, "Error", "SELECT", "/srv", "svc_", "Traceback", "object"):
            assert word not in answer.text.replace("Internal error", "")
            assert word not in str(dict(answer.headers)).replace("x-svc_", "")
        failure = next(
            line
            for line in map(json.loads, world.log_text().splitlines())
            if line["event"] == "failure" and line["requestId"] == body["requestId"]
        )
        assert "Traceback" in failure["traceback"]
        for secret in ("ab" * 30, UNKNOWN[12:], "c2VjcmV0"):
            assert secret not in world.log_text()
        assert world.get("/api/v1/news/feeds").status_code == 200


# -- at rest -----------------------------------------------------------------------------------
