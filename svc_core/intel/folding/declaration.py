"""How the operations that read rows of sources are declared: situation data, intelligence."""

from functools import partial

from svc_core.operation import filters
from svc_core.operation.declaration import T3_ENRICHED

OSINT = frozenset({"osint:read"})
FININT = frozenset({"intel:finint"})
CYBER = frozenset({"intel:cyber"})
EXPLORER = frozenset({"intel:explorer"})
SHARED = FININT | CYBER | EXPLORER
"""Any one of them suffices."""

osint = partial(filters.reading, tag="OSINT", scopes=OSINT)
"""An operation of v1 that reads situation data."""

bound = partial(
    filters.reading, tag="Intel", version="2.0", auth="bearer", binding="workspace", timeless=True
)
"""An operation for keys of workspaces alone."""

reading = partial(
    filters.reading,
    tag="Intel",
    version="2.0",
    auth="bearer-or-x402",
    tier=T3_ENRICHED,
    timeless=True,
)
"""An operation that reads rows of sources; the spec lets it be paid for and shows no price."""
