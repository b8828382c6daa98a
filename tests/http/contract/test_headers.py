"""An answer has the fields that its description tells of, and no other: asked of every operation.

`World.send` holds each answer against the description, both ways; the tests here bring about the
answers, and those that have fields of a condition of their own.
"""

import pytest

from svc_core import catalog
from svc_core.operation.declaration import Trait
from svc_core.operation.parsing import request_shape

SPOILERS = {
    "a name that is not known": lambda ask: ask.asking(("colour", "red")),
    "a representation that is not offered": lambda ask: ask.having(accept="image/png"),
    "a body of another kind": lambda ask: ask.having(content_type="text/plain"),
    "no body": lambda ask: ask.evolve(body=b"" if ask.body is not None else None),
    "a version that is not the current one": lambda ask: ask.having(if_match='"other"'),
    "a broken key of repetition": lambda ask: ask.having(idempotency_key="short"),
    "nothing at that place": lambda ask: ask.evolve(path=ask.path.replace("a", "0")),
}


@pytest.mark.parametrize("operation", catalog.OPERATIONS, ids=lambda operation: operation.id)
def test_an_answer_has_the_fields_that_are_told_and_no_other(shared, operation):
    ask = shared.ask_of(operation)
    first = shared.send(ask)
    tag = first.headers.get("etag")
    documented = shared.contract.description_of(operation)["responses"][str(operation.success)][
        "headers"
    ]
    assert ("ETag" in documented) == (tag is not None)
    if operation.method == "GET" and tag is not None:
        assert shared.send(ask.having(if_none_match=tag)).status_code == 304
    assert ("Idempotency-Replayed" in documented) == (operation.idempotency != "none")
    if operation.idempotency != "none":
        assert "idempotency-replayed" in shared.send(ask).headers
    old = request_shape(operation).traits[Trait.DEPRECATED]
    for name in old:
        assert "deprecation" in shared.send(ask.asking((name, "0"))).headers
    assert ("Deprecation" in documented) == bool(old)
    for spoil in SPOILERS.values():
        shared.send(spoil(shared.ask_of(operation)))
    for key in (None, "revoked", "a news:read", "a agent:svc", "personal", "svc_" + "0" * 64):
        shared.send(shared.ask_of(operation), key)
    shared.clock.forward(minutes=16)


def test_a_service_tells_of_no_field_that_it_never_sends(make_world, contract):
    """Without limits, payments and an end of what is deprecated, none of their fields is told."""
    world = make_world(rate_limits=False, x402_pay_to=None, is_sown=False)
    documented = world.get("/openapi.json").json()["components"]["headers"]
    absent = contract.document["components"]["headers"].keys() - documented.keys()
    assert {"X-RateLimit-Limit-Minute", "RateLimit", "PAYMENT-REQUIRED"} <= absent
    assert "Sunset" not in documented
    assert {"ETag", "Link", "Retry-After", "WWW-Authenticate"} <= documented.keys()
