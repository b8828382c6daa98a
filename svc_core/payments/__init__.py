"""Payment for single requests (x402, version 2): asked for, judged, settled, and never lost.

The package is usable alone: it asks its host for what `ports` names, and for nothing else.

    messages, header    what is said on the wire, and reading it from strangers
    networks, challenge what is asked for
    evm                 who signed which transfer
    states, records     where a payment stands, and what is kept of it
    admission, decisions, outcomes    what is decided, from values alone
    steps               a paid request from end to end, and the reconciler
    receipts, bodies    what is told of a settled payment, and how an answer is kept
"""

from svc_core.payments.admission import Limits
from svc_core.payments.challenge import ERROR_UNPAID, ERROR_UNSETTLED, Offer, Terms, offer
from svc_core.payments.decisions import Purchase
from svc_core.payments.evm import Judge
from svc_core.payments.networks import BASE, BASE_SEPOLIA, NETWORKS, NOBODY, Asset, Network
from svc_core.payments.receipts import Signing
from svc_core.payments.records import KeptAnswer, Payment
from svc_core.payments.states import Event, State
from svc_core.payments.steps import Checkout, Policy, Served

__all__ = [
    "BASE",
    "BASE_SEPOLIA",
    "ERROR_UNPAID",
    "ERROR_UNSETTLED",
    "NETWORKS",
    "NOBODY",
    "Asset",
    "Checkout",
    "Event",
    "Judge",
    "KeptAnswer",
    "Limits",
    "Network",
    "Offer",
    "Payment",
    "Policy",
    "Purchase",
    "Served",
    "Signing",
    "State",
    "Terms",
    "offer",
]
