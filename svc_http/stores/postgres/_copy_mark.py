"""The mark of an incomplete copy: a row in `meta` while a copy fills the database."""

from typing import Any

from svc_http.stores.errors import CopyRefused


async def mark_incomplete(connection: Any) -> None:
    """Mark the database as incomplete."""
    await connection.execute("INSERT INTO meta VALUES ('unfinished', '') ON CONFLICT DO NOTHING")


async def unmark(connection: Any) -> None:
    """Remove the mark: the database is complete, or empty."""
    await connection.execute("DELETE FROM meta WHERE name = 'unfinished'")


async def check(connection: Any) -> None:
    """Check that a database is no incomplete copy.

    Raises:
        CopyRefused: it carries the mark.
    """
    if await connection.fetchval("SELECT count(*) FROM meta WHERE name = 'unfinished'"):
        raise CopyRefused(
            "the PostgreSQL database is a copy that was not finished; repeat the svc db copy"
        )
