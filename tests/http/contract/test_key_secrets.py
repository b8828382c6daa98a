"""A key's secret is shown once and kept nowhere: of it the store has a hash and eight digits."""

import asyncpg
import pytest

from svc_core.access import operations as accounts
from svc_core.access.creation import KeyWish
from svc_core.access.keys import digest
from svc_core.access.plans import DEFAULT_PLANS

FEEDS = "/api/v1/news/feeds"


@pytest.fixture
def place(request, make_world, tmp_path):
    """A world over the store, and what reads all that the store keeps."""
    world = make_world(request.param, is_sown=False)
    readers = {"sqlite": lambda: _files(tmp_path), "postgres": lambda: world.run(_rows(world))}
    return world, readers[request.param]


def _files(folder):
    """Every file of the store, its write-ahead log among them."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert any(path.name.endswith("-wal") and path.stat().st_size for path in files)
    return b"".join(path.read_bytes() for path in files)


async def _rows(world):
    """Every value of every row of every table."""
    connection = await asyncpg.connect(world.storage._place._dsn)
    try:
        tables = await connection.fetch(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
            " WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
        )
        rows = [
            row for (table,) in tables for row in await connection.fetch(f"SELECT * FROM {table}")
        ]
    finally:
        await connection.close()
    values = [value for row in rows for value in row.values()]
    return b"\n".join(v if isinstance(v, bytes) else str(v).encode() for v in values)


@pytest.mark.parametrize("place", ["sqlite", "postgres"], indirect=True)
def test_a_store_has_the_hash_of_a_key_and_no_part_of_its_secret_beyond_the_prefix(place):
    world, dump = place
    new_key = world.system(lambda ctx: accounts.create_key(ctx, _wish(world), plans=DEFAULT_PLANS))
    assert world.get(FEEDS, new_key.secret).status_code == 200
    next_key = world.system(lambda ctx: accounts.regenerate_key(ctx, new_key.key.id))
    assert world.get(FEEDS, next_key.secret).status_code == 200
    assert world.get(FEEDS, new_key.secret).status_code == 401
    store_bytes = dump()
    assert digest(next_key.secret).encode() in store_bytes
    for secret in (new_key.secret, next_key.secret):
        number = secret.removeprefix("svc_")
        for form in (number.encode(), number[8:].encode(), number[-16:].encode(),
                     bytes.fromhex(number), bytes.fromhex(number)[8:]):  # fmt: skip
            assert form not in store_bytes
            assert form not in world.log_text().encode()
    world.system(lambda ctx: accounts.revoke_key(ctx, new_key.key.id))
    assert world.get(FEEDS, next_key.secret).json()["code"] == "API_KEY_REVOKED"
    row = world.system(lambda ctx: accounts.show_key(ctx, new_key.key.id))
    assert (row.status, row.name, row.digest_hex) == ("inactive", "mine", digest(next_key.secret))
    assert next_key.secret.removeprefix("svc_")[8:].encode() not in dump()


def _wish(world):
    return KeyWish("mine", ("news:read",), workspace_id=world.tenants["a"])
