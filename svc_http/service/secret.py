"""Finds or creates the master secret, from which every key of the service is derived.

Rule 1: production accepts only a strong secret from the settings, and so does PostgreSQL, whose
        processes must all have the same one. Development creates a secret in a file beside the
        SQLite file, readable by its owner alone, so that cursors survive a restart.
Rule 2: a secret is created for a database that exists: a start that fails leaves none behind.
Rule 3: the present secret seals, earlier ones still open. The key id of a secret depends on the
        secret alone, so that a rotation is one line of settings, and a client that pages through a
        list goes on after it.
"""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

import attrs

from svc_core.base.seals import Keyring
from svc_http import system
from svc_http.settings import PREFIX, Settings, SettingsError, setting_fault

SECRET_LENGTH_MIN = 32
SECRET_DISTINCT_MIN = 8
"""A secret with fewer different characters was typed by a person, not drawn at random."""

_ID_LABEL = b"svc key id\x00"
"""The prefix under which a secret is hashed to its id: cursors show the id, never the key."""


def validate_secret(settings: Settings) -> Settings:
    """Check that `with_secret` would accept the settings now, and return them; nothing is created.

    Raises:
        SettingsError: as `with_secret` does, except for a secret file that cannot be written.
    """
    _check_previous(_existing_secret(settings), settings.secret_previous)
    return settings


def with_secret(settings: Settings) -> Settings:
    """The settings with a usable master secret, which is created if there is none yet.

    Raises:
        SettingsError: the secret is weak, missing where one must be set, or cannot be kept; or
            one of before cannot be used beside it.
    """
    secret = _existing_secret(settings) or _new_secret(settings)
    _check_previous(secret, settings.secret_previous)
    return attrs.evolve(settings, secret=secret)


def keyring_of(settings: Settings) -> Keyring | None:
    """The keyring of an existing database; None if its secret does not exist yet.

    Raises:
        SettingsError: as `with_secret` does, but for a secret that cannot be kept.
    """
    secret = _existing_secret(validate_secret(settings))
    return None if secret is None else keyring(secret, settings.secret_previous)


def _existing_secret(settings: Settings) -> str | None:
    """The secret of the settings or of the secret file; None if one has to be created."""
    if settings.secret is not None:
        _check_strength(settings.secret)
        return settings.secret
    if settings.env == "production" or settings.dsn is not None:
        raise _secret_error("is missing")
    path = _path(settings)
    return None if settings.file is None or not path.exists() else _read_secret(path)


def _read_secret(path: Path) -> str:
    try:
        secret = path.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = f"cannot be read from {path}; set {PREFIX}SECRET instead"
        raise setting_fault("secret", why) from error
    _check_strength(secret)
    return secret


def _new_secret(settings: Settings) -> str:
    secret = system.new_secret()
    if settings.file is None:
        return secret
    path = _path(settings)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # made by another process since we looked
        return _read_secret(path)
    except OSError as error:
        why = f"cannot be kept in {path}: {error.strerror}; set {PREFIX}SECRET instead"
        raise setting_fault("secret", why) from error
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secret + "\n")
    return secret


def _path(settings: Settings) -> Path:
    return Path(f"{settings.db}.secret")


def _check_previous(secret: str | None, previous: tuple[str, ...]) -> None:
    lengths = [len(text) for text in previous if len(text) < SECRET_LENGTH_MIN]
    if lengths:
        # A secret that holds a comma itself comes apart into such pieces.
        raise SettingsError(
            f"setting 'secret_previous' holds a secret of {lengths[0]} characters, fewer than "
            f"{SECRET_LENGTH_MIN}; list whole secrets, with commas or line breaks between them"
        )
    if secret is None:
        return
    try:
        keyring(secret, previous)
    except KeyIdCollision as collision:
        raise SettingsError(
            "setting 'secret_previous': two of the secrets share a key id, as one pair in 256 "
            f"does; rotate to another one, such as {PREFIX}SECRET={system.new_secret()}"
        ) from collision


def _check_strength(secret: str) -> None:
    if len(secret) < SECRET_LENGTH_MIN:
        raise _secret_error(f"has {len(secret)} characters, fewer than {SECRET_LENGTH_MIN}")
    if len(set(secret)) < SECRET_DISTINCT_MIN:
        raise _secret_error("repeats a few characters")


def _secret_error(fault: str) -> SettingsError:
    cure = f"here is a fresh one: {PREFIX}SECRET={system.new_secret()}"
    return setting_fault("secret", f"{fault}; {cure}")


# -- the keyring -----------------------------------------------------------------------------------


class KeyIdCollision(ValueError):  # noqa: N818 - named as a state
    """Two different secrets have one key id, as one pair in 256 does."""


def key_id(secret: str) -> int:
    """The id of the key of a secret, from 0 to 255; it depends on the secret alone."""
    return sha256(_ID_LABEL + secret.encode()).digest()[0]


def keyring(secret: str, previous: Iterable[str] = ()) -> Keyring:
    """The ring that seals with `secret` and opens what `previous` sealed as well.

    A secret that is listed twice is one.

    Raises:
        KeyIdCollision: two of them cannot be told apart in a cursor.
    """
    secrets: dict[int, str] = {key_id(secret): secret}
    for old_secret in previous:
        if secrets.setdefault(key_id(old_secret), old_secret) != old_secret:
            raise KeyIdCollision
    master_keys = {id_: sha256(text.encode()).digest() for id_, text in secrets.items()}
    return Keyring(master_keys, key_id(secret))
