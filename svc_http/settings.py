"""Every setting of the server, in one frozen class that is read once.

A value comes from the first of: a command-line flag, `SVC_<NAME>` in the environment,
`svc.toml`, the default here. A secret may also stand in a file named by `SVC_<NAME>_FILE`.
A wrong value stops the start with one line that names the setting, what is wrong with it and an
example of a right one.
"""

import difflib
import os
import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import attrs
from attrs import field, frozen

from svc_core import instants
from svc_core.access import address, plans
from svc_core.constraints import Doc
from svc_http import system

MEMORY = ":memory:"
"""The value of `db` that keeps everything in memory."""

SECRET_LENGTH_MIN = 32
SECRET_DISTINCT_MIN = 8
"""Fewer different characters than this make a secret that somebody typed, not drew."""

_PREFIX = "SVC_"
_MIB = 1024 * 1024


class SettingsError(Exception):
    """A setting cannot be used; the message is one line that says which, why and what instead."""


# -- reading one value -------------------------------------------------------------------------

Reader = Callable[[str], Any]


def _text(text: str) -> str:
    if not text:
        raise ValueError("is empty")
    return text


def _choice(*allowed: str) -> Reader:
    def read(text: str) -> str:
        if text not in allowed:
            raise ValueError(f"must be one of {', '.join(allowed)}")
        return text

    return read


def _integer(least: int, most: int) -> Reader:
    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return int(text)

    return read


def _switch(text: str) -> bool:
    if text.lower() not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        raise ValueError("must be true or false")
    return text.lower() in {"true", "1", "yes", "on"}


def _instant(text: str) -> datetime:
    return instants.parse(text)


def _origin(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.query or parts.fragment:
        raise ValueError("must be an http or https address without query")
    return text.rstrip("/")


def _proxies(text: str) -> tuple[str, ...]:
    entries = tuple(entry.strip() for entry in text.split(",") if entry.strip())
    address.parse_trusted(entries)
    return entries


def _setting(default: Any, read: Reader, example: str, doc: str, *, secret: bool = False) -> Any:
    metadata = {"doc": Doc(doc), "read": read, "example": example, "secret": secret}
    return field(default=default, metadata=metadata, repr=not secret)


# -- the settings ------------------------------------------------------------------------------


@frozen(kw_only=True)
class Settings:
    """What an operator may choose. Each member carries its text, reader and example."""

    env: Literal["development", "production"] = _setting(
        "development",
        _choice("development", "production"),
        "production",
        "Where this runs. Production refuses to start without a strong secret.",
    )
    db: str = _setting(
        "svc.db",
        _text,
        "/var/lib/svc/svc.db",
        "The SQLite file; `:memory:` keeps everything in memory and loses it at the end.",
    )
    host: str = _setting("127.0.0.1", _text, "0.0.0.0", "The address to listen on.")  # noqa: S104
    port: int = _setting(
        8000, _integer(0, 65_535), "8080", "The TCP port; 0 takes any that is free."
    )
    base_url: str | None = _setting(
        None,
        _origin,
        "https://api.example.org",
        "The public origin in links. Without it: http, the listening address and port.",
    )
    data_url: str | None = _setting(
        None,
        _origin,
        "https://data.example.org",
        "The public origin of the secondary data host. Without it: `base_url`.",
    )
    secret: str | None = _setting(
        None,
        _text,
        "64 hex digits",
        "The master key that seals cursors and stored secrets; at least 32 characters. "
        "Development makes one and keeps it beside the database.",
        secret=True,
    )
    plans: str = _setting(
        "default",
        _choice(*plans.PRESETS),
        "key-guide",
        "The plan table: `default`, or `key-guide` with the numbers of the key guide.",
    )
    rate_limits: bool = _setting(
        True, _switch, "false", "Whether requests are counted and limited by plan."
    )
    allow_private_fetch: bool | None = _setting(
        None,
        _switch,
        "true",
        "Whether feeds may be fetched from this machine and private networks. Without it: in "
        "development only.",
    )
    trusted_proxies: tuple[str, ...] = _setting(
        ("loopback", "private"),
        _proxies,
        "loopback,10.1.0.0/16",
        "Peers whose CF-Connecting-IP, X-Forwarded-For and X-Real-IP are believed: `loopback`, "
        "`private`, addresses, networks, or `*` for all.",
    )
    audio_text_scope: Literal["reports:read", "reports:audio"] = _setting(
        "reports:read",
        _choice("reports:read", "reports:audio"),
        "reports:audio",
        "The scope that reading the text of a report's audio takes.",
    )
    unknown_query: Literal["reject", "ignore"] = _setting(
        "reject",
        _choice("reject", "ignore"),
        "ignore",
        "What happens to a query parameter that the operation does not know.",
    )
    legacy_ids_until: datetime | None = _setting(  # noqa: RUF009
        None,
        _instant,
        "2027-06-30T00:00:00Z",
        "When identifiers of the old form stop being accepted. Without it: never.",
    )
    aliases_until: datetime | None = _setting(  # noqa: RUF009
        None,
        _instant,
        "2027-06-30T00:00:00Z",
        "When deprecated members stop being sent on v1. Without it: never.",
    )
    deprecated_at: datetime = _setting(  # noqa: RUF009
        datetime(2026, 1, 1, tzinfo=UTC),
        _instant,
        "2026-01-01T00:00:00Z",
        "The date in the Deprecation header of answers to deprecated inputs (RFC 9745).",
    )
    sunset_at: datetime | None = _setting(  # noqa: RUF009
        None,
        _instant,
        "2027-06-30T00:00:00Z",
        "The date in their Sunset header (RFC 8594); not before `deprecated_at`.",
    )
    body_bytes_max: int = _setting(
        _MIB, _integer(1024, 64 * _MIB), "1048576", "The largest request body, in bytes."
    )
    body_seconds_max: int = _setting(
        10, _integer(1, 600), "10", "How long a request body may take to arrive, in seconds."
    )
    in_flight_max: int = _setting(
        200,
        _integer(1, 100_000),
        "200",
        "Requests worked on at once; more are answered 503 OVERLOADED.",
    )
    graceful_seconds: int = _setting(
        5, _integer(0, 600), "5", "How long running requests may take after SIGTERM, in seconds."
    )
    request_log: Literal["all", "errors", "off"] = _setting(
        "all",
        _choice("all", "errors", "off"),
        "errors",
        "Which requests leave a JSON line on stderr; `errors` are those of status 500 and above.",
    )
    workers: bool = _setting(
        True, _switch, "false", "Whether the background workers run inside the server."
    )

    def __attrs_post_init__(self) -> None:
        if self.sunset_at is not None and self.sunset_at < self.deprecated_at:
            raise _refused("sunset_at", "is before deprecated_at")

    @property
    def origin(self) -> str:
        """The public origin, as links use it."""
        if self.base_url is not None:
            return self.base_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def data_origin(self) -> str:
        """The public origin of the secondary data host."""
        return self.data_url or self.origin


MEMBERS: Mapping[str, "attrs.Attribute[Any]"] = {
    attribute.name: attribute for attribute in attrs.fields(Settings)
}


def _refused(name: str, why: str) -> SettingsError:
    example = MEMBERS[name].metadata["example"]
    return SettingsError(f"setting {name!r} {why}; for example {_PREFIX}{name.upper()}={example}")


# -- loading -----------------------------------------------------------------------------------


def load(
    environ: Mapping[str, str],
    toml_path: str | Path | None = None,
    overrides: Mapping[str, object] | None = None,
) -> Settings:
    """The settings: flags before environment before `toml_path` before defaults.

    An override that is None was not given. A `toml_path` that is named must exist.

    Raises:
        SettingsError: a value is wrong, or a name in the file or among the flags is not known.
    """
    values: dict[str, object] = {}
    values |= _from_file(toml_path) if toml_path is not None else {}
    values |= _from_environment(environ)
    values |= {name: value for name, value in (overrides or {}).items() if value is not None}
    unknown = [name for name in values if name not in MEMBERS]
    if unknown:
        raise SettingsError(_unknown(unknown[0]))
    return Settings(**{name: _read(name, value) for name, value in values.items()})


def _from_file(path: str | Path) -> dict[str, object]:
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as missing:
        raise SettingsError(f"settings file {path} cannot be read: {missing.strerror}") from missing
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as broken:
        raise SettingsError(f"settings file {path} is not TOML: {broken}") from broken


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, attribute in MEMBERS.items():
        variable = _PREFIX + name.upper()
        if variable in environ:
            found[name] = environ[variable]
        elif attribute.metadata["secret"] and f"{variable}_FILE" in environ:
            found[name] = _secret_file(name, environ[f"{variable}_FILE"])
    return found


def _secret_file(name: str, path: str) -> str:
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as missing:
        raise SettingsError(
            f"setting {name!r} cannot be read from {path}, the file that "
            f"{_PREFIX}{name.upper()}_FILE names"
        ) from missing


def _read(name: str, value: object) -> Any:
    """A value of the right type stands as it is; text, numbers and lists are read."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value
    text = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    try:
        return MEMBERS[name].metadata["read"](text)
    except ValueError as fault:
        raise _refused(name, str(fault)) from fault


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, MEMBERS, n=1)
    hint = f"did you mean {near[0]!r}" if near else f"known are {', '.join(MEMBERS)}"
    return f"there is no setting {name!r}; {hint}"


# -- the master secret -------------------------------------------------------------------------


def secured(settings: Settings) -> Settings:
    """The settings with a usable master secret.

    Production takes only a strong one that was set. Development makes one and keeps it beside
    the database, readable by its owner alone, so that cursors survive a restart.

    Raises:
        SettingsError: the secret is weak, missing in production, or cannot be kept.
    """
    if settings.secret is not None:
        _check_strength(settings.secret)
        return settings
    if settings.env == "production":
        raise _weak("is missing")
    if settings.db == MEMORY:
        return attrs.evolve(settings, secret=system.new_secret())
    return attrs.evolve(settings, secret=_kept_secret(Path(f"{settings.db}.secret")))


def _check_strength(secret: str) -> None:
    if len(secret) < SECRET_LENGTH_MIN:
        raise _weak(f"has {len(secret)} characters, fewer than {SECRET_LENGTH_MIN}")
    if len(set(secret)) < SECRET_DISTINCT_MIN:
        raise _weak("repeats a few characters")


def _weak(why: str) -> SettingsError:
    return SettingsError(
        f"setting 'secret' {why}; here is a fresh one: {_PREFIX}SECRET={system.new_secret()}"
    )


def _kept_secret(path: Path) -> str:
    try:
        return _make_or_read(path)
    except OSError as refused:
        raise SettingsError(
            f"setting 'secret' cannot be kept in {path}: {refused.strerror}; "
            f"set {_PREFIX}SECRET instead"
        ) from refused


def _make_or_read(path: Path) -> str:
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        secret = path.read_text("ascii").strip()
        _check_strength(secret)
        return secret
    with os.fdopen(handle, "w", encoding="ascii") as file:
        secret = system.new_secret()
        file.write(secret + "\n")
    return secret
