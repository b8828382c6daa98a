"""Shared declarations of the operations that read situation data and intelligence."""

from functools import partial

from svc_core.operation import filters
from svc_core.operation.declaration import T3_ENRICHED

OSINT = frozenset({"osint:read"})
FININT = frozenset({"intel:finint"})
CYBER = frozenset({"intel:cyber"})
EXPLORER = frozenset({"intel:explorer"})
SHARED = FININT | CYBER | EXPLORER
"""Scopes of rows that several features share: any one of them suffices."""

osint = partial(filters.read_operation, tag="OSINT", scopes=OSINT)
"""Declares an operation of v1 that reads situation data."""

workspace_reading = partial(
    filters.read_operation,
    tag="Intel",
    version="2.0",
    auth="bearer",
    binding="workspace",
    timeless=True,
)
"""Declares an intelligence operation that only keys of workspaces may call."""

reading = partial(
    filters.read_operation,
    tag="Intel",
    version="2.0",
    auth="bearer-or-x402",
    tier=T3_ENRICHED,
    timeless=True,
)
"""Declares an intelligence operation that may be paid for per call; the spec names no price."""
