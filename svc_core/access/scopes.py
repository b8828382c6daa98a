"""The eighteen scopes and what each grants (Spec: Scopes).

Rule 1: a scope grants what its text says and nothing besides; none implies another.
Rule 2: where an operation lists several scopes, any one of them suffices.
Rule 3: existing keys are never widened: a new scope reaches only keys that name it.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

SCOPES: Mapping[str, str] = MappingProxyType(
    {
        "reports:read": "report lists, detail, text, signals, graph",
        "reports:audio": "report audio",
        "profiles:read": "list profile subscription records",
        "profiles:write": "create, change, delete owned profiles",
        "projects:read": "list and inspect owned Projects",
        "projects:write": "create, change, archive, restore, pin Projects",
        "automations:read": "list Automations and run history",
        "automations:write": "create, change, archive, manually run Automations",
        "news:read": "news items, recaps, feed discovery",
        "webhooks:manage": "webhook configuration and delivery webhooks",
        "osint:read": "v1 OSINT endpoints and the v2 change feed",
        "intel:finint": "FININT, markets, shared incidents and signals",
        "intel:cyber": "cyber graph, CVEs, actors, shared incidents and signals",
        "intel:explorer": "entities, entity graphs, shared incidents and signals",
        "intel:knowledge": "direct knowledge retrieval",
        "agent:svc": "native and chat-completions agent streams",
        "ledger:read": "ledger folds, exports, seal verification, STIX export",
        "ledger:write": "open subjects, append records",
    }
)
"""Every scope with the text of its grant, in the order of the spec's table."""


def unknown(names: Iterable[str]) -> list[str]:
    """The names that are no scope, in the order given."""
    return [name for name in names if name not in SCOPES]
