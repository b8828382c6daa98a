"""Derives the identifiers and times of STIX objects deterministically from what is exported.

Rule 1: an observable has the identifier that STIX prescribes: UUIDv5 in the namespace of STIX over
        the canonical JSON of its id-contributing properties (STIX 2.1, 2.9).
Rule 2: every other object has a UUIDv5 in a namespace of our own, since that of STIX is reserved
        for observables; its type is part of the name, because a UUID must not serve two types.
Rule 3: `created` and `modified` have milliseconds, cut and never rounded up.
"""

import re
from collections.abc import Mapping
from hashlib import sha1
from typing import Any, Final

from svc_core.base import canonical

OBSERVABLES: Final = bytes.fromhex("00abedb4aa42466c9c01fed23315a9b7")
"""The namespace that STIX 2.1 reserves for observables."""
OBJECTS: Final = bytes.fromhex("5f6e2b0c91d74e4e8a37c1d0b46f2e93")
"""The namespace of all other objects that are exported."""

FIXED_TIME: Final = "2026-01-01T00:00:00.000Z"
"""`created` of the objects that describe the export format; it changes with a new version."""


_UPPER: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NOT_IN_TYPES: Final = re.compile("[^a-z0-9-]+")


def uuid5(namespace: bytes, name: str) -> str:
    """Return the name-based UUID (RFC 9562, 5.5) of `name` in a namespace of 16 bytes."""
    # The RFC prescribes SHA-1 for naming; nothing here rests on it being hard to collide.
    octets = bytearray(sha1(namespace + name.encode(), usedforsecurity=False).digest()[:16])
    octets[6] = octets[6] & 0x0F | 0x50
    octets[8] = octets[8] & 0x3F | 0x80
    digits = octets.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def object_id(type_: str, *parts: str) -> str:
    """Return the identifier of a STIX object that is not an observable."""
    return f"{type_}--{uuid5(OBJECTS, '|'.join((type_, *parts)))}"


def observable_id(type_: str, contributing: Mapping[str, Any]) -> str:
    """Return the identifier of an observable with these id-contributing properties."""
    return f"{type_}--{uuid5(OBSERVABLES, canonical.dumps(contributing).decode())}"


def milliseconds(instant: str) -> str:
    """Cut an RFC 3339 instant in UTC to milliseconds."""
    seconds, _, fraction = instant.rstrip("Z").partition(".")
    return f"{seconds}.{fraction:0<3.3}Z"


def kebab(predicate: str) -> str:
    """Convert a predicate to a relationship type (STIX 2.1, 5.1: lower case, digits, hyphens)."""
    words = _UPPER.sub("-", predicate).lower()
    return _NOT_IN_TYPES.sub("-", words).strip("-") or "related-to"
