"""Where in a person's input a refusal points to."""

import re
from collections.abc import Sequence

from svc_http.cli.failures import Refusal

_POINTER = re.compile(r"(?:(?<=^)|(?<=; ))/(?:entries/)?([0-9]+)(?:/([^:; ]+))?: ")
"""A JSON Pointer (RFC 6901) to an entry of a batch, or to a member of one."""


def located(refused: Refusal, places: Sequence[str], before: str) -> Refusal:
    """The refusal with the places of the input for numbers of entries, and what went before."""

    def place(found: re.Match[str]) -> str:
        number = int(found[1])
        named = places[number] if number < len(places) else f"entry {number + 1}"
        return f"{named}, {found[2]}: " if found[2] else f"{named}: "

    detail = _POINTER.sub(place, str(refused.problem["detail"])) + before
    return Refusal({**refused.problem, "detail": detail}, as_json=refused.as_json)
