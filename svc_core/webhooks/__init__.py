"""Webhooks: registration, signing and exact delivery of events (Spec: Events)."""

from typing import TYPE_CHECKING

from svc_core.base.exports import exports

if TYPE_CHECKING:
    from svc_core.webhooks import signing as signing
else:
    globals().update(exports(__name__, {"": "signing"}))
