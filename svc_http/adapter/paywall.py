"""Asks requests without a key for a payment, and describes what a paid request buys.

Spec: x402 path selection.
"""

from typing import Any
from urllib.parse import quote

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import Operation, Tier
from svc_core.payments.challenge import ERROR_UNPAID, ERROR_UNSETTLED, Offer, Terms, offer
from svc_core.payments.decisions import Purchase
from svc_core.payments.networks import NETWORKS
from svc_http.exchange.http_exchange import Exchange
from svc_http.settings import Settings

PAYMENT = b"payment-signature"
_PATH = "/:@!$&'()*+,;=-._~"
_QUERY = f"{_PATH}?%"


def terms_of(settings: Settings) -> Terms | None:
    """The payee and the network of the settings; None where the operator takes no payments."""
    if settings.x402_pay_to is None:
        return None
    return Terms(NETWORKS[settings.payment_network], settings.x402_pay_to)


class Paywall:
    """The price of one operation, and the 402 answer that asks for it."""

    def __init__(
        self, operation: Operation[Any, Any], tier: Tier, offer: Offer, origin: str
    ) -> None:
        self._operation = operation
        self._tier = tier
        self._offer = offer
        self._origin = origin

    @classmethod
    def of(cls, operation: Operation[Any, Any], settings: Settings) -> "Paywall | None":
        """The paywall of an operation that has a price; None for any other, and where the
        operator takes no payments."""
        payment_terms = terms_of(settings)
        price_offer = None if payment_terms is None else offer(operation, payment_terms)
        if price_offer is None or operation.tier is None:
            return None
        return cls(operation, operation.tier, price_offer, settings.origin)

    def is_paid(self, exchange: Exchange) -> bool:
        """Whether the request brings a payment; on HEAD it is ignored, for no body is bought."""
        return PAYMENT in exchange.fields and not exchange.is_head

    def purchase(self, exchange: Exchange) -> Purchase:
        """The purchase that a request with a payment makes."""
        return Purchase(
            operation=self._operation.id,
            tier=self._tier.name,
            price=self._tier.price_usd,
            method=exchange.method,
            url=self._url(exchange),
            offer=self._offer,
            values=exchange.lines(PAYMENT),
        )

    def ask(self, exchange: Exchange, *, takes: bool) -> Problem:
        """The 402 refusal: what to pay and how, or that no payment can be settled now."""
        has_payment = PAYMENT in exchange.fields and not takes
        error = ERROR_UNSETTLED if has_payment else ERROR_UNPAID
        challenge = self._offer.header(self._url(exchange), error)
        return Problem(
            problem.PAYMENT_REQUIRED,
            ERROR_UNSETTLED if has_payment else "",
            {"PAYMENT-REQUIRED": challenge},
            resolution="Send Authorization: Bearer <API_KEY> instead." if has_payment else "",
        )

    def _url(self, exchange: Exchange) -> str:
        path = self._origin + quote(exchange.path, safe=_PATH)
        query = quote(exchange.query, safe=_QUERY)
        return f"{path}?{query}" if query else path
