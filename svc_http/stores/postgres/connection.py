"""Connections to one server, and what its refusals mean.

Rule 1: `synchronous_commit` is on: who is told of a commit finds it after a crash of the server.
Rule 2: the server ends what takes too long: a statement, a wait for a lock, a transaction in
        which nothing happens. What does not answer at all is given up by its user (`links`).
Rule 3: a statement has one plan, whatever its values and however few rows there are yet: it walks
        an index, and puts rows in order where no index has them so. Statistics that are old, or
        of another tenant, choose nothing.
Rule 4: a refusal that says something of the server is told as `StorageUnavailable`; one that says
        something of the statement is passed on, for it is a fault of this program.
"""

from collections.abc import Mapping
from typing import Any

import asyncpg

from svc_core.operation.ports import StorageUnavailable

STATEMENT_SECONDS = 5
IDLE_SECONDS = 10
CONNECT_SECONDS = 3.0
STATEMENTS_CACHED = 1_000

SERVES = {
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
"""What a session is told that serves units of work."""

MAINTENANCE_SETTINGS = {**SERVES, "statement_timeout": "0", "lock_timeout": "3s"}
"""What a session is told that tends tables: it takes its time, and holds nobody up for long."""

_CONNECTION_LOST = ("08", "57P0")
"""SQLSTATE codes, or what they begin with: the connection is gone, or the server goes."""
_RETRYABLE = ("40001", "40P01")
"""Serialization failures and deadlocks."""
_UNAVAILABLE = ("25006", "25P03", "3D000", "28", "53", "55P03", "57", "58", "XX001", "XX002")
"""Read-only, idle too long, no such database, not let in, resources, a lock that was not had,
the operator, the system, damage."""


async def connect(dsn: str, settings: Mapping[str, str] = SERVES) -> Any:
    """A connection.

    Raises:
        StorageUnavailable: there is none to be had.
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
    """Whether the connection is gone, and with it a transaction that was not committed."""
    if isinstance(error, asyncpg.PostgresError):
        return _state(error).startswith(_CONNECTION_LOST)
    # The driver also gets confused by what a server says between two statements as it ends, and
    # a value that it refuses is a ValueError as well.
    kinds = (OSError, asyncpg.InterfaceError, asyncpg.InternalClientError)
    return isinstance(error, kinds) and not isinstance(error, ValueError)


def is_retryable(error: BaseException) -> bool:
    """Whether the same work may do well in a moment."""
    return _state(error) in _RETRYABLE


def is_duplicate(error: BaseException) -> bool:
    """Whether a row with the same key was there."""
    return isinstance(error, asyncpg.UniqueViolationError)


def translate_error(error: BaseException) -> BaseException:
    """The exception as the caller is told: the state of the store instead of the server's words."""
    if is_lost(error) or _state(error).startswith((*_RETRYABLE, *_UNAVAILABLE)):
        return _unavailable(error)
    return error


_FULL = "53100"
"""The SQLSTATE of a disk without room."""


def _state(error: BaseException) -> str:
    return str(getattr(error, "sqlstate", None) or "")


def _unavailable(error: BaseException) -> StorageUnavailable:
    words = " ".join(str(error).split()) or type(error).__name__
    is_full = _state(error) == _FULL
    unavailable = StorageUnavailable(f"PostgreSQL: {words}", is_full=is_full)
    unavailable.__cause__ = error
    return unavailable
