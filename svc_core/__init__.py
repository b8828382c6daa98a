"""The rules and use cases of the service, without input or output of their own.

An embedder hands in storage, time and identifiers and runs a use case inside one unit of work;
with a store that never suspends, `drive.run` does it without an event loop. The names below are
what that takes; they are loaded when they are first used, so that importing a leaf of this
package costs no more than the leaf.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svc_core.base.unset import UNSET, Maybe
    from svc_core.catalog import COLLECTIONS, OPERATIONS
    from svc_core.contract.problem import Problem, ProblemType
    from svc_core.operation.caller import Actor
    from svc_core.operation.context import Context
    from svc_core.operation.declaration import Operation
    from svc_core.operation.ports import SYSTEM, Collection, Ids, Storage, Transaction
    from svc_core.operation.units import Units

__version__ = "0.1.0"

_NAMES = {
    "catalog": "COLLECTIONS OPERATIONS",
    "operation.caller": "Actor",
    "operation.context": "Context",
    "operation.declaration": "Operation",
    "operation.ports": "Collection Ids Storage SYSTEM Transaction",
    "operation.units": "Units",
    "contract.problem": "Problem ProblemType",
    "base.unset": "Maybe UNSET",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "COLLECTIONS",
    "OPERATIONS",
    "SYSTEM",
    "UNSET",
    "Actor",
    "Collection",
    "Context",
    "Ids",
    "Maybe",
    "Operation",
    "Problem",
    "ProblemType",
    "Storage",
    "Transaction",
    "Units",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that declares it."""
    if name not in _HOMES:
        raise AttributeError(f"module 'svc_core' has no attribute {name!r}")
    return getattr(import_module(f"svc_core.{_HOMES[name]}"), name)
