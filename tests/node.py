"""A node of a chain on this machine, over JSON-RPC: blocks of two seconds, and one token."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from attrs import define, field

from svc_http.outside.facilitators.chain import CANCELLATION, NONCE_USE, TRANSFER

ASSET = "0x036cbd53842c5426634e7929541ec2318f3dcf7e"
GENESIS = 1_700_000_000


def word(text: str) -> str:
    return f"0x{text.removeprefix('0x').lower().rjust(64, '0')}"


@define
class Node:
    """The chain; `answers` stand in for what a method would say."""

    url: str
    chain: int = 84_532
    head: int = 10_000
    logs: list[dict[str, Any]] = field(factory=list)
    state: dict[str, int] = field(factory=dict)
    answers: dict[str, Any] = field(factory=dict)
    calls: list[tuple[str, list[Any]]] = field(factory=list)

    # -- what happens on it ------------------------------------------------------------------------

    def log(
        self, tx: str, block: int, topic: str, *words: str, data: str = "0x", **by: Any
    ) -> None:
        self.logs.append(
            {
                "address": by.get("asset", ASSET),
                "topics": [topic, *map(word, words)],
                "data": data,
                "blockNumber": hex(block),
                "transactionHash": tx,
            }
        )

    def used(self, tx: str, block: int, payer: str, nonce: str) -> None:
        self.state[f"{payer} {nonce}".lower()] = block
        self.log(tx, block, NONCE_USE, payer, nonce)

    def cancel(self, tx: str, block: int, payer: str, nonce: str) -> None:
        self.state[f"{payer} {nonce}".lower()] = block
        self.log(tx, block, CANCELLATION, payer, nonce)

    def move(self, tx: str, block: int, payer: str, to: str, amount: int, **by: Any) -> None:
        self.log(tx, block, TRANSFER, payer, to, data=word(hex(amount)), **by)

    # -- what it says ------------------------------------------------------------------------------

    def eth_chainId(self) -> str:  # noqa: N802 - the name in the protocol, as those below
        return hex(self.chain)

    def eth_blockNumber(self) -> str:  # noqa: N802
        return hex(self.head)

    def eth_getBlockByNumber(self, number: str, _: bool) -> Any:  # noqa: N802
        return {"number": number, "timestamp": hex(GENESIS + 2 * int(number, 16))}

    def eth_call(self, call: dict[str, str], tag: str) -> str:
        first, second = (call["data"][at : at + 64] for at in (10, 74))
        owner = f"0x{first[-40:]}"
        at = self.state.get(f"{owner} 0x{second}", self.head + 1)
        return word("0x1" if at <= int(tag, 16) else "0x0")

    def eth_getLogs(self, criteria: dict[str, Any]) -> list[dict[str, Any]]:  # noqa: N802
        least, last = int(criteria["fromBlock"], 16), int(criteria["toBlock"], 16)
        kinds, *rest = criteria["topics"]
        return [
            log
            for log in self.logs
            if least <= int(log["blockNumber"], 16) <= last
            and log["address"] == criteria["address"]
            and log["topics"][0] in kinds
            and log["topics"][1:] == rest
        ]

    def eth_getTransactionReceipt(self, tx: str) -> Any:  # noqa: N802
        logs = [log for log in self.logs if log["transactionHash"] == tx]
        return {"status": "0x1", "blockNumber": logs[0]["blockNumber"], "logs": logs}

    def answer(self, method: str, parameters: list[Any]) -> Any:
        if method in self.answers:
            return self.answers[method]
        return {"jsonrpc": "2.0", "id": 1, "result": getattr(self, method)(*parameters)}


@asynccontextmanager
async def node() -> AsyncIterator[Node]:
    """The node on a port of this machine."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
            request = json.loads(await reader.readexactly(length))
            fake.calls.append((request["method"], request["params"]))
            answer = fake.answer(request["method"], request["params"])
            if answer is None:  # silence, until the one who asked has left
                await reader.read()
            else:
                body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                told = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(told.encode() + body)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    fake = Node(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v2/secret-key")
    async with server:
        yield fake
