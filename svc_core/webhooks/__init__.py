"""Webhooks: registration, signing and exact delivery of events (Spec: Events)."""

from typing import TYPE_CHECKING

from svc_core.base.public_names import lazy_names

if TYPE_CHECKING:
    from svc_core.webhooks import signing as signing
else:
    globals().update(lazy_names(__name__, {"": "signing"}))
