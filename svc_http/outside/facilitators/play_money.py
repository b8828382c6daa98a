"""A payment facilitator for development, with play money that exists only in memory.

Rule 1: it checks signatures, amounts, times and nonces as real facilitators do, but only for the
        test network: it cannot be created for a network with real money.
Rule 2: every new wallet has `WALLET_START` units, so that any new key can pay.
Rule 3: it fails on request, in each of the ways in which real facilitators fail.
"""

from collections import deque
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, Literal

import anyio
from attrs import frozen
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from svc_core import wire
from svc_core.payments.evm import Judge
from svc_core.payments.messages import (
    SCHEME,
    VERSION,
    Kind,
    PaymentPayload,
    PaymentRequirements,
    SettlementResponse,
    SupportedKinds,
    Verdict,
    message_members,
)
from svc_core.payments.networks import BASE_SEPOLIA, Network
from svc_core.payments.payment_ports import Crypto, Sighting, Transfer, Unavailable
from svc_core.payments.payment_rows import Payment
from svc_core.wire import Json, WireError

PATH: Final = "/x402/facilitator"
"""Its path below the origin of the service."""
WALLET_START: Final = 100_000_000
"""The balance of a new wallet, in units of the asset: 100 dollars."""
WALLETS_MAX: Final = 10_000
"""Wallets whose balance is stored; later ones have nothing."""
SILENT_SECONDS: Final = 60.0
"""How long it does not answer when it plays the fault `timeout`."""

Fault = Literal["insufficient_funds", "pending", "error", "timeout", "death"]
"""What can go wrong at the next settlement: the wallet has too little; the settlement is pending,
and done at the next request (unless that is to be pending too); the answer is 500; no answer comes;
no answer comes although the money moved."""


class _Silence(Unavailable):
    """The fault `timeout`: no answer comes."""


@frozen
class PlayTransfer:
    """One transfer of play money."""

    payer: str
    nonce: str
    pay_to: str
    amount: int
    transaction: str
    at: datetime


@frozen
class PlayFaults:
    """The faults of the next settlements, in their order."""

    faults: tuple[Fault, ...] = ()


@frozen
class _Question(wire.OpenShape):
    x402_version: Literal[2]
    payment_payload: Json
    payment_requirements: Json


class PlayMoney:
    """Verifies, settles and shows payments in memory (`Facilitator` and `ChainReader`).

    Raises:
        ValueError: the network is not the test network.
    """

    def __init__(self, network: Network, crypto: Crypto, now: Callable[[], datetime]) -> None:
        if network != BASE_SEPOLIA:
            raise ValueError(f"Play money is for {BASE_SEPOLIA.id} alone.")
        self._network = network
        self._crypto = crypto
        self._judge = Judge(network, crypto)
        self._now = now
        self._balances: dict[str, int] = {}
        self._under_way: dict[str, PlayTransfer] = {}
        self.transfers: dict[str, PlayTransfer] = {}
        """The transfers by payer and nonce, as on a chain."""
        self.faults: deque[Fault] = deque()

    # -- as a facilitator ------------------------------------------------------------------------

    async def verify(self, payload: Json) -> Verdict:
        """Whether a payload could be settled now."""
        return self.verdict(payload, _accepted_terms(payload))

    async def settle(self, payload: Json) -> SettlementResponse:
        """Settle a payment: move its money.

        Raises:
            Unavailable: this fault was requested.
        """
        return self.settlement(payload, _accepted_terms(payload))

    async def supported(self) -> SupportedKinds:
        """The one kind of payment that it accepts."""
        return SupportedKinds((Kind(VERSION, SCHEME, self._network.id),))

    async def aclose(self) -> None:
        """Do nothing: there are no connections to close."""

    def verdict(self, payload: Json, requirements: Json) -> Verdict:
        """The verdict on a payload under these requirements."""
        try:
            read = wire.structure(PaymentPayload, payload)
            terms = wire.structure(PaymentRequirements, requirements)
        except WireError as fault:
            return Verdict(False, "invalid_payload", str(fault))
        payer = read.payload.authorization.from_
        reason = self._fault(read, terms)
        return Verdict(True, payer=payer) if reason is None else Verdict(False, reason, payer=payer)

    def settlement(self, payload: Json, requirements: Json) -> SettlementResponse:
        """Settle a payload under these requirements: move its money if it is valid.

        Raises:
            Unavailable: this fault was requested.
        """
        pending = self._pending_transfer(payload)
        if pending is not None:
            if self.faults and self.faults[0] == "pending":
                self.faults.popleft()
                return self._pending(pending)
            self._book(pending)
            return self._receipt(pending)
        verdict = self.verdict(payload, requirements)
        if not verdict.is_valid:
            return self._refusal(verdict.invalid_reason, verdict.payer)
        fault = self.faults.popleft() if self.faults else None
        if fault == "insufficient_funds":
            return self._refusal(fault, verdict.payer)
        if fault == "error":
            raise Unavailable("the facilitator was told to fail")
        if fault == "timeout":
            raise _Silence("the facilitator was told to be silent")
        transfer = self._transfer(wire.structure(PaymentPayload, payload))
        if fault == "pending":
            return self._pending(transfer)
        self._book(transfer)
        if fault == "death":
            raise Unavailable("the facilitator was told to fail after the transfer")
        return self._receipt(transfer)

    def _fault(self, read: PaymentPayload, terms: PaymentRequirements) -> str | None:
        asset, authorization = self._network.asset, read.payload.authorization
        if read.accepted.scheme != SCHEME or terms.scheme != SCHEME:
            return "unsupported_scheme"
        if {read.accepted.network, terms.network} != {self._network.id}:
            return "invalid_network"
        if terms.asset.lower() != asset.address.lower():
            return "invalid_payment_requirements"
        reason = self._judge.fault(
            authorization,
            read.payload.signature,
            pay_to=terms.pay_to,
            amount=terms.amount,
            now=int(self._now().timestamp()),
        )
        if reason is not None:  # False is a contract's signature, and here are no contracts
            return reason or "invalid_exact_evm_payload_signature"
        if _key(authorization.from_, authorization.nonce) in self.transfers:
            return "invalid_exact_evm_nonce_already_used"
        is_enough = int(authorization.value) <= self._balance(authorization.from_.lower())
        return None if is_enough else "insufficient_funds"

    def _pending_transfer(self, payload: Json) -> PlayTransfer | None:
        """Take the pending transfer of this payload out of the list, if there is one."""
        try:
            authorization = wire.structure(PaymentPayload, payload).payload.authorization
        except WireError:
            return None
        return self._under_way.pop(_key(authorization.from_, authorization.nonce), None)

    def _pending(self, transfer: PlayTransfer) -> SettlementResponse:
        self._under_way[_key(transfer.payer, transfer.nonce)] = transfer
        return self._refusal("settlement_pending", transfer.payer, transfer.transaction)

    def _transfer(self, read: PaymentPayload) -> PlayTransfer:
        authorization = read.payload.authorization
        key = _key(authorization.from_, authorization.nonce)
        return PlayTransfer(
            payer=authorization.from_.lower(),
            nonce=authorization.nonce.lower(),
            pay_to=authorization.to.lower(),
            amount=int(authorization.value),
            transaction=f"0x{self._crypto.keccak(key.encode()).hex()}",
            at=self._now(),
        )

    def _book(self, transfer: PlayTransfer) -> None:
        self._balances[transfer.payer] = self._balance(transfer.payer) - transfer.amount
        self.transfers[_key(transfer.payer, transfer.nonce)] = transfer

    def _balance(self, payer: str) -> int:
        return self._balances.get(payer, WALLET_START if len(self._balances) < WALLETS_MAX else 0)

    def _receipt(self, transfer: PlayTransfer) -> SettlementResponse:
        chain, amount = self._network.id, str(transfer.amount)
        return SettlementResponse(True, transfer.transaction, chain, transfer.payer, amount=amount)

    def _refusal(
        self, reason: str | None, payer: str | None, transaction: str = ""
    ) -> SettlementResponse:
        return SettlementResponse(False, transaction, self._network.id, payer, reason)

    # -- as a chain ------------------------------------------------------------------------------

    async def authorization_state(self, payment: Payment) -> Sighting:
        """Whether the nonce of the payer is used."""
        return Sighting(_key(payment.payer, payment.nonce) in self.transfers, self._now())

    async def transfer(self, payment: Payment) -> Transfer | None:
        """The transfer that used the nonce, if its payee and amount are those of the payment."""
        transfer = self.transfers.get(_key(payment.payer, payment.nonce))
        terms = payment.pay_to.lower(), payment.amount
        if transfer is None or (transfer.pay_to, transfer.amount) != terms:
            return None
        return Transfer(transfer.transaction, transfer.at)

    # -- over HTTP -------------------------------------------------------------------------------

    def routes(self, *, is_played: bool) -> list[Route]:
        """The HTTP routes of a facilitator; if it `is_played`, with one that sets its next faults
        and shows its transfers."""

        async def verify(request: Request) -> Response:
            question = await _question(request)
            if question is None:
                return JSONResponse(message_members(Verdict(False, "invalid_payload")), 400)
            return JSONResponse(
                message_members(
                    self.verdict(question.payment_payload, question.payment_requirements)
                )
            )

        async def settle(request: Request) -> Response:
            question = await _question(request)
            if question is None:
                return JSONResponse(message_members(self._refusal("invalid_payload", None)), 400)
            try:
                reply = self.settlement(question.payment_payload, question.payment_requirements)
            except _Silence:
                with anyio.move_on_after(SILENT_SECONDS):
                    while (await request.receive())["type"] != "http.disconnect":
                        continue
                return PlainTextResponse("", 504)
            except Unavailable as error:
                return PlainTextResponse(str(error), 500)
            # Of a settlement that is pending CDP tells with this status.
            return JSONResponse(
                message_members(reply), 500 if reply.error_reason == "settlement_pending" else 200
            )

        async def supported(_: Request) -> Response:
            kinds = [message_members(kind) for kind in (await self.supported()).kinds]
            return JSONResponse({"kinds": kinds, "extensions": [], "signers": {}})

        async def play(request: Request) -> Response:
            if request.method == "POST":
                try:
                    wish = wire.structure(PlayFaults, wire.decode_json(await request.body()))
                except ValueError as fault:
                    return PlainTextResponse(str(fault), 400)
                self.faults = deque(wish.faults)
            rows: list[Any] = [wire.to_json(payment) for payment in self.transfers.values()]
            return JSONResponse({"faults": [*self.faults], "paid": rows})

        pages = [
            Route(f"{PATH}/verify", verify, methods=["POST"]),
            Route(f"{PATH}/settle", settle, methods=["POST"]),
            Route(f"{PATH}/supported", supported),
        ]
        return (
            [*pages, Route(f"{PATH}/play", play, methods=["GET", "POST"])] if is_played else pages
        )


async def _question(request: Request) -> _Question | None:
    try:
        return wire.structure(_Question, wire.decode_json(await request.body()))
    except ValueError:
        return None


def _accepted_terms(payload: Json) -> Json:
    return payload.get("accepted") if isinstance(payload, dict) else None


def _key(payer: str, nonce: str) -> str:
    return f"{payer} {nonce}".lower()
