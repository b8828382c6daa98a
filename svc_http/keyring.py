"""The keyring of the master secrets: the present one seals, earlier ones still open.

A secret keeps its key id wherever it is listed, so that a rotation is one line of settings and a
walk through a list that began before it goes on after it.
"""

from collections.abc import Iterable
from hashlib import sha256

from svc_core.cursor import Keyring

_ID_LABEL = b"svc key id\x00"
"""Keeps the id, which stands in every cursor, apart from the master key, which is secret."""


class SameKeyId(ValueError):  # noqa: N818 - said as the state that it is
    """Two different secrets have one key id; one in 256 pairs has."""


def key_id(secret: str) -> int:
    """The id of a secret's key, from 0 to 255: the same wherever and whenever it is asked."""
    return sha256(_ID_LABEL + secret.encode()).digest()[0]


def keyring(secret: str, previous: Iterable[str] = ()) -> Keyring:
    """The ring that seals with `secret` and opens what `previous` sealed as well.

    A secret that is listed twice is one.

    Raises:
        SameKeyId: two of them cannot be told apart in a cursor.
    """
    secrets: dict[int, str] = {key_id(secret): secret}
    for earlier in previous:
        if secrets.setdefault(key_id(earlier), earlier) != earlier:
            raise SameKeyId
    masters = {id_: sha256(text.encode()).digest() for id_, text in secrets.items()}
    return Keyring(masters, key_id(secret))
