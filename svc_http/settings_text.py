"""Parses the text of settings into values, with one reader for each kind of setting.

A reader raises ValueError; its message continues a sentence that begins with the setting's name.
"""

import re
import shlex
import tomllib
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from svc_core.access import address
from svc_core.base import instants
from svc_core.payments.prices import CENTS_MAX

SECRETS_MAX = 8
"""The most secrets that are valid at once: cursors are used within minutes, so that one or two are
enough, and more are a mistake."""

DATABASE = "database"
"""The value of `media` that stores recordings in the database."""
S3 = "s3://"

Reader = Callable[[str], Any]


def nonempty(text: str) -> str:
    """Reads any text that is not empty."""
    if not text:
        raise ValueError("is empty")
    return text


def argv(text: str) -> str:
    """Reads a program and its arguments, quoted as for a POSIX shell, though none runs them."""
    try:
        words = shlex.split(text)
    except ValueError as open_quote:
        raise ValueError("has a quotation mark without its other one") from open_quote
    if not words:
        raise ValueError("is empty")
    return text


def choice(*words_allowed: str) -> Reader:
    """A reader for one of these words."""

    def read(text: str) -> str:
        if text not in words_allowed:
            raise ValueError(f"must be one of {', '.join(words_allowed)}")
        return text

    return read


def word_list(*words_allowed: str) -> Reader:
    """A reader for a comma list of these words, or `all`, or `none`."""

    def read(text: str) -> tuple[str, ...]:
        entries = tuple(entry.strip() for entry in text.split(",") if entry.strip())
        if entries == ("none",):
            return ()
        if entries == ("all",):
            return entries
        if not entries or not {*entries} <= {*words_allowed}:
            raise ValueError(f"must be all, none, or some of {', '.join(words_allowed)}")
        return entries

    return read


def without_secret(place: str) -> str:
    """The name of a database as it may be printed: an address without password and options."""
    scheme, is_address, rest = place.partition("://")
    if not is_address:
        return place
    people, at, host = rest.rpartition("@")
    if {"?", "#"} & {*people}:
        return f"{scheme}://..."  # anything before the last @ may belong to the password
    return f"{scheme}://{people.partition(':')[0]}{at}{re.split('[?#]', host)[0]}"


def counting_place(text: str) -> str:
    """Reads where requests are counted; a message on an address does not repeat its password."""
    if text in {"memory", "database"}:
        return text
    try:
        parts = urlsplit(text)
        is_place = parts.port != 0 and re.fullmatch("/?[0-9]*", parts.path) and parts.hostname
    except ValueError:
        is_place = None
    if not is_place or parts.scheme not in {"redis", "rediss"}:
        why = "must be memory, database, or an address such as redis://:PASSWORD@HOST:6379/0"
        raise ValueError(f"{why}, its password percent-encoded")
    return text


def cents(text: str) -> tuple[tuple[str, int], ...]:
    """Reads a comma list of prices in cents by operation, such as `getReport=40`."""
    number, pairs = integer(1, CENTS_MAX), (entry.partition("=") for entry in text.split(","))
    return tuple((name.strip(), number(amount.strip())) for name, _, amount in pairs)


def toml_tables(text: str) -> dict[str, Any]:
    """Reads members of tables in one line, such as `pro.perDay=9000,pro.newKeys=true` (TOML)."""
    try:
        read: dict[str, Any] = tomllib.loads(f"all={{{text}}}")["all"]
    except (ValueError, RecursionError) as error:
        raise ValueError("must be NAME.MEMBER=NUMBER, with commas between several") from error
    return read


def integer(least: int, maximum: int) -> Reader:
    """A reader for a whole number in ASCII digits, both bounds included."""

    def read(text: str) -> int:
        if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= maximum:
            raise ValueError(f"must be a whole number from {least} to {maximum}")
        return int(text)

    return read


def duration_text(text: str) -> timedelta:
    """Reads a duration of up to a day, such as `90s` or `10m`."""
    value = instants.span(text)
    if value is None or value > timedelta(days=1):
        raise ValueError("must be a span of time up to 24h, such as 90s or 10m")
    return value


def media_place(text: str) -> str:
    """Reads where media are stored: a folder, `database`, or an S3 bucket (perhaps with prefix)."""
    if "://" in text and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^?#]*)?", text):
        raise ValueError("must be a folder, `database`, or s3://bucket/prefix")
    return nonempty(text)


def switch(text: str) -> bool:
    """Reads a boolean: true, false, 1, 0, yes, no, on or off."""
    if text.lower() not in {"true", "false", "1", "0", "yes", "no", "on", "off"}:
        raise ValueError("must be true or false")
    return text.lower() in {"true", "1", "yes", "on"}


def instant_text(text: str) -> datetime:
    """Reads an instant (RFC 3339)."""
    return instants.parse(text)


def web_origin(text: str) -> str:
    """Reads an http or https URL without query and user; a slash at its end is removed."""
    parts = urlsplit(text)
    is_plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    if parts.scheme not in {"http", "https"} or not parts.netloc or not is_plain:
        raise ValueError("must be an http or https address without query or user")
    return text.rstrip("/")


def web_address(text: str) -> str:
    """Reads an http or https URL, which may contain a key in path or query."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.netloc or "@" in parts.netloc:
        raise ValueError("must be an http or https address without user")
    return text


def contact(text: str) -> str:
    """Reads a mail address or a URL in the characters that a header field may hold."""
    if not re.fullmatch("[!-~]{0,200}", text):
        raise ValueError("must be an e-mail address or the address of a page")
    return text


def contact_uri(text: str) -> str:
    """Reads an address for people as RFC 9116 wants it: a page over https, or a mail or phone."""
    if not re.fullmatch("(?:(?:https://|mailto:|tel:)[!-~]{1,200})?", text):
        raise ValueError("must begin with https://, mailto: or tel:")
    return text


def evm_address(text: str) -> str:
    """Reads an account of an Ethereum network; the checksum in its letter case is not verified."""
    if not re.fullmatch("0x[0-9a-fA-F]{40}", text) or int(text, 16) == 0:
        raise ValueError("must be 0x and 40 hexadecimal digits, not all of them 0")
    return text


def dollars(text: str) -> str:
    """Reads a sum in dollars with up to six decimals, which is what USDC has."""
    if not re.fullmatch(r"(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?", text):
        raise ValueError("must be a decimal number of dollars, such as 25 or 0.5")
    return text


def proxies(text: str) -> tuple[str, ...]:
    """Reads a comma list of proxy addresses and networks; they are checked and stay text."""
    entries = tuple(entry.strip() for entry in text.split(",") if entry.strip())
    address.parse_trusted(entries)
    return entries


def workspaces(text: str) -> tuple[str, ...]:
    """Reads a comma list of workspace ids, or `*` for all."""
    entries = tuple(entry.strip() for entry in text.split(",") if entry.strip())
    for entry in entries:
        if entry != "*" and not re.fullmatch("wsp_[0-9a-f]{24}", entry):
            raise ValueError(f"lists {entry!r}, which is no workspace id, wsp_...")
    return entries


def read_secrets(text: str) -> tuple[str, ...]:
    """Reads secrets that are separated by commas or line breaks."""
    parts = tuple(part.strip() for part in re.split(r"[,\r\n]", text) if part.strip())
    if len(parts) > SECRETS_MAX:
        raise ValueError(f"lists {len(parts)} secrets, more than {SECRETS_MAX}")
    return parts
