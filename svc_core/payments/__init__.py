"""Payment for single requests (x402, version 2): from the 402 challenge to the settled transfer.

The package is usable alone: it needs the ports in `ports` from its host, and nothing else.

    messages, header    the messages of the protocol, and strict parsing of those from clients
    networks, challenge the networks, assets and prices that a 402 answer offers
    evm                 verification of signed transfers
    states, records     the states of a payment, and its stored rows
    admission, decisions, outcomes    pure rules: limits, checks, the meaning of settlements
    steps               a paid request from end to end, and the reconciler
    receipts, bodies    receipts of settled payments, and the storage form of answers
"""

from typing import TYPE_CHECKING

from svc_core.base.public_names import lazy_names

if TYPE_CHECKING:
    from svc_core.payments import challenge as challenge
    from svc_core.payments import header as header
    from svc_core.payments import messages as messages
    from svc_core.payments import networks as networks
    from svc_core.payments import receipts as receipts
    from svc_core.payments import states as states
else:
    globals().update(
        lazy_names(__name__, {"": ("challenge header messages networks receipts states")})
    )
