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
    fields = attrs.fields(operation.target.list_model or operation.results[0][1])
    return {wire.camel(item.name): item for item in fields if item.name not in own}


def readonly_description(name: str) -> str:
    """What documents say of such a member."""
    return f"May be sent{' as it stands' if name in STANDING else ''}; it is not changed here."


def split_body(
    operation: Operation[Any, Any], document: Document[Any] | None, body: wire.Json
) -> tuple[wire.Json, list[Fault]]:
    """The body without those members, and where one of them is not as it stands in the row."""
    fields = members(operation)
    if operation.target is None or document is None or not isinstance(body, dict):
        return body, []
    row = operation.target.collection.decode(document.raw)
    fixed_names = [name for name in body if name in fields and fields[name].name in STANDING]
    faults = [
        Fault(f"/{name}", f"stays as it is: {wire.dumps(getattr(row, fields[name].name)).decode()}")
        for name in fixed_names
        if not _has_value(fields[name], row, body[name])
    ]
    return {name: value for name, value in body.items() if name not in fields}, faults


def _has_value(member: "attrs.Attribute[Any]", row: Any, value: wire.Json) -> bool:
    """Whether a value means what the row has; a time may be written in any of its forms."""
    try:
        body_value: Any = wire.structure(member.type, value)  # type: ignore[arg-type]
    except wire.WireError:
        return False
    return bool(body_value == getattr(row, member.name))
