"""Webhook secrets at rest: encrypted for their row, decrypted to sign, re-encrypted.

Rule 1: a secret is sealed for its tenant and webhook; moved elsewhere it opens nothing.
Rule 2: a secret whose master secret is gone signs nothing. Its deliveries wait, so that none is
        lost when the master secret is listed again, or the webhook's secret rotated.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from hmac import compare_digest
from typing import Final

from svc_core.base import seals
from svc_core.base.seals import KEY_ID_MAX, NONCE_BYTES, Keyring, SealError
from svc_core.operation.context import Context
from svc_core.outbox.model import FORMER_MAX, WEBHOOK_SECRETS, FormerSecret, WebhookSecrets

OVERLAP: Final = timedelta(hours=24)
"""How long a rotated secret still signs beside the new one."""


async def store_secret(ctx: Context, webhook_id: str, key: bytes) -> None:
    """Store the first secret of a webhook."""
    secrets = WebhookSecrets(webhook_id, _seal(ctx, webhook_id, key))
    await ctx.create(WEBHOOK_SECRETS, webhook_id, secrets)


async def rotate(ctx: Context, webhook_id: str, key: bytes) -> None:
    """Store a new secret; the previous one signs beside it for a day."""
    before = await ctx.value(WEBHOOK_SECRETS, webhook_id)
    former = (FormerSecret(before.current, ctx.now + OVERLAP), *_signing(ctx, before))
    current = _seal(ctx, webhook_id, key)
    secrets = WebhookSecrets(webhook_id, current, former[:FORMER_MAX])
    await ctx.save(WEBHOOK_SECRETS, webhook_id, secrets)


async def replace(ctx: Context, webhook_id: str, key: bytes) -> bool:
    """Rotate to a secret unless it is the current one; whether it rotated."""
    try:
        present = (await signing_keys(ctx, webhook_id))[0]
    except SealError:
        present = b""  # It signs nothing any more, so any other is better.
    if compare_digest(present, key):
        return False
    await rotate(ctx, webhook_id, key)
    return True


async def signing_keys(ctx: Context, webhook_id: str) -> tuple[bytes, ...]:
    """The keys that sign for a webhook now, the present one first.

    A former one that can no longer be opened is left out.

    Raises:
        SealError: the present one cannot be opened.
    """
    secrets = await ctx.value(WEBHOOK_SECRETS, webhook_id)
    present = _unseal(ctx, webhook_id, secrets.current)
    return (present, *(key for _, key in _former(ctx, secrets) if key != present))


# -- after a rotation of the master secret -----------------------------------------------------


def sealed_earlier(keyring: Keyring) -> Mapping[str, tuple[str, ...]]:
    """The filter for secrets that are encrypted with a former master key."""
    return {"sealed_with": tuple(str(id_) for id_ in keyring.keys if id_ != keyring.current)}


def sealed_unlisted(keyring: Keyring) -> Mapping[str, tuple[str, ...]]:
    """The filter for secrets that are encrypted with a master key that is not configured."""
    ids = (id_ for id_ in range(KEY_ID_MAX + 1) if id_ not in keyring.keys)
    return {"sealed_with": tuple(map(str, ids))}


async def renew_seal(ctx: Context, webhook_id: str) -> None:
    """Seal the secrets of a webhook with the present master key.

    A former secret that has expired, or cannot be opened, is dropped.

    Raises:
        SealError: the present one cannot be opened; nothing is changed.
    """
    secrets = await ctx.find(WEBHOOK_SECRETS, webhook_id)
    if secrets is None:
        return  # The webhook was deleted since somebody looked.
    present = _seal(ctx, webhook_id, _unseal(ctx, webhook_id, secrets.current))
    former = tuple(
        FormerSecret(_seal(ctx, webhook_id, key), secret.until)
        for secret, key in _former(ctx, secrets)
    )
    await ctx.save(WEBHOOK_SECRETS, webhook_id, WebhookSecrets(webhook_id, present, former))


# -- steps -------------------------------------------------------------------------------------


def _signing(ctx: Context, secrets: WebhookSecrets) -> Iterator[FormerSecret]:
    return (secret for secret in secrets.former if ctx.now < secret.until)


def _former(ctx: Context, secrets: WebhookSecrets) -> Iterator[tuple[FormerSecret, bytes]]:
    for secret in _signing(ctx, secrets):
        with suppress(SealError):
            yield secret, _unseal(ctx, secrets.webhook_id, secret.sealed)


def _seal(ctx: Context, webhook_id: str, key: bytes) -> str:
    nonce = ctx.ids.random(NONCE_BYTES)
    return seals.lock(ctx.keyring, key, _place(ctx, webhook_id), nonce)


def _unseal(ctx: Context, webhook_id: str, token: str) -> bytes:
    return seals.unlock(ctx.keyring, token, _place(ctx, webhook_id))


def _place(ctx: Context, webhook_id: str) -> str:
    return f"webhook {ctx.actor.tenant} {webhook_id}"
