"""Whose rows a transaction reads and writes: one law for every backend.

Rule 1: rows of a "tenant" collection are its tenant's alone.
Rule 2: "global" and "system" rows are stored under `SYSTEM`, and only the system writes them.
Rule 3: "system" rows are invisible to tenants.
Rule 4: beside a transaction that reads there is another tenant's view, which writes nothing.
"""

from typing import Any

from svc_core.operation.ports import SYSTEM, Change, Collection


def read_owner(collection: Collection[Any], tenant: str) -> str:
    """The tenant whose rows a transaction of `tenant` reads.

    Raises:
        AssertionError: a tenant asks for rows that only the system may see.
    """
    if collection.scope == "tenant":
        return tenant
    if collection.scope == "system" and tenant != SYSTEM:
        raise AssertionError(f"{collection.name} is for the system alone")
    return SYSTEM


def write_owner(collection: Collection[Any], tenant: str) -> str:
    """The tenant under which a transaction of `tenant` writes rows.

    Raises:
        AssertionError: a tenant writes rows of everybody, or the system those of a tenant.
    """
    if (collection.scope == "tenant") == (tenant == SYSTEM):
        raise AssertionError(f"{collection.name} is not written by {tenant or 'the system'}")
    return tenant


def check_publisher(change: Change, tenant: str) -> None:
    """Check that a transaction of `tenant` may append `change`.

    Raises:
        AssertionError: a tenant tells everybody.
    """
    if change.everybody and tenant != SYSTEM:
        raise AssertionError("only the system tells everybody")


def check_beside(*, is_reading: bool) -> None:
    """Check that a transaction may show another tenant's view of its snapshot.

    Raises:
        AssertionError: it may write.
    """
    if not is_reading:
        raise AssertionError("only a reading transaction looks beside")


def check_purger(tenant: str) -> None:
    """Check that a transaction of `tenant` may touch the answers of every tenant.

    Raises:
        AssertionError: it is not the system's.
    """
    if tenant != SYSTEM:
        raise AssertionError("only the system forgets the answers of every tenant")
