"""The eighteen scopes and what each grants (Spec: Scopes).

Rule 1: a scope grants what its text says and nothing besides; none implies another.
Rule 2: where an operation lists several scopes, any one of them suffices.
Rule 3: existing keys are never widened: a new scope reaches only keys that name it.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from svc_core import data

SCOPES: Mapping[str, str] = MappingProxyType(dict(data.table_rows("scopes.tsv")))
"""Every scope with the text of its grant, in the order of the spec's table."""


def unknown(names: Iterable[str]) -> list[str]:
    """The names that are no scope, in the order given."""
    return [name for name in names if name not in SCOPES]
