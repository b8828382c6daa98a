"""Instants as people type them."""

import re
from datetime import timedelta

from svc_core import instants
from svc_http import system
from svc_http.cli.failures import Usage

_FROM_NOW = re.compile("([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def instant(text: str | None, option: str) -> str | None:
    """The instant in RFC 3339; `24h` and the like are counted from now.

    Raises:
        Usage: the text is neither.
    """
    if text is None:
        return None
    found = _FROM_NOW.fullmatch(text)
    if found is not None:
        ahead = timedelta(**{_UNITS[found[2]]: int(found[1])})
        return instants.render((system.now() + ahead).replace(microsecond=0))
    return _written(text, option)


def written(text: str | None, option: str) -> str | None:
    """The instant in RFC 3339, checked.

    Raises:
        Usage: it is none.
    """
    return None if text is None else _written(text, option)


def _written(text: str, option: str) -> str:
    try:
        return instants.render(instants.parse(text))
    except instants.InstantError as fault:
        said = str(fault).rstrip(".")
        raise Usage(f"{option}: {said}") from fault
