"""Decides whose rows a transaction may read and write, alike in every backend.

Rule 1: rows of a "tenant" collection are its tenant's alone.
Rule 2: "global" and "system" rows are stored under `SYSTEM`, and only the system writes them.
Rule 3: "system" rows are invisible to tenants.
Rule 4: only a reading transaction may open the view of another tenant, and never to write.
"""

from typing import Any

from svc_core.operation.ports import SYSTEM, Change, Collection


def read_owner(collection: Collection[Any], tenant: str) -> str:
    """The tenant whose rows a transaction of `tenant` reads.

    Raises:
        AssertionError: the tenant may not see rows of a "system" collection.
    """
    if collection.scope == "tenant":
        return tenant
    if collection.scope == "system" and tenant != SYSTEM:
        raise AssertionError(f"{collection.name} is for the system alone")
    return SYSTEM


def write_owner(collection: Collection[Any], tenant: str) -> str:
    """The tenant under which a transaction of `tenant` writes rows.

    Raises:
        AssertionError: a tenant writes shared rows, or the system writes rows of tenants.
    """
    if (collection.scope == "tenant") == (tenant == SYSTEM):
        raise AssertionError(f"{collection.name} is not written by {tenant or 'the system'}")
    return tenant


def check_publisher(change: Change, tenant: str) -> None:
    """Check that a transaction of `tenant` may append `change`.

    Raises:
        AssertionError: a tenant publishes to the global feed.
    """
    if change.everybody and tenant != SYSTEM:
        raise AssertionError("only the system tells everybody")


def check_beside(*, is_reading: bool) -> None:
    """Check that a transaction may open another tenant's view of its snapshot.

    Raises:
        AssertionError: the transaction can write.
    """
    if not is_reading:
        raise AssertionError("only a reading transaction looks beside")


def check_purger(tenant: str) -> None:
    """Check that a transaction of `tenant` may purge the stored answers of all tenants.

    Raises:
        AssertionError: the tenant is not the system.
    """
    if tenant != SYSTEM:
        raise AssertionError("only the system forgets the answers of every tenant")
