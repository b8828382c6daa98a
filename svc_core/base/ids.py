"""Public identifiers: `<prefix>_` and 24 lowercase hex digits, opaque to clients.

Resources that people create sort by age (4 bytes of seconds, 8 random bytes). Rows made from
sources have a digest of their origin, so that taking the same document in twice changes nothing.
Storage ids of old are the bare 24 digits; answers always carry the public form.
"""

import re
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType

PREFIXES: Mapping[str, str] = MappingProxyType(
    {
        # Spec: Public identifiers.
        "rpt": "report",
        "prf": "profile",
        "sub": "subscription",
        "whk": "webhook",
        "obs": "observation",
        "inc": "incident",
        "ent": "entity",
        "mkt": "market",
        "fin": "financial indicator row",
        "plc": "place",
        "rel": "relation",
        "sig": "signal",
        "src": "source",
        # Named by the service where the spec shows none.
        "wsp": "workspace",
        "usr": "user",
        "key": "API key",
        "ses": "session",
        "inv": "invitation",
        "rcp": "recap",
        "evt": "event",
        "att": "attempt",
        "prj": "project",
        "aut": "automation",
        "run": "automation run",
        "thr": "thread",
        "msg": "message",
        "req": "request",
        "chg": "change",
        "pay": "payment",
        "rct": "payment receipt",
        "led": "ledger",
        "sbj": "subject",
        "dsg": "designator",
        "clm": "claim",
        "aud": "recording",
        "med": "media file to be looked after",
        "act": "act in the audit log",
    }
)
"""Every prefix with the noun it stands for. An `obs` is an observation, ledger records included."""

LEGACY_PREFIXES = frozenset({"rpt", "prf", "sub", "whk"})
"""The prefixes of resources whose storage ids were once public."""

LEGACY_ID = "[a-f0-9]{24}"
"""The digits of every identifier; a legacy identifier has nothing else."""

EXAMPLE_DIGITS = "65f1c0de8badf00d12345678"
"""The digits of the identifiers that the documentation shows."""

SECONDS_MAX = 2**32 - 1
"""Four bytes of Unix time reach to the year 2106."""
RANDOM_BYTES = 8

_HEX = re.compile(LEGACY_ID)


class IdError(ValueError):
    """An identifier cannot be made of these parts."""


def new_id(prefix: str, seconds: int, random8: bytes) -> str:
    """A fresh id that sorts by age: Unix `seconds`, then 8 random bytes that the caller draws.

    Raises:
        IdError: no resource has this prefix, the seconds do not fit, or there are not 8 bytes.
    """
    if not 0 <= seconds <= SECONDS_MAX:
        raise IdError(f"An id holds seconds from 0 to {SECONDS_MAX}, not {seconds}.")
    if len(random8) != RANDOM_BYTES:
        raise IdError(f"An id is made with {RANDOM_BYTES} random bytes, not {len(random8)}.")
    return f"{_checked_prefix(prefix)}_{seconds:08x}{random8.hex()}"


def derived_id(prefix: str, kind: str, provider: str, natural_key: str) -> str:
    """The id of a row made from a source: equal for equal arguments, for ever.

    Each part goes into the SHA-256 after its length in bytes, so that no two different triples
    are joined to the same text.

    Raises:
        IdError: no resource has this prefix.
    """
    hasher = sha256()
    for part in (kind, provider, natural_key):
        # Feeds contain unpaired surrogates; they too must have one id, and their own.
        data = part.encode("utf-8", "surrogatepass")
        hasher.update(b"%d:" % len(data) + data)
    return f"{_checked_prefix(prefix)}_{hasher.hexdigest()[:24]}"


def is_id(prefix: str, text: str) -> bool:
    """Whether `text` is a public id with this prefix, every character of it."""
    return text[:4] == f"{prefix}_" and _HEX.fullmatch(text, 4) is not None


def is_legacy(text: str) -> bool:
    """Whether `text` is a storage id of old: 24 lowercase hex digits and nothing else."""
    return _HEX.fullmatch(text) is not None


def public_id(prefix: str, text: str) -> str | None:
    """The public form of a legacy id; None for any other text or kind of resource."""
    if prefix in LEGACY_PREFIXES and is_legacy(text):
        return f"{prefix}_{text}"
    return None


def _checked_prefix(prefix: str) -> str:
    if prefix not in PREFIXES:
        raise IdError(f"No resource has the id prefix {prefix!r}.")
    return prefix
