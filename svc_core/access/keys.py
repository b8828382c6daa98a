"""API keys: their text, their stored record and their states (Spec: API key).

Rule 1: only the SHA-256 digest and a short display prefix are stored; the secret is shown once.
Rule 2: a key is looked up by the digest of the whole credential, never by a part of it.
Rule 3: revoking is safe to repeat; regenerating voids the old secret at once, in any state.
Rule 4: only `active` and `inactive` are stored. Expiry and plan eligibility are judged anew at
    every request, so nothing has to happen at the moment they change.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from attrs import evolve, field, frozen

from svc_core.access.plans import Plan
from svc_core.base import instants
from svc_core.contract import problem
from svc_core.contract.problem import Problem

RANDOM_BYTES = 32
DISPLAY_HEX = 8
"""Hex digits of the secret in the display prefix; the other 224 bits stay secret."""

KeyStatus = Literal["active", "inactive"]
KeyState = Literal["active", "inactive", "expired", "plan-ineligible"]

_AUTHORIZATION = re.compile("Bearer svc_[0-9a-f]{64}")
_SCHEME = "Bearer"
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_NEVER = datetime.max.replace(tzinfo=UTC)


# -- the text of a key -------------------------------------------------------------------------


@frozen
class NewKey:
    """A new secret, to be shown once, with its stored digest and display prefix."""

    secret: str = field(repr=False)
    digest_hex: str
    prefix: str


def new_key(random32: bytes) -> NewKey:
    """The key made of 32 random bytes: `svc_` and their 64 lowercase hex digits.

    Raises: ValueError when there are not exactly 32 bytes.
    """
    if len(random32) != RANDOM_BYTES:
        raise ValueError(f"A key is made of {RANDOM_BYTES} random bytes, not {len(random32)}.")
    secret = f"svc_{random32.hex()}"
    return NewKey(secret, digest(secret), secret[: len("svc_") + DISPLAY_HEX])


def digest(secret: str) -> str:
    """SHA-256 of a key's text, in hex. Plain, because 256 random bits need no slow hash."""
    return sha256(secret.encode("ascii")).hexdigest()


class Bearer(NamedTuple):
    """A well-formed key was sent; only its digest goes further."""

    digest_hex: str


@frozen
class MalformedKey:
    """`Authorization` begins with `Bearer`, but what follows is no key."""


MALFORMED_KEY: Final = MalformedKey()


def parse_bearer(authorization: str | None) -> Bearer | MalformedKey | None:
    """Parse an `Authorization` field; None for a caller without a key.

    `Bearer` is case-sensitive and anything that begins with it takes the key path, so that a
    spoilt key is told so and never offered a payment instead (Spec: x402 path selection). One
    space, then the key and nothing else: no other space, no newline, no upper-case digit.
    """
    if authorization is None:
        return None
    if _AUTHORIZATION.fullmatch(authorization):
        return Bearer(digest(authorization[len(_SCHEME) + 1 :]))
    return MALFORMED_KEY if authorization.startswith(_SCHEME) else None


# -- the record --------------------------------------------------------------------------------


@frozen(kw_only=True)
class KeyFacts:
    """What may be shown of a key: all but its digest and how it stands.

    `workspace_id` is null for a personal key. `grandfathered` marks the Lite keys of old. An
    empty `addresses` admits every address; `allowed_origins` says where its callers are meant to
    be, and is not enforced (Spec: IP allowlist); `per_minute` and `per_day` restrict the key below
    its plan. `issued_at` is when the present secret was made, `last_used_at` when it last let a
    request in, up to a minute behind.
    """

    id: str
    name: str
    prefix: str
    scopes: tuple[str, ...]
    addresses: tuple[str, ...]
    workspace_id: str | None
    user_id: str
    created_at: datetime
    issued_at: datetime
    grandfathered: bool = False
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    per_minute: int | None = None
    per_day: int | None = None
    allowed_origins: tuple[str, ...] = ()


@frozen(kw_only=True)
class ApiKey(KeyFacts):
    """What is kept of one key."""

    digest_hex: str = field(repr=False)
    status: KeyStatus = "active"

    @property
    def tenant(self) -> str:
        """Whose data it reaches and whose quota it uses: its workspace, else its user."""
        return self.workspace_id or self.user_id


def state(key: ApiKey, plan: Plan, now: datetime) -> KeyState:
    """The state of a key at `now`: the first that applies, in the order of authorization."""
    if key.status == "inactive":
        return "inactive"
    if key.expires_at is not None and key.expires_at <= now:
        return "expired"
    return "active" if plan.admits(grandfathered=key.grandfathered) else "plan-ineligible"


def active_until(key: ApiKey, plan: Plan) -> datetime:
    """The instant at which the key stops being active; long ago for a key that never is."""
    if state(key, plan, _LONG_AGO) != "active":
        return _LONG_AGO
    return key.expires_at or _NEVER


def mark_used(key: ApiKey, at: datetime) -> ApiKey:
    """The key with a use at `at`; the same object when that use is not newer than its record."""
    if at < key.issued_at or (key.last_used_at is not None and at <= key.last_used_at):
        return key
    return evolve(key, last_used_at=at)


# -- transitions -------------------------------------------------------------------------------


def revoke(key: ApiKey, now: datetime) -> ApiKey:
    """The key, revoked. Revoking it again changes nothing, not even the time."""
    if key.status == "inactive":
        return key
    return evolve(key, status="inactive", revoked_at=now)


def grandfather(
    key: ApiKey, *, before: datetime | None, siblings: Iterable[ApiKey], keys_max: int
) -> ApiKey:
    """The key, entitled under a plan that admits no new keys. Repeating it changes nothing.

    The key must be made `before` the last day of such keys, and fewer than `keys_max` of its
    `siblings`, the other keys of the account, may be grandfathered, whatever their state: a
    revoked key may come back.

    Raises: Problem RESOURCE_CONFLICT.
    """
    if key.grandfathered:
        return key
    if before is None or key.created_at >= before:
        creation, day = (
            instants.render(at) if at else "not set" for at in (key.created_at, before)
        )
        detail = f"The key was made on {creation}, and lite_keys_before is {day}."
    elif sum(key.grandfathered for key in siblings) >= keys_max:
        detail = f"Of one account {keys_max} keys are grandfathered, and it has as many."
    else:
        return evolve(key, grandfathered=True)
    step = "Only keys of before, few of each account, go on under Lite; upgrade the plan for more."
    raise Problem(problem.RESOURCE_CONFLICT, detail, resolution=step)


def regenerate(key: ApiKey, new: NewKey, now: datetime) -> ApiKey:
    """The same key with a new secret, active and unused; the old secret is void at once.

    An expiry still ahead is kept. One that has passed starts again with the same lifetime,
    because a regenerated key is active (Spec: States).
    """
    return evolve(
        key,
        digest_hex=new.digest_hex,
        prefix=new.prefix,
        status="active",
        issued_at=now,
        expires_at=_next_expiry(key, now),
        revoked_at=None,
        last_used_at=None,
    )


def _next_expiry(key: ApiKey, now: datetime) -> datetime | None:
    if key.expires_at is None or key.expires_at > now:
        return key.expires_at
    return now + (key.expires_at - key.issued_at)
