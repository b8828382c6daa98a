"""Two servers count together, and what becomes of requests while the place of counts is away."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.fleet.fleet import Fleet, ask, together, until
from tests.http.shared.conftest import Valkey
from tests.postgres import PostgresServer

PROFILES = "/api/v1/profiles"
PRO = 30
"""Requests that the plan admits in a minute, of one key and of all keys of its workspace."""


@pytest.fixture(scope="module")
def fleet(
    fleet_of: Callable[..., Fleet], postgres: PostgresServer, valkey: Valkey
) -> Iterator[Fleet]:
    """Of two servers the first refuses what it cannot count, and the second admits it."""
    fleet = fleet_of(postgres, SVC_COUNTERS=valkey.address, SVC_WORKERS="none")
    fleet.start([(), ("--counters-down", "admit")])
    yield fleet
    for server in fleet.servers:
        assert server.events("failure", "storage", "worker") == []


def test_limits_hold_to_the_request_over_both_servers(fleet: Fleet) -> None:
    while True:
        key = fleet.key("pro")
        other = fleet.svc("keys", "create", "--name", "b", "--workspace", key.workspace)["key"]
        calls = [
            partial(ask, origin, PROFILES, text)
            for origin in fleet.origins
            for text in (key.text, other)
        ]
        minute = time.time() // 60
        replies = together(calls * (2 * PRO // len(calls)))
        if time.time() // 60 == minute:  # else it fell into two windows
            break
    assert Counter(reply.status for reply in replies) == {200: PRO, 429: PRO}
    assert all("retry-after" in reply.fields for reply in replies if reply.status == 429)


def test_of_a_burst_of_unknown_keys_five_are_told_and_the_address_is_locked_on_both(
    fleet: Fleet,
) -> None:
    unknown = f"svc_{'0' * 64}"
    calls = [
        partial(ask, origin, PROFILES, unknown, X_Forwarded_For="203.0.113.9")
        for origin in fleet.origins * 6
    ]
    assert Counter(reply.json["code"] for reply in together(calls)) == {
        "INVALID_API_KEY": 5, "AUTH_LOCKED": 7,
    }  # fmt: skip
    for origin in fleet.origins:
        reply = ask(origin, PROFILES, fleet.key().text, X_Forwarded_For="203.0.113.9")
        assert reply.json["code"] == "AUTH_LOCKED"


def test_without_the_place_of_counts_requests_are_refused_or_admitted_as_is_set(
    fleet: Fleet, valkey: Valkey
) -> None:
    key = fleet.key().text
    for _ in range(2):
        for origin in fleet.origins:
            assert "ratelimit" in ask(origin, PROFILES, key).fields
        valkey.kill()
        refused, admitted = (ask(origin, PROFILES, key) for origin in fleet.origins)
        assert (refused.status, refused.json["code"]) == (503, "SERVICE_UNAVAILABLE")
        assert "retry-after" in refused.fields
        assert (admitted.status, "ratelimit" in admitted.fields) == (200, False)
        valkey.start()
        for origin in fleet.origins:
            until(lambda origin=origin: "ratelimit" in ask(origin, PROFILES, key).fields)
    for server in fleet.servers:
        until(lambda server=server: len(server.events("counters reachable")) == 2)
        assert len(server.events("counters unreachable")) == 2
