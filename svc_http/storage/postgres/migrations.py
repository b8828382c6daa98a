# ruff: noqa: S608 - identifiers come from declarations and are checked, values are parameters
"""How a database comes to hold what the declarations ask for, while it is in use.

Rule 1: every step has a number in `schema_migrations`, written when the step is whole. One that
        was cut off is taken again from its beginning, where it finds what it did before.
Rule 2: one process takes steps at a time. The others look again and again instead of waiting
        for the lock: an index that is built beside the work waits for every statement that runs,
        so also for one that waits for the lock.
Rule 3: a process that starts only ever adds, so that older ones go on working beside it. What is
        declared no longer goes when `migrate` is asked for it.
Rule 4: a table is locked for a moment, never while rows are filled or an index is built.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from svc_core.ports import Collection
from svc_http.storage.postgres import features, filling
from svc_http.storage.postgres.connection import is_hindered
from svc_http.storage.postgres.documents import Stored
from svc_http.storage.postgres.features import Index, Shape
from svc_http.storage.postgres.table import TEXT, Table, table
from svc_http.storage.sqlite.migrations import Applied, Status

__all__ = ["Applied", "Status", "apply", "renew_epoch", "status_of", "stored"]

_LOCK = 0x737663  # "svc"
LOOK_SECONDS = 0.1
HINDERED_MAX = 30
"""How often a table is asked for that others hold; each time takes at most two seconds."""
PASSES_MAX = 5
"""How often rows are looked for that others wrote meanwhile; what is left is found later."""

_NUMBERS = (
    "CREATE TABLE IF NOT EXISTS schema_migrations"
    " (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, step text NOT NULL)"
)
_FIXED: dict[str, tuple[str, ...]] = {
    "meta and declared shapes": (
        f"CREATE TABLE meta (name {TEXT} PRIMARY KEY, value bytea NOT NULL)",
        # `number` is that of the shape, and `added` what it has more than the one before;
        # `target` and `next` are those of a step that has begun.
        f"CREATE TABLE shapes (collection {TEXT} PRIMARY KEY, shape text NOT NULL,"
        " number int NOT NULL, added text NOT NULL, target text, next int)",
    ),
    "changes": (
        "CREATE TABLE changes (seq bigint GENERATED ALWAYS AS IDENTITY,"
        f" scope {TEXT} NOT NULL, position bigint NOT NULL, resource_type {TEXT} NOT NULL,"
        " entry text NOT NULL, PRIMARY KEY (scope, position))",
        "CREATE INDEX i_changes_type ON changes (scope, resource_type, position)",
    ),
    "answers": (
        f"CREATE TABLE answers (tenant {TEXT} NOT NULL, operation {TEXT} NOT NULL,"
        f" key {TEXT} NOT NULL, fingerprint bytea NOT NULL, status int NOT NULL,"
        " headers text NOT NULL, body bytea NOT NULL, at bigint NOT NULL,"
        " PRIMARY KEY (tenant, operation, key))",
        "CREATE INDEX i_answers ON answers (at, tenant, operation, key)",
    ),
    "ledger": (
        f"CREATE TABLE ledgers (tenant {TEXT} PRIMARY KEY, size bigint NOT NULL,"
        f" state bytea NOT NULL, recorded_at {TEXT} NOT NULL)",
        f"CREATE TABLE ledger_lines (tenant {TEXT} NOT NULL, seq bigint NOT NULL,"
        f" id {TEXT} NOT NULL, subject {TEXT} NOT NULL, opens bool NOT NULL,"
        f" recorded_at {TEXT} NOT NULL, keys text, seal bytea NOT NULL, line bytea NOT NULL,"
        " PRIMARY KEY (tenant, seq), UNIQUE (tenant, id))",
        "CREATE INDEX i_ledger_subject ON ledger_lines (tenant, subject, seq)",
        "CREATE INDEX i_ledger_opens ON ledger_lines (tenant, seq) WHERE opens",
        f"CREATE TABLE ledger_keys (tenant {TEXT} NOT NULL, digest bigint NOT NULL,"
        " seq bigint NOT NULL, PRIMARY KEY (tenant, digest, seq))",
        f"CREATE TABLE ledger_nodes (tenant {TEXT} NOT NULL, level int NOT NULL,"
        " number bigint NOT NULL, hash bytea NOT NULL, PRIMARY KEY (tenant, level, number))",
        f"CREATE TABLE ledger_checkpoints (tenant {TEXT} NOT NULL, day {TEXT} NOT NULL,"
        " size bigint NOT NULL, text bytea NOT NULL, PRIMARY KEY (tenant, day))",
    ),
}
_NUMBER = "INSERT INTO schema_migrations (step) VALUES ($1)"
_BEGIN = (
    "UPDATE shapes SET next = CASE WHEN target = $2 THEN next"
    " ELSE greatest(number, next) + 1 END, target = $2 WHERE collection = $1 RETURNING next"
)
_END = (
    "UPDATE shapes SET shape = $2, number = next, added = $3, target = NULL, next = NULL"
    " WHERE collection = $1"
)

Declared = tuple[Collection[Any], ...]


async def status_of(connection: Any, collections: Declared) -> Status:
    """The steps taken and those pending."""
    applied = await _applied(connection)
    taken = {entry.step for entry in applied}
    shapes = await _shapes(connection)
    pending = [step for step in _FIXED if step not in taken]
    for collection in collections:
        old, new = shapes.get(collection.name), features.shape_of(collection)
        if old is None:
            pending.append(_step(collection))
        else:
            steps = ((new - old, "+"), (old - new, "-"))
            pending += [_step(collection, shape, sign) for shape, sign in steps if shape]
    return Status(applied, tuple(pending))


async def apply(
    connection: Any, collections: Declared, epoch: bytes, *, also_drops: bool
) -> tuple[Applied, ...]:
    """Take every pending step; the steps taken now.

    `epoch` names the feed of a database that is made now; one that has a feed keeps its own.
    """
    status = await status_of(connection, collections)
    if not any(also_drops or ": -" not in step for step in status.pending):
        return ()
    async with _alone(connection):
        before = len(await _applied(connection))
        await connection.execute(_NUMBERS)
        await _apply_fixed(connection, epoch)
        for collection in collections:
            await _apply_declared(connection, collection, also_drops=also_drops)
        return (await _applied(connection))[before:]


async def stored(connection: Any, collections: Declared) -> dict[str, Stored]:
    """The tables, each with the number that stands in the rows that this process writes.

    A process that does not know the last feature that was added writes 0, which is no shape's.
    """
    rows = await connection.fetch("SELECT collection, number, added FROM shapes")
    shapes = {row["collection"]: row for row in rows}
    found = {}
    for collection in collections:
        row = shapes[collection.name]
        is_abreast = features.from_stored(row["added"]) <= features.shape_of(collection)
        found[collection.name] = Stored(table(collection), row["number"] if is_abreast else 0)
    return found


async def renew_epoch(connection: Any, epoch: bytes) -> None:
    """Begin a new life of the feed, after a restore: old watermarks must not be believed."""
    await connection.execute("UPDATE meta SET value = $1 WHERE name = 'epoch'", epoch)


# -- steps -------------------------------------------------------------------------------------


async def _apply_fixed(connection: Any, epoch: bytes) -> None:
    taken = {entry.step for entry in await _applied(connection)}
    for step, statements in _FIXED.items():
        if step not in taken:
            await _at_once(connection, statements, step)
    await connection.execute(
        "INSERT INTO meta VALUES ('epoch', $1) ON CONFLICT (name) DO NOTHING", epoch
    )


async def _apply_declared(
    connection: Any, collection: Collection[Any], *, also_drops: bool
) -> None:
    made, new = table(collection), features.shape_of(collection)
    old = (await _shapes(connection)).get(collection.name)
    if old is None:
        await _create(connection, made, new)
    elif new - old:
        await _extend(connection, made, old, new)
    if old is not None and old - new and also_drops:
        forget = [*features.drop(made, old - new), _kept(collection, new)]
        await _at_once(connection, forget, _step(collection, old - new, "-"))


async def _create(connection: Any, made: Table, new: Shape) -> None:
    text = features.to_stored(new)
    await _at_once(
        connection,
        [
            *features.create(made),
            *features.columns(made, new),
            *(f"CREATE INDEX {index.name} {index.on}" for index in features.indexes(made, new, 1)),
            f"INSERT INTO shapes (collection, shape, number, added)"
            f" VALUES ('{made.collection.name}', '{text}', 1, '{text}')",
        ],
        _step(made.collection),
    )


async def _extend(connection: Any, made: Table, old: Shape, new: Shape) -> None:
    """Add what is new with the table in use: columns, then their values, then indexes."""
    name, added, target = made.collection.name, new - old, features.to_stored(old | new)

    async def begin() -> int:
        async with connection.transaction():
            for statement in features.columns(made, added):
                await connection.execute(statement)
            return int(await connection.fetchval(_BEGIN, name, target))

    number = await _unhindered(begin)
    await filling.fill(connection, made, number)
    for index in features.indexes(made, added, number):
        await _build(connection, index)
    for _ in range(PASSES_MAX):
        if not await filling.fill(connection, made, number):
            break
    async with connection.transaction():
        await connection.execute(_END, name, target, features.to_stored(added))
        await connection.execute(_NUMBER, _step(made.collection, added, "+"))
    for earlier in range(1, number):
        await connection.execute(
            f"DROP INDEX CONCURRENTLY IF EXISTS {features.stale_name(made, earlier)}"
        )


async def _build(connection: Any, index: Index) -> None:
    """Build an index beside the work; what is left of one that was cut off goes first."""
    is_whole = await connection.fetchval(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($1)", index.name
    )
    if is_whole:
        return
    # It waits for the transactions that run, and holds nobody up meanwhile.
    await connection.execute("SET lock_timeout = 0")
    await connection.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}")
    await connection.execute(f"CREATE INDEX CONCURRENTLY {index.name} {index.on}")
    await connection.execute("RESET lock_timeout")


async def _at_once(connection: Any, statements: Iterable[str], step: str) -> None:
    statements = tuple(statements)

    async def run() -> None:
        async with connection.transaction():
            await connection.execute("; ".join(statements))
            await connection.execute(_NUMBER, step)

    await _unhindered(run)


async def _unhindered(run: Callable[[], Awaitable[Any]]) -> Any:
    """Do what locks tables, again while others hold them: waiting long would hold up the rest."""
    for turn in range(1, HINDERED_MAX + 1):
        try:
            return await run()
        except Exception as error:
            if turn == HINDERED_MAX or not is_hindered(error):
                raise
            await asyncio.sleep(LOOK_SECONDS)
    raise AssertionError("the last turn returns or raises")


@asynccontextmanager
async def _alone(connection: Any) -> AsyncIterator[None]:
    while not await connection.fetchval("SELECT pg_try_advisory_lock($1)", _LOCK):
        await asyncio.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        if not connection.is_closed():
            await connection.execute("SELECT pg_advisory_unlock($1)", _LOCK)


# -- what is kept ------------------------------------------------------------------------------


async def _applied(connection: Any) -> tuple[Applied, ...]:
    if not await _has(connection, "schema_migrations"):
        return ()
    rows = await connection.fetch("SELECT number, step FROM schema_migrations ORDER BY number")
    return tuple(Applied(*row) for row in rows)


async def _shapes(connection: Any) -> dict[str, Shape]:
    if not await _has(connection, "shapes"):
        return {}
    rows = await connection.fetch("SELECT collection, shape FROM shapes")
    return {name: features.from_stored(text) for name, text in rows}


async def _has(connection: Any, name: str) -> bool:
    return bool(await connection.fetchval("SELECT to_regclass($1) IS NOT NULL", name))


def _kept(collection: Collection[Any], shape: Shape) -> str:
    text = features.to_stored(shape)
    return f"UPDATE shapes SET shape = '{text}' WHERE collection = '{collection.name}'"


def _step(collection: Collection[Any], shape: Shape = frozenset(), sign: str = "") -> str:
    told = features.words(shape, sign)
    return f"collection {collection.name}: {told}" if told else f"collection {collection.name}"
