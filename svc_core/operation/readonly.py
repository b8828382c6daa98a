"""What PUT and PATCH take besides what they change: the members that only answers have.

A client reads a row, changes a member and sends all of it back.

Rule 1: what says which row it is, and what is changed elsewhere, has to be as it stands.
Rule 2: all else (times, counters, links, what comes last or next) is passed over, whatever its
        value: it moves while the client thinks.
Rule 3: what neither the body nor the answer has is unknown here as everywhere.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import attrs

from svc_core import wire
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs
from svc_core.operation.ports import Document
from svc_core.wire import Fault

STANDING: Final = frozenset(
    {"id", "owner_id", "profile_id", "status", "pinned", "visibility", "created_at"}
)
"""The members of answers that have to be as they stand."""


@lru_cache(maxsize=1024)  # more than a catalogue has operations
def members(operation: Operation[Any, Any]) -> Mapping[str, "attrs.Attribute[Any]"]:
    """The members of rows that the body of a replacement or a patch lacks, by their names."""
    if operation.method not in {"PUT", "PATCH"} or operation.target is None:
        return {}
    body = next(item.annotation for item in inputs(operation.request) if item.place == "body")
    own = {member.name for member in attrs.fields(body)}
    shown = attrs.fields(operation.target.shows or operation.results[0][1])
    return {wire.camel(each.name): each for each in shown if each.name not in own}


def words(name: str) -> str:
    """What documents say of such a member."""
    return f"May be sent{' as it stands' if name in STANDING else ''}; it is not changed here."


def parted(
    operation: Operation[Any, Any], stored: Document[Any] | None, body: wire.Json
) -> tuple[wire.Json, list[Fault]]:
    """The body without those members, and where one of them is not as it stands in the row."""
    known = members(operation)
    if operation.target is None or stored is None or not isinstance(body, dict):
        return body, []
    row = operation.target.collection.decode(stored.raw)
    standing = [name for name in body if name in known and known[name].name in STANDING]
    faults = [
        Fault(f"/{name}", f"stays as it is: {wire.dumps(getattr(row, known[name].name)).decode()}")
        for name in standing
        if not _is(known[name], row, body[name])
    ]
    return {name: value for name, value in body.items() if name not in known}, faults


def _is(member: "attrs.Attribute[Any]", row: Any, value: wire.Json) -> bool:
    """Whether a value means what the row has; a time may be written in any of its forms."""
    try:
        sent: Any = wire.structure(member.type, value)  # type: ignore[arg-type]
    except wire.WireError:
        return False
    return bool(sent == getattr(row, member.name))
