"""Instants and spans of time as people type them."""

import re
from datetime import timedelta

from svc_core.base import instants
from svc_http import system

_SECONDS = re.compile("[0-9]{1,9}")


def instant_or_offset(text: str) -> str:
    """The instant in RFC 3339; `24h` and the like are counted from now.

    Raises:
        ValueError: the text is neither, or it is beyond the year 9999.
    """
    ahead = instants.span(text)
    if ahead is None:
        return rfc3339_instant(text)
    try:
        return instants.render((system.now() + ahead).replace(microsecond=0))
    except OverflowError as beyond:
        raise ValueError(f"{text} from now is beyond the year 9999") from beyond


def rfc3339_instant(text: str) -> str:
    """The instant in RFC 3339.

    Raises:
        ValueError: the text is none.
    """
    return instants.render(instants.parse(text))


def seconds(text: str) -> int:
    """A span of time in seconds: `15m`, `24h` and the like, or a plain number of seconds.

    Raises:
        ValueError: the text is neither.
    """
    span = timedelta(seconds=int(text)) if _SECONDS.fullmatch(text) else instants.span(text)
    if span is None:
        raise ValueError("must be a span of time such as 90s, 15m, 24h or 7d")
    return span // timedelta(seconds=1)
