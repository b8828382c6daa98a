"""The floods of `bench_floods.py`: what each connection of a kind does, and how many there are.

    python benchmarks/flood_kinds.py KIND PORT PID SECONDS KEYS [spread]

KEYS is a JSON list. Floods have a lower priority than the server and its client, as they would come
from other machines.
"""

import asyncio
import json
import os
import random
import secrets
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cache

import attrs
import uvloop
from coincurve import PrivateKey
from flood_target import DOUBTS, PAYEE, PAYMENTS, PLAIN, clock

from svc_core import catalog, wire
from svc_core.payments.challenge import Terms, requirements
from svc_core.payments.evm import V_LEAST, Judge, address_of
from svc_core.payments.messages import VERSION, Authorization, encode_field
from svc_core.payments.networks import BASE_SEPOLIA
from svc_http.outside.facilitators.ethereum import Ethereum

A_SECOND = 400
"""Connections that a flood makes a second at most, three times as many as stop a service in which a
refusal holds a working slot for two seconds; more would measure what this machine can make."""
HELD_MAX = 1_200
"""Connections that a flood keeps: more than the server has places for."""
RECEIVED_BYTES = 4_096
"""What the system takes for a client of the flood that does not read."""
PIPELINED = 1_000
"""Requests that are sent over a connection before an answer is read: 60 kB of them."""
ONE_ADDRESS = "127.0.0.66"
NICENESS = 5

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def example(operation_id: str) -> bytes:
    """The body of an operation, as its documentation has it."""
    operation = next(op for op in catalog.OPERATIONS if op.id == operation_id)
    return json.dumps(operation.examples["body"]).encode()


PROFILE, CHAT = example("createProfile"), example("streamChat")


class Flood:
    """Connections to one port, from one address or from one each."""

    def __init__(self, port: int, keys: list[str], *, is_spread: bool) -> None:
        self.port = port
        self.keys = keys
        self.is_spread = is_spread
        self.chance = random.Random(7)

    async def connect(self) -> Stream:
        """A connection from an address of the flood."""
        host = ONE_ADDRESS
        if self.is_spread:
            host = f"127.{self.chance.randint(1, 254)}.{self.chance.randint(0, 254)}.9"
        connection = socket.socket()
        connection.setblocking(False)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVED_BYTES)
        connection.bind((host, 0))
        await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", self.port))
        return await asyncio.open_connection(sock=connection, limit=RECEIVED_BYTES)

    def bearer(self) -> str:
        """The field of a key of the flood: one of many where it has many addresses."""
        return f"Authorization: Bearer {self.chance.choice(self.keys[: self.key_count])}"

    @property
    def key_count(self) -> int:
        """How many keys it uses."""
        return len(self.keys) if self.is_spread else 1

    def write(self, path: str, body: bytes) -> bytes:
        """A request that writes, with a key."""
        once = f"Idempotency-Key: {self.chance.getrandbits(64):016x}"
        fields = (self.bearer(), once, "Content-Type: application/json", ACCEPT)
        return head(f"POST {path}", *fields, f"Content-Length: {len(body)}") + body


ACCEPT = "Accept: application/json, text/event-stream"


def head(line: str, *fields: str) -> bytes:
    return "\r\n".join([f"{line} HTTP/1.1", "Host: a", *fields, "", ""]).encode()


async def drip(writer: asyncio.StreamWriter) -> None:
    while True:
        await asyncio.sleep(1)
        writer.write(b"x")
        await writer.drain()


async def until_cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say a byte a second until the server closes."""
    drips = asyncio.create_task(drip(writer))
    try:
        await until_closed(reader)
    finally:
        drips.cancel()


async def until_closed(reader: asyncio.StreamReader) -> None:
    """Read until the server closes."""
    while await reader.read(65_536):
        pass


async def slow_head(_flood: Flood, stream: Stream) -> None:
    stream[1].write(head("GET /")[:-2] + b"X-A: ")
    await until_cut(*stream)


async def slow_body(flood: Flood, stream: Stream) -> None:
    fields = (flood.bearer(), "Content-Type: application/json")
    key = f"Idempotency-Key: {flood.chance.getrandbits(64):016x}"
    stream[1].write(head("POST /api/v1/profiles", *fields, key, "Content-Length: 9000"))
    await until_cut(*stream)


async def linger(_flood: Flood, stream: Stream) -> None:
    stream[1].write(head("POST /api/v1/profiles", "Content-Length: 9"))
    await until_closed(stream[0])


async def unread(_flood: Flood, stream: Stream) -> None:
    stream[1].transport.pause_reading()
    stream[1].write(head("GET /openapi.json"))
    await asyncio.sleep(60)


async def unread_document(_flood: Flood, stream: Stream) -> None:
    stream[1].transport.pause_reading()
    stream[1].write(head("GET /openapi.json") * 100)
    await asyncio.sleep(60)


async def follow(flood: Flood, stream: Stream) -> None:
    stream[1].write(head("GET /api/v1/changes?tail=true", flood.bearer()))
    await until_closed(stream[0])


async def ask_often(request: Callable[[], bytes], stream: Stream) -> None:
    """Ask five times, each time once the answer has come."""
    for _ in range(5):
        stream[1].write(request())
        if not await stream[0].read(65_536):
            return


async def unknown_key(flood: Flood, stream: Stream) -> None:
    def request() -> bytes:
        key = f"svc_{flood.chance.getrandbits(256):064x}"
        return head("GET /api/v1/profiles", f"Authorization: Bearer {key}")

    await ask_often(request, stream)


async def ask_ready(_flood: Flood, stream: Stream) -> None:
    await ask_often(lambda: head("GET /readyz"), stream)


async def be_challenged(_flood: Flood, stream: Stream) -> None:
    await ask_often(lambda: head("GET /api/v2/changes?limit=1"), stream)


async def upgrade(_flood: Flood, stream: Stream) -> None:
    fields = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    stream[1].write(head("GET /", *fields, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="))
    stream[1].write(b"\x82\xfe\xff\xff" + bytes(32_768))  # frames, to whom it may concern
    await until_closed(stream[0])


async def pipeline(requests: bytes, stream: Stream) -> None:
    """Send many requests at once, and read whatever comes."""
    stream[1].write(requests)
    await until_closed(stream[0])


async def pipeline_reads(_flood: Flood, stream: Stream) -> None:
    await pipeline(head("GET /llms.txt", "Accept-Encoding: gzip") * PIPELINED, stream)


async def pipeline_reads_with_key(flood: Flood, stream: Stream) -> None:
    await pipeline(head("GET /api/v1/profiles", flood.bearer()) * PIPELINED, stream)


async def pipeline_writes(flood: Flood, stream: Stream) -> None:
    writes = (flood.write("/api/v2/ledger/subjects", TOPIC) for _ in range(PIPELINED // 5))
    await pipeline(b"".join(writes), stream)


async def pipeline_streams(flood: Flood, stream: Stream) -> None:
    await pipeline(head("GET /api/v1/changes?tail=true", flood.bearer()) * PIPELINED, stream)


async def chat(flood: Flood, stream: Stream) -> None:
    await pipeline(flood.write("/api/v1/agent-svc/chat/stream", CHAT), stream)


async def greet_mcp(flood: Flood, stream: Stream) -> None:
    await ask_often(lambda: flood.write("/mcp", MCP_GREETING), stream)


async def read_dearly(flood: Flood, stream: Stream) -> None:
    await ask_often(lambda: head("GET /api/v2/ledger/subjects?limit=100", flood.bearer()), stream)


async def read_graph(flood: Flood, stream: Stream) -> None:
    await ask_often(lambda: head("GET /api/v2/cyber/graph", flood.bearer()), stream)


TOPIC = json.dumps({"type": "topic", "label": "Ports"}).encode()
MCP_GREETING = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "flood", "version": "1"},
        },
    }
).encode()


@cache
def judge() -> Judge:
    return Judge(BASE_SEPOLIA, Ethereum())


def payment() -> str:
    """A good payment of one request, by a wallet of its own."""
    operation = next(op for op in catalog.OPERATIONS if op.id == "listChanges")
    assert operation.tier is not None
    requirements_, key = requirements(operation.tier, Terms(BASE_SEPOLIA, PAYEE)), PrivateKey()
    payer = address_of(key.public_key.format(compressed=False)[1:], judge().crypto)
    nonce, until = f"0x{secrets.token_hex(32)}", str(int(time.time()) + 300)
    authorization = Authorization(payer, PAYEE, requirements_.amount, "0", until, nonce)
    signature_ = key.sign_recoverable(judge().digest(authorization), hasher=None)
    signature = signature_[:-1] + bytes((signature_[-1] + V_LEAST,))
    payload = {"signature": f"0x{signature.hex()}", "authorization": wire.to_json(authorization)}
    return encode_field(
        {"x402Version": VERSION, "accepted": wire.to_json(requirements_), "payload": payload}
    )


async def pay(_flood: Flood, stream: Stream) -> None:
    stream[1].write(head("GET /api/v2/changes?limit=1", f"PAYMENT-SIGNATURE: {payment()}"))
    await until_closed(stream[0])


@attrs.frozen
class Kind:
    """What each connection of a flood does, how many come a second and how many are kept, and what
    server that needs."""

    act: Callable[[Flood, Stream], Awaitable[None]]
    target: str = PLAIN
    a_second: int = A_SECOND
    held_max: int = HELD_MAX


KINDS: dict[str, Kind] = {
    "slow heads": Kind(slow_head),
    "slow bodies": Kind(slow_body),
    "lingering refusals": Kind(linger),
    "unread answers": Kind(unread),
    "unread documents": Kind(unread_document, held_max=30),
    "streams": Kind(follow),
    "agent streams": Kind(chat),
    "unknown keys": Kind(unknown_key),
    "websocket upgrades": Kind(upgrade),
    "MCP sessions": Kind(greet_mcp, held_max=100),
    "pipelined reads": Kind(pipeline_reads),
    "pipelined reads by key": Kind(pipeline_reads_with_key),
    "pipelined writes": Kind(pipeline_writes),
    "pipelined streams": Kind(pipeline_streams),
    "lists of subjects": Kind(read_dearly, a_second=20, held_max=20),
    "graphs": Kind(read_graph, a_second=20, held_max=20),
    "readiness": Kind(ask_ready, DOUBTS),
    "challenges": Kind(be_challenged, PAYMENTS),
    "unsettled payments": Kind(pay, PAYMENTS),
}


async def flood(kind: Kind, source: Flood, seconds: float, pid: int) -> None:
    """Connections of one kind, so many a second of the server's and so many at once."""
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()

    async def connect_once() -> None:
        writer = None
        with suppress(OSError):
            try:
                stream = await source.connect()
                writer = stream[1]
                await kind.act(source, stream)
            finally:
                if writer is not None:
                    writer.transport.abort()

    until, began, count = loop.time() + seconds, clock(pid), 0
    while loop.time() < until:
        due = int((clock(pid) - began) * kind.a_second) - count
        for _ in range(min(due, kind.held_max - len(tasks))):
            task = asyncio.create_task(connect_once())
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        count += max(due, 0)
        await asyncio.sleep(0.01)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def run(kinds: dict[str, Kind], words: list[str]) -> None:
    """Be the flood that the words of the command line describe."""
    os.nice(NICENESS)
    name, port, pid, seconds, keys, *spread = words
    source = Flood(int(port), json.loads(keys), is_spread=bool(spread))
    print("begins", flush=True)
    uvloop.run(flood(kinds[name], source, float(seconds), int(pid)))


if __name__ == "__main__":
    run(KINDS, sys.argv[1:])
