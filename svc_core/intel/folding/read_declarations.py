"""Shared declarations of the operations that read situation data and intelligence."""

from functools import partial
from typing import Any

from svc_core.operation.declaration import T3_ENRICHED, Operation, declare

OSINT = frozenset({"osint:read"})
FININT = frozenset({"intel:finint"})
CYBER = frozenset({"intel:cyber"})
EXPLORER = frozenset({"intel:explorer"})
SHARED = FININT | CYBER | EXPLORER
"""Scopes of rows that several features share: any one of them suffices."""


def _read(command: str, path: str, run: Any, **members: Any) -> Operation[Any, Any]:
    return declare(command, f"GET {path}", members.pop("summary"), run, **members)


osint = partial(_read, tag="OSINT", scopes=OSINT)
"""Declares an operation of v1 that reads situation data."""

workspace_reading = partial(
    _read, tag="Intel", version="2.0", auth="bearer", binding="workspace", timeless=True
)
"""Declares an intelligence operation that only keys of workspaces may call."""

reading = partial(
    _read, tag="Intel", version="2.0", auth="bearer-or-x402", tier=T3_ENRICHED, timeless=True
)
"""Declares an intelligence operation that may be paid for per call; the spec names no price."""
