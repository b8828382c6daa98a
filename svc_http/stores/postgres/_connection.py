"""Opens connections to a PostgreSQL server and classifies its errors.

Rule 1: `synchronous_commit` is on: an acknowledged commit survives a crash of the server.
Rule 2: the server ends what takes too long: a statement, a wait for a lock, an idle transaction. A
        server that does not answer at all is given up by the client (`_links`).
Rule 3: a statement has one plan, whatever its values and however few rows exist yet: it walks an
        index, and sorts only where no index has the order. Statistics, which may be old or those of
        another tenant, do not influence the plan.
Rule 4: an error that describes the state of the server becomes `StorageUnavailable`; one that
        points to a wrong statement is passed on, because it is a defect of this program.
"""

from collections.abc import Mapping
from typing import Any

import asyncpg

from svc_core.operation.ports import StorageUnavailable

STATEMENT_SECONDS = 5
IDLE_SECONDS = 10
CONNECT_SECONDS = 3.0
STATEMENTS_CACHED = 1_000

UNIT_SETTINGS = {
    "application_name": "svc",
    "synchronous_commit": "on",
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_sort": "off",
    "enable_incremental_sort": "off",
    "jit": "off",  # compiling a plan costs more than any statement of ours takes
}
"""Server settings of the sessions that run units of work."""

MAINTENANCE_SETTINGS = {**UNIT_SETTINGS, "statement_timeout": "0", "lock_timeout": "3s"}
"""Server settings of maintenance sessions: no limit of time, but short waits for locks."""

_CONNECTION_LOST = ("08", "57P0")
"""SQLSTATE codes or prefixes: the connection is lost, or the server shuts down."""
_RETRYABLE = ("40001", "40P01")
"""SQLSTATE codes of serialization failures and deadlocks."""
_UNAVAILABLE = ("25006", "25P03", "3D000", "28", "53", "55P03", "57", "58", "XX001", "XX002")
"""SQLSTATE codes or prefixes of faults of the server: read-only, idle too long, no such database,
login refused, resources, lock timeout, operator intervention, system error, damaged data."""


async def connect(dsn: str, settings: Mapping[str, str] = UNIT_SETTINGS) -> Any:
    """Open a connection with these server settings.

    Raises:
        StorageUnavailable: the server cannot be reached or refuses the connection.
        ValueError: the address cannot be read.
    """
    try:
        return await asyncpg.connect(
            dsn,
            timeout=CONNECT_SECONDS,
            statement_cache_size=STATEMENTS_CACHED,
            max_cached_statement_lifetime=0,
            server_settings=settings,
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
        if isinstance(error, ValueError):
            raise
        raise _unavailable(error) from error


def is_lost(error: BaseException) -> bool:
    """Whether the connection is lost, and with it any transaction that was not committed."""
    if isinstance(error, asyncpg.PostgresError):
        return _state(error).startswith(_CONNECTION_LOST)
    # The driver also raises these when a server that shuts down sends a message between two
    # statements. A value that the driver refuses is a ValueError as well, and no lost connection.
    kinds = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)
    return isinstance(error, kinds) and not isinstance(error, ValueError)


def is_retryable(error: BaseException) -> bool:
    """Whether the same work may succeed in a moment: a deadlock or a serialization failure."""
    return _state(error) in _RETRYABLE


def is_duplicate(error: BaseException) -> bool:
    """Whether a row with the same key exists."""
    return isinstance(error, asyncpg.UniqueViolationError)


def translate_postgres_error(error: BaseException) -> BaseException:
    """Translate a fault of the server into `StorageUnavailable`; return other errors unchanged."""
    if is_lost(error) or _state(error).startswith((*_RETRYABLE, *_UNAVAILABLE)):
        return _unavailable(error)
    return error


_FULL = "53100"
"""The SQLSTATE of a full disk."""
_DAMAGED = "XX00"
"""The SQLSTATE prefix of damaged tables and indexes."""


def _state(error: BaseException) -> str:
    return str(getattr(error, "sqlstate", None) or "")


def _unavailable(error: BaseException) -> StorageUnavailable:
    words = " ".join(str(error).split()) or type(error).__name__
    state = _state(error)
    unavailable = StorageUnavailable(
        f"PostgreSQL: {words}", is_full=state == _FULL, is_damaged=state.startswith(_DAMAGED)
    )
    unavailable.__cause__ = error
    return unavailable
