"""Access: who calls, what they may do and how fast.

Pure: a host gathers the facts of a request (the key's record, the client address, the failures
of that address), `authorize` decides. Nothing here waits, reads a clock or draws randomness.
"""

from svc_core.access.address import (
    DEFAULT_TRUSTED,
    NOT_FORWARDED,
    ClientAddress,
    Forwarded,
    Trusted,
    normalise,
    parse_trusted,
    resolve,
)
from svc_core.access.authorize import (
    ANONYMOUS,
    Facts,
    Grant,
    OperationAccess,
    admit,
    authorize,
    locked,
    settle,
)
from svc_core.access.counters import Gauge, MemoryCounters
from svc_core.access.creation import KeyRequest, Role, create, may_create, may_manage
from svc_core.access.keys import (
    MALFORMED,
    ApiKey,
    Bearer,
    KeyState,
    KeyStatus,
    Malformed,
    NewKey,
    digest,
    new_key,
    parse_bearer,
    regenerate,
    revoke,
    state,
)
from svc_core.access.limits import HEADER_NAMES, Header, Meter, Pool, Rate, Verdict, headers, judge
from svc_core.access.lockout import Failures, LockoutBook
from svc_core.access.plans import DEFAULT_PLANS, KEY_GUIDE_PLANS, PRESETS, Plan, PlanTable
from svc_core.access.principal import Principal
from svc_core.access.scopes import SCOPES

__all__ = [
    "ANONYMOUS",
    "DEFAULT_PLANS",
    "DEFAULT_TRUSTED",
    "HEADER_NAMES",
    "KEY_GUIDE_PLANS",
    "MALFORMED",
    "NOT_FORWARDED",
    "PRESETS",
    "SCOPES",
    "ApiKey",
    "Bearer",
    "ClientAddress",
    "Facts",
    "Failures",
    "Forwarded",
    "Gauge",
    "Grant",
    "Header",
    "KeyRequest",
    "KeyState",
    "KeyStatus",
    "LockoutBook",
    "Malformed",
    "MemoryCounters",
    "Meter",
    "NewKey",
    "OperationAccess",
    "Plan",
    "PlanTable",
    "Pool",
    "Principal",
    "Rate",
    "Role",
    "Trusted",
    "Verdict",
    "admit",
    "authorize",
    "create",
    "digest",
    "headers",
    "judge",
    "locked",
    "may_create",
    "may_manage",
    "new_key",
    "normalise",
    "parse_bearer",
    "parse_trusted",
    "regenerate",
    "resolve",
    "revoke",
    "settle",
    "state",
]
