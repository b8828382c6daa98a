"""The bitemporal picture of a subject: what was believed when, and for when, as SVG."""

from svc_core.ledger.picture.picture import svg

__all__ = ["svg"]
