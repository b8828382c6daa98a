"""Reads payments from a blockchain through the JSON-RPC API of a node (Ethereum, EIP-1474).

Rule 1: only blocks with `DEPTH` blocks after them are read, so that a reorganisation does not undo
        what was seen.
Rule 2: a used nonce proves no payment: it may have been cancelled, or used to pay somebody else.
        The proof is the transfer that the token logs right after the use of the nonce.
Rule 3: an answer of any other form raises `Unavailable`; nothing is guessed.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

from svc_core import wire
from svc_core.payments.payment_ports import Sighting, Transfer, Unavailable
from svc_core.payments.payment_rows import Payment
from svc_http.outside.fetch.model import status_phrase
from svc_http.outside.upstream import NoAnswer, Upstream

DEPTH: Final = 30
"""Blocks: a minute, which is more than any reorganisation of Base was deep."""
BLOCK_SECONDS: Final = 2
"""Between two blocks of Base and of its test network, always."""
MARGIN_BLOCKS: Final = 60
"""Blocks searched before the time of the reservation, because clocks differ."""
RANGE_BLOCKS: Final = 1_000
"""Blocks of one query for logs; nodes accept from 500 or 1,000 to 10,000."""
RANGES_MAX: Final = 50
"""Queries for logs of one payment: together a day of blocks."""
ANSWER_BYTES: Final = 1024 * 1024
"""A receipt of the largest transactions has some hundred logs of 700 bytes each."""
SECONDS: Final = 10.0
LATEST: Final = 2**36
"""An upper bound of block times, in Unix seconds (the year 4147)."""

NONCE_USE: Final = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
"""The topic of `AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)`."""
CANCELLATION: Final = "0x1cdd46ff242716cdaa72d159d339a485b3438398348d68f09d7c8c0a59353d81"
"""The topic of `AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce)`."""
TRANSFER: Final = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
"""The topic of `Transfer(address indexed from, address indexed to, uint256 value)`."""
AUTHORIZATION_STATE: Final = "0xe94a0102"
"""The selector of `authorizationState(address,bytes32)`."""


class JsonRpcChain:
    """Reads a blockchain through the node at an address
    (`svc_core.payments.payment_ports.ChainReader`)."""

    def __init__(self, url: str, *, seconds: float = SECONDS) -> None:
        self._upstream = Upstream(url, None, "svc-payments")
        self._seconds = seconds
        self._network: str | None = None

    async def network(self) -> str:
        """The CAIP-2 name of the chain of this node; asked once.

        Raises:
            Unavailable: the node does not answer.
        """
        if self._network is None:
            self._network = f"eip155:{await self._number('eth_chainId')}"
        return self._network

    async def authorization_state(self, payment: Payment) -> Sighting:
        """Whether the nonce of the payer is used, as of the youngest block that is deep enough.

        Raises:
            Unavailable: the chain could not be read.
        """
        await self._check(payment.network)
        block = await self._settled_block()
        data = AUTHORIZATION_STATE + _word(payment.payer) + _word(payment.nonce)
        used = await self._number("eth_call", {"to": payment.asset, "data": data}, hex(block))
        return Sighting(bool(used), await self._time(block))

    async def transfer(self, payment: Payment) -> Transfer | None:
        """The transfer that used the nonce, if payer, payee and amount are those of the payment.

        Raises:
            Unavailable: the chain could not be read, or the payment is too old to search for.
        """
        await self._check(payment.network)
        last = await self._settled_block()
        seconds = (await self._time(last) - payment.reserved_at).total_seconds()
        first = max(0, last - max(0, int(seconds)) // BLOCK_SECONDS - MARGIN_BLOCKS)
        if last - first >= RANGE_BLOCKS * RANGES_MAX:
            raise self._failure(f"would have to be asked about {last - first} blocks")
        for start in range(first, last + 1, RANGE_BLOCKS):
            end = min(start + RANGE_BLOCKS - 1, last)
            for log in await self._nonce_logs(payment, start, end):
                return await self._transfer_of(log, payment)
        # Nodes behind one address differ in how far they are: this is no proof of anything.
        raise self._failure("shows neither the use of a nonce nor its end")

    async def aclose(self) -> None:
        """Close all connections."""
        await self._upstream.aclose()

    # -- what is asked ---------------------------------------------------------------------------

    async def _settled_block(self) -> int:
        return max(0, await self._number("eth_blockNumber") - DEPTH)

    async def _time(self, block: int) -> datetime:
        head = self._members(await self._ask("eth_getBlockByNumber", hex(block), False))
        seconds = self._integer(head.get("timestamp"))
        if seconds > LATEST:
            raise self._failure("answered what is no time")
        return datetime.fromtimestamp(seconds, UTC)

    async def _nonce_logs(self, payment: Payment, start: int, end: int) -> list[Mapping[str, Any]]:
        """The logs, none or one, in which the nonce of the payer was used or cancelled."""
        topics = [[NONCE_USE, CANCELLATION], f"0x{_word(payment.payer)}", payment.nonce]
        filters = {"address": payment.asset, "topics": topics}
        blocks = {"fromBlock": hex(start), "toBlock": hex(end)}
        return self._logs(await self._ask("eth_getLogs", filters | blocks))

    async def _transfer_of(self, log: Mapping[str, Any], payment: Payment) -> Transfer | None:
        transaction = str(log.get("transactionHash")).lower()
        receipt = self._members(await self._ask("eth_getTransactionReceipt", transaction))
        logs = [
            _log_words(log) for log in self._logs(receipt.get("logs")) if _is_of(log, payment.asset)
        ]
        payer, nonce, payee = map(_word, (payment.payer, payment.nonce, payment.pay_to))
        used = (NONCE_USE[2:], payer, nonce, "")
        transfer = (TRANSFER[2:], payer, payee, f"{payment.amount:064x}")
        # The token logs a transfer right after the use of its nonce; of several transfers in one
        # transaction each has its own.
        if (used, transfer) not in pairwise(logs):
            return None
        return Transfer(transaction, await self._time(self._integer(receipt.get("blockNumber"))))

    # -- one exchange ----------------------------------------------------------------------------

    async def _check(self, network: str) -> None:
        network_id = await self.network()
        if network_id != network:
            raise self._failure(f"is one of {network_id}, not of {network}")

    async def _number(self, method: str, *parameters: Any) -> int:
        return self._integer(await self._ask(method, *parameters))

    async def _ask(self, method: str, *parameters: Any) -> Any:
        question = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        try:
            answer = await self._upstream.ask(
                question, seconds=self._seconds, bytes_max=ANSWER_BYTES
            )
            members = self._members(wire.decode_json(answer.body))
        except NoAnswer as error:
            raise self._failure(str(error)) from error
        except ValueError as fault:
            raise self._failure(f"answered {status_phrase(answer.status)}, and no JSON") from fault
        if members.get("result") is None:
            raise self._failure(f"has no result of {method}: {str(members.get('error'))[:200]}")
        return members["result"]

    def _members(self, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self._failure("answered what is no object")
        return value

    def _logs(self, value: Any) -> list[Mapping[str, Any]]:
        if not isinstance(value, list):
            raise self._failure("answered what are no logs")
        return [self._members(log) for log in value]

    def _integer(self, value: Any) -> int:
        if not isinstance(value, str) or not re.fullmatch("0x[0-9a-fA-F]{1,64}", value):
            raise self._failure("answered what is no number")
        return int(value, 16)

    def _failure(self, reason: str) -> Unavailable:
        # An address of a node often ends in a key, so only its host is shown.
        return Unavailable(f"the node at {self._upstream.url.host} {reason}")


def _word(text: str) -> str:
    """An address or 32 bytes as one hexadecimal word of 64 digits, without 0x."""
    return text[2:].lower().rjust(64, "0")


def _is_of(log: Mapping[str, Any], asset: str) -> bool:
    return str(log.get("address")).lower() == asset


def _log_words(log: Mapping[str, Any]) -> tuple[str, ...]:
    """The topics and the data of a log, without 0x, in lower case."""
    topics = log.get("topics")
    words = [*(topics if isinstance(topics, list) else ()), log.get("data")]
    return tuple(str(word).lower().removeprefix("0x") for word in words)
