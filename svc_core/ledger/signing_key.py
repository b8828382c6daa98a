"""Stores the Ed25519 signing keys of a deployment, encrypted under its master secret.

There is one key for the tree heads of ledgers and one for the receipts of payments, so that a
signature for one purpose is worthless for the other. A key is created once and survives rotations
of the master secret, because its public half is what clients have noted.
"""

from datetime import datetime
from typing import Final, Literal

from attrs import frozen

from svc_core.base import ids, seals
from svc_core.base.seals import NONCE_BYTES, Keyring
from svc_core.ledger.log.note import Ed25519Signer
from svc_core.operation.context import Context
from svc_core.operation.ports import Collection

SEED_BYTES: Final = 32
Purpose = Literal["ledger", "receipt"]


@frozen
class SigningKey:
    """An encrypted Ed25519 seed, with the purpose that the key serves."""

    sealed: str
    created_at: datetime
    purpose: Purpose = "ledger"


SIGNING_KEYS: Collection[SigningKey] = Collection(
    name="signing_keys",
    model=SigningKey,
    prefix="led",
    scope="system",
)
_IDS: Final[dict[Purpose, str]] = {
    "ledger": ids.derived_id("led", "signing key", "store", "first"),
    "receipt": ids.derived_id("led", "signing key", "receipts", "first"),
}


def seed_of(key: SigningKey, keyring: Keyring) -> bytes:
    """Decrypt the seed of a key.

    Raises:
        SealError: the master key that it was encrypted under is not in the ring.
    """
    return seals.unlock(keyring, key.sealed, _place(key.purpose))


async def stored_signer(ctx: Context, purpose: Purpose = "ledger") -> Ed25519Signer | None:
    """Return the stored signer; None if there is none or it needs re-encryption (read only).

    Raises:
        SealError: its master key is no longer among the secrets.
    """
    key = await ctx.find(SIGNING_KEYS, _IDS[purpose])
    if key is None or seals.needs_new_seal(ctx.keyring, key.sealed):
        return None
    return Ed25519Signer.from_seed(seals.unlock(ctx.keyring, key.sealed, _place(purpose)))


async def ensure_signer(ctx: Context, purpose: Purpose = "ledger") -> Ed25519Signer:
    """Return the signer; create it if there is none, and encrypt it under the newest master key.

    Raises:
        SealError: its master key is no longer among the secrets.
    """
    id_, place = _IDS[purpose], _place(purpose)
    key = await ctx.find(SIGNING_KEYS, id_)
    if key is None:
        seed, created_at = ctx.ids.random(SEED_BYTES), ctx.now
    else:
        seed, created_at = seals.unlock(ctx.keyring, key.sealed, place), key.created_at
    sealed_seed = seals.lock(ctx.keyring, seed, place, ctx.ids.random(NONCE_BYTES))
    await ctx.save(SIGNING_KEYS, id_, SigningKey(sealed_seed, created_at, purpose))
    return Ed25519Signer.from_seed(seed)


def _place(purpose: Purpose) -> str:
    return f"{purpose} signing key"
