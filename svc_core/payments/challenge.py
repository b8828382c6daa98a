"""The challenge of a 402 answer: the `PAYMENT-REQUIRED` field (x402, version 2, HTTP transport).

Rule 1: the field is standard base64, padded, of one JSON object in UTF-8; clients refuse the
        URL-safe alphabet.
Rule 2: amounts are whole numbers of the asset's smallest unit, as text; no float ever touches one.
Rule 3: the address of the resource is made of the configured origin, never of `Host`.
"""

from base64 import b64encode
from decimal import Decimal
from typing import Any, Final

from attrs import frozen

from svc_core import wire
from svc_core.base.compact import compact_text
from svc_core.operation.declaration import Operation, Tier
from svc_core.payments.messages import IDENTIFIER, SCHEME, VERSION, PaymentRequirements
from svc_core.payments.networks import BASE_SEPOLIA, BURN_ADDRESS, Network
from svc_core.wire.constraints import DIALECT

TIMEOUT_SECONDS: Final = 300
"""How long a signed payment is good: it also bears a client whose clock is some minutes slow."""

URL_LENGTH_MAX: Final = 2_048
"""Of the resource's address in a challenge; a longer one is named without its query. Proxies
commonly hold 4 KiB of answer fields, and base64 makes three bytes four."""

ERROR_UNPAID: Final = "PAYMENT-SIGNATURE header is required"
_ID: Final = {"type": "string", "minLength": 16, "maxLength": 128, "pattern": "^[a-zA-Z0-9_-]+$"}
_SCHEMA: Final = {
    "$schema": DIALECT,
    "type": "object",
    "properties": {"required": {"type": "boolean"}, "id": _ID},
    "required": ["required"],
}
EXTENSIONS: Final[dict[str, Any]] = {IDENTIFIER: {"info": {"required": False}, "schema": _SCHEMA}}
"""Extensions that a client may use: its own identifier, by which a lost answer is sent again."""

ERROR_UNSETTLED: Final = "This server settles no payments yet; nothing was charged."


@frozen
class Terms:
    """The payee and the network of all offers."""

    network: Network = BASE_SEPOLIA
    pay_to: str = BURN_ADDRESS


@frozen(eq=False)
class Offer:
    """The offer of one operation; made once, because all but the resource's URL is constant."""

    requirements: PaymentRequirements
    _rest: str

    def header(self, url: str, error: str) -> str:
        """The value of `PAYMENT-REQUIRED` for a request to the resource at `url`.

        `error` says why the request was not served, in words for people.
        """
        name = compact_text(resource_url(url))
        head = f'{{"x402Version":{VERSION},"error":{compact_text(error)},"resource":{{"url":{name},'
        return b64encode((head + self._rest).encode()).decode("ascii")


def offer(operation: Operation[Any, Any], terms: Terms) -> Offer | None:
    """The offer for an operation; None for one that cannot be paid for."""
    if operation.tier is None or operation.auth != "bearer-or-x402":
        return None
    media_type = operation.media[0].media_type
    resource = compact_text({"description": operation.summary, "mimeType": media_type})
    way = requirements(operation.tier, terms)
    accepts, extensions = compact_text([wire.to_json(way)]), compact_text(EXTENSIONS)
    return Offer(way, f'{resource[1:]},"accepts":{accepts},"extensions":{extensions}}}')


def resource_url(url: str) -> str:
    """The URL by which a challenge names a resource: without its query where it is too long."""
    return url if len(url) <= URL_LENGTH_MAX else url.partition("?")[0]


def requirements(tier: Tier, terms: Terms) -> PaymentRequirements:
    """One way to pay for a request of this price class."""
    asset = terms.network.asset
    return PaymentRequirements(
        scheme=SCHEME,
        network=terms.network.id,
        amount=str(atomic(tier.price_usd, asset.decimals)),
        asset=asset.address,
        pay_to=terms.pay_to,
        max_timeout_seconds=TIMEOUT_SECONDS,
        # Without both, clients cannot sign a transfer (EIP-3009).
        extra={"name": asset.name, "version": asset.version},
    )


def atomic(price_usd: str, decimals: int) -> int:
    """A price in the smallest units of an asset, exactly.

    Raises:
        ValueError: the price is finer than the asset.
    """
    units = Decimal(price_usd).scaleb(decimals)
    if units != units.to_integral_value():
        raise ValueError(f"{price_usd} has more than {decimals} decimals.")
    return int(units)
