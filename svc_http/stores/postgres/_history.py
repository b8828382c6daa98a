"""Notices that a PostgreSQL database is not the one that was known: restored, or failed over.

Rule 1: the place of a database is the identifier of its server's cluster, the timeline of its log,
        which a promotion and a recovery to a point in time begin anew, and its own number.
Rule 2: a connection serves no unit before the history was judged on it. A server that is still a
        standby cannot say its timeline, so it is judged again until it can.
Rule 3: a role that may not ask for the place (`GRANT EXECUTE ON FUNCTION pg_control_system`) leaves
        the mark alone: what this process has committed last.
"""

import secrets
from typing import Any

import asyncpg

from svc_core.contract.cursor import EPOCH_BYTES
from svc_core.contract.feed_history import (
    BY_HAND,
    EPOCH,
    ORIGIN,
    FeedMark,
    history_break,
    renewed_facts,
)
from svc_http.stores.history_file import HistoryFile
from svc_http.stores.statement_files import named_statements

_SQL = named_statements(__package__, "history.sql")


class DatabaseHistory:
    """What one process knows of the history of its database."""

    def __init__(self, file: HistoryFile) -> None:
        self._file = file
        self.renewals: list[str] = []
        self._scope = ""

    async def settle(self, connection: Any) -> bool:
        """Begin a new epoch if this is not the database that was known; whether it could be judged.

        Raises:
            Exception: the connection is lost, or the server unavailable.
        """
        facts = await _facts_of(connection)
        origin = await origin_of(connection)
        if origin is None:
            return False
        mark = self._file.mark
        place = (mark.scope, mark.position) if mark else ("", 0)
        proof = await connection.fetchval(_SQL["proof"], *place)
        reason = history_break(facts, origin, mark, proof)
        if reason:
            epoch = secrets.token_bytes(EPOCH_BYTES)
            await _renew(connection, facts, renewed_facts(facts, origin, epoch, reason))
            self.renewals.append(reason)
            # The former mark would find fault with the new epoch again, at every connection.
            self._file.note(await self._newest(connection, mark.scope) if mark else None)
        elif origin and ORIGIN not in facts:
            await connection.execute(_SQL["adopt"], origin.encode())
        return True

    def note_commit(self, scope: str) -> None:
        """Note that this process has committed a change to the feed of this scope."""
        self._scope = scope or self._scope

    async def note(self, connection: Any) -> None:
        """Remember the newest change of the feed that this process wrote to last."""
        scope, self._scope = self._scope, ""
        if scope and (mark := await self._newest(connection, scope)) is not None:
            self._file.note(mark)

    async def _newest(self, connection: Any, scope: str) -> FeedMark | None:
        row = await connection.fetchrow(_SQL["newest"], scope)
        return row and FeedMark(row["epoch"], scope, row["position"], row["proof"])


async def origin_of(connection: Any) -> str | None:
    """Where the database lives; None on a standby, empty where the role may not ask.

    Raises:
        Exception: the connection is lost, or the server unavailable.
    """
    try:
        return str(await connection.fetchval(_SQL["origin"]))
    except asyncpg.ObjectNotInPrerequisiteStateError:
        return None
    except (asyncpg.InsufficientPrivilegeError, asyncpg.FeatureNotSupportedError):
        return ""


async def renew_database(connection: Any, epoch: bytes) -> None:
    """Begin this epoch of the change feed, which invalidates all watermarks."""
    facts, origin = await _facts_of(connection), await origin_of(connection) or ""
    await _renew(connection, facts, renewed_facts(facts, origin, epoch, BY_HAND))


async def _facts_of(connection: Any) -> dict[str, bytes]:
    return {row["name"]: row["value"] for row in await connection.fetch(_SQL["facts"])}


async def _renew(connection: Any, facts: dict[str, bytes], fresh: dict[str, bytes]) -> None:
    """Replace these facts by fresh ones; of several processes at once one does."""
    names, values = zip(*fresh.items(), strict=True)
    await connection.execute(_SQL["renew"], facts[EPOCH], names, values)
