"""Payment for single requests (x402): what is asked for, and how that is written down."""

from svc_core.payments.challenge import ERROR_UNPAID, ERROR_UNSETTLED, Offer, Terms, offer
from svc_core.payments.networks import BASE, BASE_SEPOLIA, NETWORKS, NOBODY, Asset, Network

__all__ = [
    "BASE",
    "BASE_SEPOLIA",
    "ERROR_UNPAID",
    "ERROR_UNSETTLED",
    "NETWORKS",
    "NOBODY",
    "Asset",
    "Network",
    "Offer",
    "Terms",
    "offer",
]
