"""Instants and spans of time as people type them."""

import re
from datetime import timedelta

from svc_core import instants
from svc_http import system
from svc_http.cli.failures import Usage

_SPAN = re.compile("([0-9]{1,6})([smhdw])")
_SECONDS = re.compile("[0-9]{1,9}")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def instant(text: str | None, option: str) -> str | None:
    """The instant in RFC 3339; `24h` and the like are counted from now.

    Raises:
        Usage: the text is neither.
    """
    if text is None:
        return None
    ahead = _span(text)
    if ahead is None:
        return _written(text, option)
    try:
        return instants.render((system.now() + ahead).replace(microsecond=0))
    except OverflowError as beyond:
        raise Usage(f"{option}: {text} from now is beyond the year 9999") from beyond


def seconds(text: str | None, option: str) -> int | None:
    """A span of time in seconds: `15m`, `24h` and the like, or a plain number of seconds.

    Raises:
        Usage: the text is neither.
    """
    if text is None:
        return None
    span = timedelta(seconds=int(text)) if _SECONDS.fullmatch(text) else _span(text)
    if span is None:
        raise Usage(f"{option}: must be a span of time such as 90s, 15m, 24h or 7d")
    return span // timedelta(seconds=1)


def _span(text: str) -> timedelta | None:
    found = _SPAN.fullmatch(text)
    return None if found is None else timedelta(**{_UNITS[found[2]]: int(found[1])})


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
