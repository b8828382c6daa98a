"""Connections to one server, and what its refusals mean.

Rule 1: `synchronous_commit` is on: who is told of a commit finds it after a crash of the server.
Rule 2: the server ends what takes too long: a statement, a wait for a lock, a transaction in
        which nothing happens. What does not answer at all is given up by its user (`links`).
Rule 3: a refusal that says something of the server is told as `StorageUnavailable`; one that says
        something of the statement is passed on, for it is a fault of this program.
"""

import ssl
from typing import Any

import asyncpg

from svc_http.storage.errors import StorageUnavailable

STATEMENT_SECONDS = 5
LOCK_SECONDS = 5
IDLE_SECONDS = 10
CONNECT_SECONDS = 3.0
STATEMENTS_CACHED = 1_000

SERVES = {
    "application_name": "svc",
    "synchronous_commit": "on",
    "statement_timeout": f"{STATEMENT_SECONDS}s",
    "lock_timeout": f"{LOCK_SECONDS}s",
    "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
    # Compiling a plan costs more than every statement of ours takes.
    "jit": "off",
}
"""What a session is told that serves units of work."""

TENDS = {**SERVES, "statement_timeout": "0", "lock_timeout": "2s"}
"""What a session is told that changes tables: it takes its time, and holds nobody up for long."""

_LOST = ("08",)
_UNAVAILABLE = (
    *_LOST,
    "25006",
    "25P03",
    "3D000",
    "28",
    "53",
    "55P03",
    "57",
    "58",
    "XX001",
    "XX002",
)
"""SQLSTATE codes and classes: the connection, read-only, idle too long, no such database, not
let in, resources, lock not had, operator, system, corrupt."""
_AGAIN = ("40001", "40P01")
"""Serialization failures and deadlocks: the same work may do well in a moment."""


async def connect(dsn: str, settings: dict[str, str] = SERVES) -> Any:
    """A connection.

    Raises:
        StorageUnavailable: there is none to be had.
    """
    try:
        return await asyncpg.connect(
            dsn,
            timeout=CONNECT_SECONDS,
            statement_cache_size=STATEMENTS_CACHED,
            max_cached_statement_lifetime=0,
            server_settings=settings,
        )
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ssl.SSLError) as refused:
        raise StorageUnavailable(f"PostgreSQL: {_words(refused)}") from refused


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, and with it a transaction that was not committed."""
    if isinstance(error, asyncpg.PostgresError):
        # What the server says as it ends a session: class 57P0, shut down or crashed.
        return error.sqlstate is None or error.sqlstate.startswith((*_LOST, "57P0"))
    return isinstance(error, OSError | asyncpg.InterfaceError) and not _is_misuse(error)


def is_passing(error: BaseException) -> bool:
    """Whether the same work may do well in a moment, on the same connection."""
    return isinstance(error, asyncpg.PostgresError) and error.sqlstate in _AGAIN


def is_hindered(error: BaseException) -> bool:
    """Whether others held a lock for too long."""
    return isinstance(error, asyncpg.LockNotAvailableError | asyncpg.DeadlockDetectedError)


def is_taken(error: BaseException) -> bool:
    """Whether a row with the same key was there."""
    return isinstance(error, asyncpg.UniqueViolationError)


def is_of_server(error: BaseException) -> bool:
    """Whether the server, the driver or the line between them raised this."""
    return isinstance(error, asyncpg.PostgresError | asyncpg.InterfaceError | OSError)


def told(error: BaseException) -> BaseException:
    """The exception as the caller is told: the state of the store instead of the server's words."""
    state = error.sqlstate or "" if isinstance(error, asyncpg.PostgresError) else ""
    if not (is_lost(error) or state.startswith((*_UNAVAILABLE, *_AGAIN))):
        return error
    unavailable = StorageUnavailable(f"PostgreSQL: {_words(error)}")
    unavailable.__cause__ = error
    return unavailable


def _is_misuse(error: BaseException) -> bool:
    """Whether the driver refused a value or a setting; asyncpg derives both from ValueError."""
    return isinstance(error, ValueError)


def _words(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
