"""Prices of operations, and the public price list that agents read before they buy.

Rule 1: the declaration of an operation says that it can be paid for and what that usually costs;
        an operator changes the price of a tier or of one operation, in whole cents, and nothing
        else: what is not priced is never sold.
Rule 2: an operation's own price beats that of its tier. Every shown price is read from the
        operations that `priced` returns, so that no two of them differ.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import attrs

from svc_core import wire
from svc_core.operation.declaration import TIERS, Operation, Tier
from svc_core.payments.challenge import Terms, requirements
from svc_core.payments.messages import VERSION
from svc_core.payments.payment_rows import RECEIPTS_PATH

CENTS_MAX: Final = 10_000
"""In cents. Common clients refuse more than 100 unless they are told to accept it."""


def apply_prices(
    operations: Iterable[Operation[Any, Any]], cents: Mapping[str, int]
) -> tuple[Operation[Any, Any], ...]:
    """The operations with these prices in place of the usual ones, by tier or operation id.

    Raises:
        ValueError: one is for neither a tier nor an operation that can be paid for.
    """
    catalogue = tuple(operations)
    payable = {operation.id for operation in catalogue if operation.tier is not None}
    for name in cents:
        if name not in payable and all(name != tier.name for tier in TIERS):
            raise ValueError(f"{name!r} is neither a tier nor an operation that can be paid for")
    return tuple([_apply_price(operation, cents) for operation in catalogue])


def _apply_price(operation: Operation[Any, Any], cents: Mapping[str, int]) -> Operation[Any, Any]:
    tier = operation.tier
    if tier is None:
        return without_price(operation)
    current = Tier(tier.name, cents.get(operation.id, cents.get(tier.name, tier.cents)))
    return operation if current == tier else attrs.evolve(operation, tier=current)


def without_price(operation: Operation[Any, Any]) -> Operation[Any, Any]:
    """The operation without a price: callable with an API key only."""
    if operation.auth != "bearer-or-x402":
        return operation
    return attrs.evolve(operation, auth="bearer", tier=None)


def price_list(
    operations: Iterable[Operation[Any, Any]], terms: Terms, origin: str
) -> dict[str, Any]:
    """The price list of `/.well-known/x402`.

    A resource whose address has a name in braces is one of many; its challenge names the one that
    was asked for. `amount` is in the smallest unit of the asset, `price` in US dollars.
    """
    items = [
        {
            "operation": operation.id,
            "method": operation.method,
            "resource": f"{origin}{operation.address}",
            "description": operation.summary,
            "mimeType": operation.media[0].media_type,
            "tier": operation.tier.name,
            "price": operation.tier.price_usd,
            "accepts": [wire.to_json(requirements(operation.tier, terms))],
        }
        for operation in operations
        if operation.tier is not None
    ]
    # `version` and `resources` are what this document had when clients still looked for it.
    return {
        "version": 1,
        "x402Version": VERSION,
        "resources": [item["resource"] for item in items],
        "items": items,
        "documentation": f"{origin}/openapi.flat.json",
        "receipts": f"{origin}{RECEIPTS_PATH}{{receiptId}}",
    }
