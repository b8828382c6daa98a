"""The key that signs tree heads: made once for a store, sealed at rest, kept by rotations."""

from datetime import datetime
from typing import Final

from attrs import frozen

from svc_core import ids, vault
from svc_core.cursor import NONCE_BYTES, Keyring
from svc_core.ledger.log.note import Ed25519Signer
from svc_core.operation import Context
from svc_core.ports import Collection
from svc_core.resources.members import micros

SEED_BYTES: Final = 32
_PLACE: Final = "ledger signing key"


@frozen
class SigningKey:
    """The sealed seed of the Ed25519 key."""

    sealed: str
    created_at: datetime


SIGNING_KEYS: Collection[SigningKey] = Collection(
    name="signing_keys",
    model=SigningKey,
    prefix="led",
    order=lambda key: micros(key.created_at),
    scope="system",
)
_ID: Final = ids.derived_id("led", "signing key", "store", "first")


def seed_of(key: SigningKey, keyring: Keyring) -> bytes:
    """The seed under the seal.

    Raises:
        VaultError: its master key is not among those of the ring.
    """
    return vault.unlock(vault.vault(keyring), key.sealed, _PLACE)


async def stored_signer(ctx: Context) -> Ed25519Signer | None:
    """The signer, where there is one and its seal is by the present master key.

    Raises:
        VaultError: its master key is no longer among the secrets.
    """
    key = await ctx.find(SIGNING_KEYS, _ID)
    keys = vault.vault(ctx.keyring)
    if key is None or vault.needs_new_seal(keys, key.sealed):
        return None
    return Ed25519Signer.from_seed(seed_of(key, ctx.keyring))


async def kept_signer(ctx: Context) -> Ed25519Signer:
    """The signer; made now where there is none, sealed anew after a rotation.

    Raises:
        VaultError: its master key is no longer among the secrets.
    """
    key = await ctx.find(SIGNING_KEYS, _ID)
    if key is None:
        seed, created_at = ctx.ids.random(SEED_BYTES), ctx.now
    else:
        seed, created_at = seed_of(key, ctx.keyring), key.created_at
    sealed = vault.lock(vault.vault(ctx.keyring), seed, _PLACE, ctx.ids.random(NONCE_BYTES))
    await ctx.save(SIGNING_KEYS, _ID, SigningKey(sealed, created_at))
    return Ed25519Signer.from_seed(seed)
