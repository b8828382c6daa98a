"""Random requests in ASGI's own words: whatever comes, the answer is one of ours and no defect.

A seed makes one storm, so a failure is found again; the message names the request.
"""

import asyncio
import json
import random
import re
from collections import Counter
from urllib.parse import quote

import pytest

from svc_core.contract.problem import CATALOGUE, MEDIA_TYPE
from tests.http.conftest import MEMBERS_OF_A_PROBLEM

JUNK = (
    "", " ", "0", "-1", "1e9", "1.5", "true", "null", "NaN", "x" * 5000, "9" * 400, "%", "%2F",
    "\u0665", "\x00", "\r\n", "\U0001f600", "\u2028", "\xff\xfe", "a,b,,c", "..", "*", ";;;",
    "2026-02-30T00:00:00Z", "2026-01-01T00:00:00Z/..", "9999-12-31T23:59:59.999999-23:59",
    "0001-01-01T00:00:00+23:59", "2026-12-31T23:59:60Z", "25:00", '"', '""', 'W/"', '"x", "y"',
    "application/json;q=0", "text/*;q=2", "application/x-ndjson", "text/markdown", "economy", "en",
    "prf_" + "0" * 24, "0" * 24, "UTC", "Europe/Paris", "../../etc/passwd", "zoneinfo", "Europe/",
)  # fmt: skip
FIELDS = (
    "accept", "accept-charset", "authorization", "content-type", "content-encoding",
    "content-length", "transfer-encoding", "idempotency-key", "if-match", "if-none-match", "expect",
    "host", "origin", "range", "x-forwarded-for", "cf-connecting-ip", "x-real-ip", "x-request-id",
    "te", "upgrade", "access-control-request-method", "access-control-expose-headers", "cookie",
    "last-event-id",
)  # fmt: skip
SPLINTERS = (b"%00", b"%2F", b"%FF", b"%", b"//", b"\xe9", b";", b"#", b" ")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "get", "BREW", "")
VALUES = (
    None,
    True,
    0,
    -1,
    1.5,
    2**53,
    1e308,
    "",
    "x",
    [],
    {},
    [None],
    {"a": {"b": []}},
    "x" * 3000,
)


class Storm:
    """Requests without end, some sound and most not."""

    def __init__(self, world, seed):
        self.world = world
        self.dice = random.Random(seed)
        self.pages = ["/", "/livez", "/readyz", "/metrics", "/openapi.json", "/docs", "/llms.txt",
                      "/problems/not-found", "/openapi.flat.json", "/static/x.js"]  # fmt: skip
        self.bearers = [f"Bearer {secret}" for secret in world.keys.values()]
        self.replant()

    def replant(self):
        """Sound requests to spoil, for rows that are there."""
        self.asks = [self.world.ask_of(operation) for operation in self.world.operations]

    def draw(self):
        """One request: its scope and its messages."""
        dice = self.dice
        ask = dice.choice(self.asks)
        parts = {
            "method": ask.method,
            "path": quote(ask.path).encode(),
            "query": "&".join(f"{quote(n)}={quote(v)}" for n, v in ask.query).encode(),
            "headers": [(n.lower().encode(), v.encode()) for n, v in ask.headers.items()],
            "body": ask.body or b"",
            "version": "1.1",
            "client": ".".join(str(dice.randrange(256)) for _ in range(4)),
        }
        bearer = self.bearers[0] if dice.random() < 0.8 else dice.choice(self.bearers)
        parts["headers"].append((b"authorization", bearer.encode()))
        for _ in range(dice.randrange(4)):
            dice.choice(SPOILS)(self, parts)
        return parts

    def text(self):
        dice = self.dice
        if dice.random() < 0.8:
            return dice.choice(JUNK)
        return "".join(chr(dice.randrange(1, 0x300)) for _ in range(dice.randrange(30)))

    def value(self, depth=0):
        dice = self.dice
        if depth > 3 or dice.random() < 0.6:
            return self.text() if dice.random() < 0.4 else dice.choice(VALUES)
        if dice.random() < 0.5:
            return [self.value(depth + 1) for _ in range(dice.randrange(4))]
        return {self.text(): self.value(depth + 1) for _ in range(dice.randrange(4))}


def spoil_method(storm, parts):
    parts["method"] = storm.dice.choice(METHODS)


def spoil_path(storm, parts):
    dice, path = storm.dice, parts["path"]
    place = dice.randrange(len(path) + 1)
    parts["path"] = dice.choice(
        [
            path + b"/",
            path.upper(),
            path[:place] + dice.choice(SPLINTERS) + path[place:],
            path[:place],
            b"http://elsewhere.example" + path,
            b"*",
            path.rpartition(b"/")[0] + b"/" + quote(storm.text()).encode(),
            dice.choice(storm.pages).encode(),
        ]
    )  # fmt: skip


def spoil_query(storm, parts):
    dice = storm.dice
    name = dice.choice(["limit", "cursor", "format", "after", "types", "topics", "language",
                        "source", "datetime", "profileId", "include", "view", "x", ""])  # fmt: skip
    text = storm.text()
    value = (
        quote(text) if dice.random() < 0.7 else text.encode("utf-8", "replace").decode("latin-1")
    )
    pair = f"{name}={value}".encode("latin-1", "replace")
    parts["query"] = dice.choice([pair, parts["query"] + b"&" + pair, pair + b"&" + pair, pair[1:]])


def spoil_field(storm, parts):
    value = storm.text().encode("utf-8", "replace").replace(b"\r", b"").replace(b"\n", b"")
    field = (storm.dice.choice(FIELDS).encode(), value.replace(b"\x00", b"")[:9000])
    if storm.dice.random() < 0.7:
        parts["headers"] = [pair for pair in parts["headers"] if pair[0] != field[0]]
    parts["headers"].insert(storm.dice.randrange(len(parts["headers"]) + 1), field)


def spoil_key(storm, parts):
    parts["headers"] = [pair for pair in parts["headers"] if pair[0] != b"authorization"]
    if storm.dice.random() < 0.7:
        parts["headers"].append((b"authorization", storm.dice.choice(storm.bearers).encode()))


def spoil_body(storm, parts):
    dice, body = storm.dice, parts["body"]
    try:
        members = json.loads(body)
    except ValueError:
        members = None
    if isinstance(members, dict) and dice.random() < 0.7:
        name = dice.choice([*members, "colour"])
        members[name] = storm.value()
        parts["body"] = json.dumps(members, ensure_ascii=dice.random() < 0.5).encode(
            "utf-8", "surrogatepass"
        )
        return
    place = dice.randrange(len(body) + 1)
    parts["body"] = dice.choice(
        [
            body[:place],
            body[:place] + dice.randbytes(dice.randrange(1, 9)) + body[place:],
            json.dumps(storm.value()).encode(),
            b"[" * dice.randrange(200),
            dice.randbytes(dice.randrange(200)),
            b" " * 1_048_577,
            body + body,
        ]
    )


def spoil_version(storm, parts):
    parts["version"] = storm.dice.choice(["1.0", "2", "3"])


SPOILS = (spoil_method, spoil_path, spoil_query, spoil_field, spoil_key, spoil_body, spoil_body,
          spoil_query, spoil_field, spoil_version)  # fmt: skip


async def give(app, parts, dice):
    """Run one request; what was sent, and whether the client stayed until the end."""
    body, messages = parts["body"], []
    while len(body) > 1 and dice.random() < 0.3:
        cut = dice.randrange(1, len(body))
        messages.append({"type": "http.request", "body": body[:cut], "more_body": True})
        body = body[cut:]
    messages.append({"type": "http.request", "body": body, "more_body": False})
    if not (stays := dice.random() > 0.02):
        messages = [*messages[: dice.randrange(len(messages))], {"type": "http.disconnect"}]
    events, waiting = [], iter(messages)

    async def receive():
        for message in waiting:
            return message
        return await asyncio.Future() if stays else {"type": "http.disconnect"}

    async def send(message):
        events.append(message)

    raw = parts["path"]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": parts["version"],
        "method": parts["method"],
        "scheme": "http",
        "path": _unquote(raw),
        "raw_path": raw,
        "query_string": parts["query"],
        "root_path": "",
        "headers": parts["headers"],
        "client": (parts["client"], 5000),
        "server": ("127.0.0.1", 80),
    }
    await app(scope, receive, send)
    return events, stays


def _unquote(raw):
    """The path as Hypercorn gives it."""
    spelt = re.sub(rb"%([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]), raw)
    return spelt.decode("utf-8", "replace")


def check(parts, events, stays):
    """One whole answer of ours, and no defect; the status is returned."""
    if not events:
        assert not stays
        return 0
    assert [message["type"] for message in events] == ["http.response.start"] + [
        "http.response.body"
    ] * (len(events) - 1)
    has_more = [message.get("more_body", False) for message in events[1:]]
    assert has_more == [True] * (len(has_more) - 1) + [False]
    status, headers = events[0]["status"], dict(events[0]["headers"])
    body = b"".join(message.get("body", b"") for message in events[1:])
    assert status < 500, body
    for name, value in events[0]["headers"]:
        assert re.fullmatch(rb"[a-z0-9-]+", name)
        assert re.fullmatch(rb"[\x20-\x7e]*", value), (name, value)
    assert re.fullmatch(rb"req_[0-9a-f]{24}", headers[b"x-request-id"])
    assert headers[b"x-svc-api-version"] in {b"1.0", b"2.0"}
    assert headers[b"access-control-allow-origin"] == b"*"
    if parts["method"] == "HEAD" or status in {204, 304}:
        assert body == b""
        return status
    if headers[b"content-type"].startswith(b"text/event-stream"):
        assert status == 200
        assert body.endswith(b"data: [DONE]\n\n")
        return status
    assert int(headers[b"content-length"]) == len(body)
    if status >= 400:
        members = json.loads(body)
        assert headers[b"content-type"] == MEDIA_TYPE.encode()
        assert headers[b"cache-control"] == b"no-store"
        assert list(members) == MEMBERS_OF_A_PROBLEM
        assert CATALOGUE[members["code"]].status == members["status"] == status
        assert members["requestId"].encode() == headers[b"x-request-id"]
    return status


@pytest.mark.parametrize(
    ("store", "seed", "count"),
    [
        ("memory", 1, 2_000),
        ("sqlite", 2, 500),
        pytest.param("memory", 3, 50_000, marks=pytest.mark.soak),
        pytest.param("sqlite", 4, 10_000, marks=pytest.mark.soak),
    ],
)
def test_a_storm_of_random_requests_meets_no_defect(make_world, store, seed, count):
    world = make_world(store, rate_limits=False, is_sown=False)
    world.take_everything()
    storm = Storm(world, seed)
    seen = Counter()

    async def blow():
        for _ in range(500):
            parts = storm.draw()
            events, stays = await give(world.app, parts, storm.dice)
            try:
                seen[check(parts, events, stays)] += 1
            except AssertionError as fault:
                fault.add_note(f"seed {seed}: {str(parts)[:2000]}")
                raise

    for _ in range(count // 500):
        world.run(blow())
        world.clock.forward(seconds=30)
        world.ticks += 2
        world.sow("a")
        storm.replant()
    assert sum(seen.values()) == count
    assert {200, 201, 204, 400, 401, 403, 404, 405} <= set(seen), seen
