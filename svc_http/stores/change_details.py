"""Encodes the optional members of a change as one JSON text, alike in every durable backend.

The text is pure ASCII, because a text of PostgreSQL cannot hold U+0000. Most changes have none of
these members; for them nothing is stored.
"""

import json
from typing import Any

from svc_core.base.compact import ascii_text
from svc_core.operation.ports import Change


def details_text(change: Change) -> str | None:
    """The optional members of a change as text; None if it has none of them."""
    state = None if change.last_state is None else change.last_state.decode()
    details = [change.changed_fields, state, change.merged_into_id, change.owner]
    while details and details[-1] is None:
        details.pop()
    return ascii_text(details) if details else None


def details_of(text: str | None) -> dict[str, Any]:
    """The members of a `Change` that the stored text holds."""
    if text is None:
        return {}
    members: list[Any] = json.loads(text)
    fields, state, merged_into_id, owner = members + [None] * (4 - len(members))
    return {
        "changed_fields": None if fields is None else tuple(fields),
        "last_state": None if state is None else state.encode(),
        "merged_into_id": merged_into_id,
        "owner": owner,
    }
