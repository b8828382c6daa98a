"""The secrets of webhooks at rest: sealed for their row, opened to sign, sealed anew.

Rule 1: a secret is sealed for its tenant and webhook; moved elsewhere it opens nothing.
Rule 2: a secret whose master secret is gone signs nothing. Its deliveries wait, so that none is
        lost when the master secret is listed again, or the webhook's secret rotated.
"""

from collections.abc import Mapping
from datetime import timedelta
from hmac import compare_digest
from typing import Final

import attrs

from svc_core import vault
from svc_core.cursor import KEY_ID_MAX, NONCE_BYTES, Keyring
from svc_core.operation import Context
from svc_core.resources.webhook import WEBHOOK_SECRETS, WebhookSecrets
from svc_core.vault import VaultError

OVERLAP: Final = timedelta(hours=24)
"""How long a rotated secret still signs beside the new one."""


async def keep(ctx: Context, webhook_id: str, key: bytes) -> None:
    """Keep the first secret of a webhook."""
    sealed = WebhookSecrets(webhook_id, _locked(ctx, webhook_id, key))
    await ctx.create(WEBHOOK_SECRETS, webhook_id, sealed)


async def rotate(ctx: Context, webhook_id: str, key: bytes) -> None:
    """Keep a new secret; the one before it signs beside it for a day."""
    before = await ctx.value(WEBHOOK_SECRETS, webhook_id)
    rotated = WebhookSecrets(
        webhook_id=webhook_id,
        current=_locked(ctx, webhook_id, key),
        previous=before.current,
        previous_until=ctx.now + OVERLAP,
    )
    await ctx.save(WEBHOOK_SECRETS, webhook_id, rotated)


async def replace(ctx: Context, webhook_id: str, key: bytes) -> bool:
    """Keep a client's own secret as `rotate` does; whether it differs from the present one."""
    try:
        present = (await signing_keys(ctx, webhook_id))[0]
    except VaultError:
        present = b""  # It signs nothing any more, so any other is better.
    if compare_digest(present, key):
        return False
    await rotate(ctx, webhook_id, key)
    return True


async def signing_keys(ctx: Context, webhook_id: str) -> tuple[bytes, ...]:
    """The keys that sign for a webhook now, the present one first.

    A previous one that can no longer be opened is left out.

    Raises:
        VaultError: the present one cannot be opened.
    """
    return _opened(ctx, await ctx.value(WEBHOOK_SECRETS, webhook_id))


# -- after a rotation of the master secret -----------------------------------------------------


def under_earlier(keyring: Keyring) -> Mapping[str, tuple[str, ...]]:
    """Finds the secrets that are sealed with a master key before the present one."""
    return {"sealed_with": tuple(str(id_) for id_ in keyring.keys if id_ != keyring.current)}


def under_unknown(keyring: Keyring) -> Mapping[str, tuple[str, ...]]:
    """Finds the secrets that are sealed with a master key that is not listed."""
    others = (id_ for id_ in range(KEY_ID_MAX + 1) if id_ not in keyring.keys)
    return {"sealed_with": tuple(map(str, others))}


async def renew(ctx: Context, webhook_id: str) -> None:
    """Seal the secrets of a webhook with the present master key.

    A previous secret that has expired, or cannot be opened, is dropped.

    Raises:
        VaultError: the present one cannot be opened; nothing is changed.
    """
    secrets = await ctx.find(WEBHOOK_SECRETS, webhook_id)
    if secrets is None:
        return  # The webhook was deleted since somebody looked.
    keys = _opened(ctx, secrets)
    present, *before = (_locked(ctx, webhook_id, key) for key in keys)
    renewed = attrs.evolve(
        secrets,
        current=present,
        previous=before[0] if before else None,
        previous_until=secrets.previous_until if before else None,
    )
    await ctx.save(WEBHOOK_SECRETS, webhook_id, renewed)


# -- steps -------------------------------------------------------------------------------------


def _opened(ctx: Context, secrets: WebhookSecrets) -> tuple[bytes, ...]:
    present = _unlocked(ctx, secrets.webhook_id, secrets.current)
    until = secrets.previous_until
    if secrets.previous is None or until is None or ctx.now >= until:
        return (present,)
    try:
        return (present, _unlocked(ctx, secrets.webhook_id, secrets.previous))
    except VaultError:
        return (present,)


def _locked(ctx: Context, webhook_id: str, key: bytes) -> str:
    nonce = ctx.ids.random(NONCE_BYTES)
    return vault.lock(vault.vault(ctx.keyring), key, _place(ctx, webhook_id), nonce)


def _unlocked(ctx: Context, webhook_id: str, sealed: str) -> bytes:
    return vault.unlock(vault.vault(ctx.keyring), sealed, _place(ctx, webhook_id))


def _place(ctx: Context, webhook_id: str) -> str:
    return f"webhook {ctx.actor.tenant} {webhook_id}"
