"""The mark of a database that is being filled by a copy, or was when that was killed."""

from typing import Any

from svc_http.stores.errors import Unfit


async def mark(connection: Any) -> None:
    """Say that what is there is not whole."""
    await connection.execute("INSERT INTO meta VALUES ('unfinished', '') ON CONFLICT DO NOTHING")


async def unmark(connection: Any) -> None:
    """Say that it is whole, or that nothing is there."""
    await connection.execute("DELETE FROM meta WHERE name = 'unfinished'")


async def check(connection: Any) -> None:
    """Check that a database is whole.

    Raises:
        Unfit: it is not.
    """
    if await connection.fetchval("SELECT count(*) FROM meta WHERE name = 'unfinished'"):
        raise Unfit(
            "the PostgreSQL database is a copy that was not finished; repeat the svc db copy"
        )
