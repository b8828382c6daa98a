"""What a request without a key is asked to pay (Spec: x402 path selection).

Payments are asked for but not yet settled: a request that brings one is told so in a new
challenge, before any of it is looked at, and nothing is charged.
"""

from typing import Any
from urllib.parse import quote

from svc_core import payments, problem
from svc_core.operation import Operation
from svc_core.payments import Offer, Terms
from svc_core.problem import Problem
from svc_http.requests.exchange import Exchange
from svc_http.settings import Settings

_PATH = "/:@!$&'()*+,;=-._~"
_QUERY = f"{_PATH}?%"


def terms(settings: Settings) -> Terms | None:
    """Whom payments go to and where; None where the operator takes none."""
    if settings.x402_pay_to is None:
        return None
    return Terms(payments.NETWORKS[settings.payment_network], settings.x402_pay_to)


class Paywall:
    """Asks for the payment of one operation."""

    def __init__(self, offer: Offer, origin: str) -> None:
        self._offer = offer
        self._origin = origin

    @classmethod
    def of(cls, operation: Operation[Any, Any], settings: Settings) -> "Paywall | None":
        """The paywall of an operation that has a price; None for any other, and where the
        operator takes no payments."""
        chosen = terms(settings)
        offer = None if chosen is None else payments.offer(operation, chosen)
        return None if offer is None else cls(offer, settings.origin)

    def ask(self, exchange: Exchange) -> Problem:
        """The refusal that says what to pay and how."""
        paid = b"payment-signature" in exchange.fields
        error = payments.ERROR_UNSETTLED if paid else payments.ERROR_UNPAID
        challenge = self._offer.header(self._url(exchange), error)
        return Problem(
            problem.PAYMENT_REQUIRED,
            payments.ERROR_UNSETTLED if paid else "",
            {"PAYMENT-REQUIRED": challenge},
            resolution="Send Authorization: Bearer <API_KEY> instead." if paid else "",
        )

    def _url(self, exchange: Exchange) -> str:
        path = self._origin + quote(exchange.path, safe=_PATH)
        query = quote(exchange.query, safe=_QUERY)
        return f"{path}?{query}" if query else path
