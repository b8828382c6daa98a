"""A payment facilitator for development, with play money that exists only in memory.

Rule 1: it checks signatures, amounts, times and nonces as real facilitators do, but only for the
        test network: it cannot be created for a network with real money.
Rule 2: every new wallet has `WALLET_START` units, so that any new key can pay.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Literal

from attrs import frozen
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
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
from svc_core.payments.payment_ports import Crypto, Sighting, Transfer
from svc_core.payments.payment_rows import Payment
from svc_core.wire import Json, WireError

PATH: Final = "/x402/facilitator"
"""Its path below the origin of the service."""
WALLET_START: Final = 100_000_000
"""The balance of a new wallet, in units of the asset: 100 dollars."""
WALLETS_MAX: Final = 10_000
"""Wallets whose balance is stored; later ones have nothing."""


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
        self.transfers: dict[str, PlayTransfer] = {}
        """The transfers by payer and nonce, as on a chain."""

    # -- as a facilitator ------------------------------------------------------------------------

    async def verify(self, payload: Json) -> Verdict:
        """Whether a payload could be settled now."""
        return self.verdict(payload, _accepted_terms(payload))

    async def settle(self, payload: Json) -> SettlementResponse:
        """Settle a payment: move its money."""
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
        """Settle a payload under these requirements: move its money if it is valid."""
        verdict = self.verdict(payload, requirements)
        if not verdict.is_valid:
            return self._refusal(verdict.invalid_reason, verdict.payer)
        authorization = wire.structure(PaymentPayload, payload).payload.authorization
        key, payer = _key(authorization.from_, authorization.nonce), authorization.from_.lower()
        transfer = self.transfers[key] = PlayTransfer(
            payer=payer,
            nonce=authorization.nonce.lower(),
            pay_to=authorization.to.lower(),
            amount=int(authorization.value),
            transaction=f"0x{self._crypto.keccak(key.encode()).hex()}",
            at=self._now(),
        )
        self._balances[payer] = self._balance(payer) - transfer.amount
        chain, amount = self._network.id, str(transfer.amount)
        return SettlementResponse(True, transfer.transaction, chain, payer, amount=amount)

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

    def _balance(self, payer: str) -> int:
        return self._balances.get(payer, WALLET_START if len(self._balances) < WALLETS_MAX else 0)

    def _refusal(self, reason: str | None, payer: str | None) -> SettlementResponse:
        return SettlementResponse(False, "", self._network.id, payer, reason)

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

    def routes(self, *, is_shown: bool) -> list[Route]:
        """The HTTP routes of a facilitator, with one that shows its transfers if they are shown."""

        async def verify(request: Request) -> Response:
            question = await _question(request)
            if question is None:
                return JSONResponse(message_members(Verdict(False, "invalid_payload")), 400)
            verdict = self.verdict(question.payment_payload, question.payment_requirements)
            return JSONResponse(message_members(verdict))

        async def settle(request: Request) -> Response:
            question = await _question(request)
            if question is None:
                return JSONResponse(message_members(self._refusal("invalid_payload", None)), 400)
            reply = self.settlement(question.payment_payload, question.payment_requirements)
            return JSONResponse(message_members(reply))

        async def supported(_: Request) -> Response:
            kinds = [message_members(kind) for kind in (await self.supported()).kinds]
            return JSONResponse({"kinds": kinds, "extensions": [], "signers": {}})

        async def transfers(_: Request) -> Response:
            return JSONResponse({"paid": [wire.to_json(paid) for paid in self.transfers.values()]})

        pages = [
            Route(f"{PATH}/verify", verify, methods=["POST"]),
            Route(f"{PATH}/settle", settle, methods=["POST"]),
            Route(f"{PATH}/supported", supported),
        ]
        return [*pages, Route(f"{PATH}/play", transfers)] if is_shown else pages


async def _question(request: Request) -> _Question | None:
    try:
        return wire.structure(_Question, wire.decode_json(await request.body()))
    except ValueError:
        return None


def _accepted_terms(payload: Json) -> Json:
    return payload.get("accepted") if isinstance(payload, dict) else None


def _key(payer: str, nonce: str) -> str:
    return f"{payer} {nonce}".lower()
