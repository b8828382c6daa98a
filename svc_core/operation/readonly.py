"""Read-only members in the bodies of PUT and PATCH: which are checked and which are ignored.

A client reads a row, changes one member and sends the whole row back, with members that only
answers have.

Rule 1: a member that identifies the row, or that another operation changes, must be unchanged.
Rule 2: every other read-only member (times, counters, links) is ignored, whatever its value,
        because it may change between the client's read and its write.
Rule 3: a member that neither the body nor the answer declares is refused, as everywhere.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import attrs

from svc_core import wire
from svc_core.operation.declaration import Operation
from svc_core.operation.inputs import inputs_of
from svc_core.operation.ports import StoredRow
from svc_core.wire import InputFault

FIXED_MEMBERS: Final = frozenset(
    {"id", "owner_id", "profile_id", "status", "pinned", "visibility", "created_at"}
)
"""The read-only members that a body must repeat unchanged (rule 1)."""


@lru_cache(maxsize=1024)  # more than a catalogue has operations
def readonly_members(operation: Operation[Any, Any]) -> Mapping[str, "attrs.Attribute[Any]"]:
    """The read-only members of an operation's rows: those that its body does not declare."""
    if operation.method not in {"PUT", "PATCH"} or operation.target is None:
        return {}
    body = next(item.annotation for item in inputs_of(operation.request) if item.place == "body")
    own = {member.name for member in attrs.fields(body)}
    fields = attrs.fields(operation.target.list_model or operation.results[0][1])
    return {wire.camel(item.name): item for item in fields if item.name not in own}


def readonly_description(name: str) -> str:
    """The description of a read-only member in the OpenAPI document."""
    return f"May be sent{' as it stands' if name in FIXED_MEMBERS else ''}; it is not changed here."


def split_body(
    operation: Operation[Any, Any], document: StoredRow[Any] | None, body: wire.Json
) -> tuple[wire.Json, list[InputFault]]:
    """The body without its read-only members, and a fault for each that was changed."""
    fields = readonly_members(operation)
    if operation.target is None or document is None or not isinstance(body, dict):
        return body, []
    row = operation.target.collection.decode(document.raw)
    fixed_names = [name for name in body if name in fields and fields[name].name in FIXED_MEMBERS]
    faults = [
        InputFault(
            f"/{name}", f"stays as it is: {wire.to_bytes(getattr(row, fields[name].name)).decode()}"
        )
        for name in fixed_names
        if not _has_value(fields[name], row, body[name])
    ]
    return {name: value for name, value in body.items() if name not in fields}, faults


def _has_value(member: "attrs.Attribute[Any]", row: Any, value: wire.Json) -> bool:
    """Whether a JSON value equals the member of the row; a time may be written in any form."""
    try:
        body_value: Any = wire.structure(member.type, value)  # type: ignore[arg-type]
    except wire.WireError:
        return False
    return bool(body_value == getattr(row, member.name))
