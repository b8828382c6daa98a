"""Whatever is done to what is stored of a ledger, its verification answers, and says so.

The columns are read from the databases, so that one which is added is damaged here as well.
"""

import json
import sqlite3
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

import asyncpg
import pytest

from svc_core.contract.problem import Problem
from svc_core.ledger.append.batches import append_drafts
from svc_core.ledger.append.entries import entry
from svc_core.ledger.local_operations import ReadLines, read_lines
from svc_core.ledger.log import note
from svc_core.ledger.log.checkpoint import Checkpoint
from svc_core.ledger.log.proofs import verify_inclusion
from svc_core.ledger.log.receipt import LogReceipt

pytestmark = pytest.mark.parametrize("make_town", ["sqlite", "postgres"], indirect=True)
"""Those have tables that somebody may change; what is in memory is nobody's to change."""

SIZE = 260
"""More than the lines under one kept node."""
PLACE = 100
"""A designator's line, of which something is kept in every table."""
FAR = 1_000_000


class Ground:
    """A ledger, and ways to change what is stored of it behind the store's back."""

    def __init__(self, town, size):
        self.town, self.size = town, size
        town.get("/checkpoint")
        service = town.house.service.runtime.service

        async def fill(ctx):
            opening = entry("subject", "assert", type="organization", label="Pier 7 AG")
            subject = (await append_drafts(ctx, [opening])).records[0].id
            of_it = {"subject": subject}
            entries = [
                entry("claim", "assert", predicate="motto", value=n, **of_it)
                for n in range(size - 1)
            ]
            domain = {"scheme": "domain", "value": "a.example", **of_it}
            entries[min(PLACE, size // 2) - 1] = entry("designator", "assert", **domain)
            for at in range(0, size - 1, 100):
                await append_drafts(ctx, entries[at : at + 100])

        town.house.run(service.write(town.tenant, fill))
        anchor_size = size // 2
        root = quote(self.verdict(f"?size={anchor_size}")["rootHash"], safe="")
        last = quote(self.verdict()["rootHash"], safe="")
        self.parameters = (
            "",
            "?level=integrity",
            f"?size={size}",
            f"?fromSize={anchor_size}",
            f"?fromSize={anchor_size}&fromRootHash={root}",
            f"?fromSize={size}&fromRootHash={last}&level=integrity",
            f"?fromSize={size + 3}&fromRootHash={last}",
        )

    def verdict(self, query=""):
        return self.town.data(f"/verify{query}")

    @property
    def tables(self):
        """The names of the columns of each table."""
        tables = {}
        for table, name in self.columns():
            tables.setdefault(table, []).append(name)
        return tables

    def codes(self, query=""):
        """The codes of the faults, of which there are some, in an answer that claims nothing."""
        verdict = self.verdict(query)
        assert (verdict["ok"], verdict["assurance"], verdict["checkpoint"]) == (
            False,
            "failed",
            None,
        )
        assert verdict["anchoredSize"] is None
        assert verdict["firstFault"] == verdict["faults"][0]
        assert False in verdict["checks"].values()
        return {fault["code"] for fault in verdict["faults"]}


class Sqlite(Ground):
    """One on SQLite."""

    def _do(self, work):
        path = Path(self.town.house.storage._place._folder.name, "svc.db")
        with closing(sqlite3.connect(path)) as connection, connection:
            return work(connection)

    def columns(self):
        text = (
            "SELECT t.name, c.name FROM sqlite_master AS t, pragma_table_info(t.name) AS c"
            " WHERE t.type = 'table' AND t.name LIKE 'ledger%' ORDER BY t.name, c.cid"
        )
        return self._do(lambda connection: connection.execute(text).fetchall())

    def rows(self, table):
        return self._do(lambda connection: connection.execute(f"SELECT * FROM {table}").fetchall())

    def put(self, table, rows):
        def write(connection):
            connection.execute(f"DELETE FROM {table}")
            for row in rows:
                marks = ", ".join("?" * len(row))
                connection.execute(f"INSERT INTO {table} VALUES ({marks})", row)

        self._do(write)


class Postgres(Ground):
    """One on PostgreSQL."""

    def _do(self, work):
        async def run():
            connection = await asyncpg.connect(self.town.house.storage._place._dsn)
            try:
                return await work(connection)
            finally:
                await connection.close()

        return self.town.house.run(run())

    def columns(self):
        text = (
            "SELECT table_name, column_name FROM information_schema.columns"
            " WHERE table_name LIKE 'ledger%' ORDER BY table_name, ordinal_position"
        )
        return [tuple(row) for row in self._do(lambda connection: connection.fetch(text))]

    def rows(self, table):
        rows = self._do(lambda connection: connection.fetch(f"SELECT * FROM {table}"))
        return [tuple(row) for row in rows]

    def put(self, table, rows):
        async def write(connection):
            async with connection.transaction():
                await connection.execute(f"DELETE FROM {table}")
                await connection.copy_records_to_table(table, records=rows)

        self._do(write)


@pytest.fixture
def make_ground(request, make_town):
    """Makes a ledger of a size on each store."""
    kind = request.node.callspec.params["make_town"]
    class_ = {"sqlite": Sqlite, "postgres": Postgres}[kind]
    return lambda size: class_(make_town(rate_limits=False), size)


def different(column, value):
    """Another value of the same type."""
    if column == "opens":
        return 1 - value if type(value) is int else not value
    if isinstance(value, tuple):
        return ("domain:b.example",)
    if isinstance(value, int):
        return value + FAR
    if isinstance(value, str):
        return value[:-1] + ("x" if value[-1] != "x" else "y")
    return value[:-1] + bytes([value[-1] ^ 1])


def of_the_chosen(names, rows):
    """The place of the row of the chosen line, or of the last where a row is of no line."""
    for number, row in enumerate(rows):
        members = dict(zip(names, row, strict=True))
        is_its = members.get("seq") == PLACE or members.get("place", 0) & (FAR - 1) == PLACE
        if is_its or (members.get("keys") and "seq" not in members):
            return number
    return len(rows) - 1


def unseen(ground, query=""):
    """What is wrong with the answer about what was damaged; None where nothing is."""
    try:
        ground.codes(query)
    except AssertionError as wrong:
        return str(wrong)[:300]
    return None


def test_every_column_that_is_changed_is_told(make_ground):
    ground = make_ground(260)  # more than the lines under one kept node
    assert ground.verdict()["ok"] is True
    misses = []
    for table, names in ground.tables.items():
        rows = ground.rows(table)
        at = of_the_chosen(names, rows)
        for place, name in [*enumerate(names), (None, "row")]:
            row = list(rows[at])
            if place is not None:
                row[place] = different(name, row[place])
            ground.put(
                table, [*rows[:at], *([tuple(row)] if place is not None else []), *rows[at + 1 :]]
            )
            misses += [(table, name, wrong) for wrong in [unseen(ground)] if wrong]
        ground.put(table, rows)
    assert misses == []
    assert ground.verdict()["ok"] is True


def edits(rows, at, place):
    """The rows with the line of one of them gone, changed, and swapped with the next."""
    row = rows[at]
    yield "gone", [*rows[:at], *rows[at + 1 :]]
    mutant = row[place].replace(b'"salt":"', b'"salt":"x')
    yield "changed", [*rows[:at], (*row[:place], mutant, *row[place + 1 :]), *rows[at + 1 :]]
    if at + 1 < len(rows):
        after = rows[at + 1]
        pair = (
            (*row[:place], after[place], *row[place + 1 :]),
            (*after[:place], row[place], *after[place + 1 :]),
        )
        yield "swapped", [*rows[:at], *pair, *rows[at + 2 :]]


def test_whatever_was_done_to_a_line_or_beside_it_the_answer_is_one(make_ground):
    ground = make_ground(6)
    misses = []
    damages = [
        (table, f"{name} {at}", damage, rows)
        for table, names in ground.tables.items()
        if "line" in names
        for rows in [ground.rows(table)]
        for at, row in enumerate(rows)
        if row[names.index("line")].startswith(b"{")
        for name, damage in edits(rows, at, names.index("line"))
    ]
    assert len(damages) == 17
    for table in ground.tables:
        rows = ground.rows(table)
        damages += [(table, "emptied", [], rows)] if rows else []
    for table, name, damage, rows in damages:
        ground.put(table, damage)
        for query in ground.parameters:
            misses += [(table, name, query, wrong) for wrong in [unseen(ground, query)] if wrong]
        ground.put(table, rows)
    assert misses == []
    # What the store does not have, and nothing says that it had, is asked for by mistake.
    for query in ("?size=7", "?fromSize=7", "?size=2&fromSize=3"):
        assert ground.town.ask("GET", f"/verify{query}").status_code == 400


def test_no_root_is_signed_and_no_receipt_given_that_the_lines_do_not_have(make_ground):
    ground = make_ground(260)
    table = next(item for item in ground.tables if "nodes" in item)
    last = ground.town.get("/records?after=258").text
    record = last[last.index('"id":"') + 6 :][:28]
    paths = ("/checkpoint?size=258", f"/records/{record}/proof", "/records?size=258")
    (row,) = ground.rows(table)
    for damage in ([], [(*row[:-1], bytes(32))]):
        ground.put(table, damage)
        for path in paths:
            answer = ground.town.ask("GET", path)
            assert (answer.status_code, answer.json()["code"]) == (503, "SERVICE_UNAVAILABLE")
            assert "svc ledger fsck" in answer.json()["resolution"]
        assert ground.verdict("?fromSize=258")["consistency"]["ok"] is False
        # What does not rest on it is told as before.
        ground.town.get("/checkpoint?size=100")
    ground.put(table, [row])
    for path in paths:
        ground.town.get(path)
    heads = next(item for item in ground.tables if item in ("head", "ledgers"))
    (row,) = ground.rows(heads)
    (state,) = (
        at for at, name in enumerate(ground.tables[heads]) if name in ("tree_head", "state")
    )
    ground.put(heads, [(*row[:state], b"rubbish", *row[state + 1 :])])
    assert ground.town.ask("GET", "/checkpoint").status_code == 503
    assert ground.codes() == {"TREE_HEAD_DIFFERS"}


def losses(ground):
    """The rows of each table with a line, its seal or a node gone, by what is gone."""
    for table, names in ground.tables.items():
        rows = ground.rows(table)
        if "nodes" in table:
            yield "nodes", table, []
            yield "hash", table, [(*row[:-1], bytes(32)) for row in rows]
        if "subject" in names:
            number = names.index("seq" if "seq" in names else "place")
            first, *_ = lines = sorted(rows, key=lambda row: row[number])
            assert len(lines) == SIZE, first
            yield "the last line", table, lines[:-1]
            yield "a line between", table, [*lines[:PLACE], *lines[PLACE + 1 :]]
            yield "the lines", table, []


def is_true(answer):
    """Whether the receipt of what was appended holds."""
    data = answer.json()["data"]
    receipt = LogReceipt.parse(data["receipt"])
    checkpoint_ = Checkpoint.parse(note.parse_note(receipt.checkpoint).text)
    seal = bytes.fromhex(data["seal"])
    verify_inclusion(receipt.index, checkpoint_.size, seal, receipt.proof, checkpoint_.root)
    return True


def test_where_something_is_gone_every_answer_ends_and_is_whole_or_503(make_ground):
    ground = make_ground(SIZE)
    town, service = ground.town, ground.town.house.service.runtime.service
    subject = town.data("/subjects")[0]["id"]
    last = json.loads(town.get(f"/records?after={SIZE - 2}").text)["head"]["id"]
    reads = [f"/records?limit=1000{query}" for query in ("", "&after=258", "&size=259")]
    reads += [
        f"/tlog/tile/{tile}" for tile in ("0/000", "0/001.p/4", "entries/001.p/4", "1/000.p/1")
    ]
    reads += [f"/subjects/{subject}", f"/records/{last}", f"/records/{last}/proof"]
    claim = {"kind": "claim", "subject": subject, "predicate": "motto", "value": "new"}
    sound = {path: len(town.get(path).content) for path in reads}
    wrong, counts = [], Counter()

    async def read(ctx):
        return json.loads((await read_lines(ctx, ReadLines())).raw)["next"]

    for name, table, damage in list(losses(ground)):
        before = {item: ground.rows(item) for item in ground.tables}
        ground.put(table, damage)
        for path in reads:
            answer = town.ask("GET", path)
            counts[name, answer.status_code] += 1
            if answer.status_code == 200 and path.startswith(("/records?", "/tlog")):
                wrong += [(name, path)] if len(answer.content) != sound[path] else []
            elif answer.status_code not in {200, 404, 503}:
                wrong.append((name, path, answer.status_code))
        with suppress(Problem):
            wrong += [] if town.house.run(service.read(town.tenant, read)) == SIZE else [(name,)]
        answer = town.ask("POST", "/records", json=claim)
        counts[name, answer.status_code] += 1
        if answer.status_code != 503 and not (answer.status_code == 201 and is_true(answer)):
            wrong.append((name, "append", answer.status_code, answer.text))
        for item, rows in before.items():
            ground.put(item, rows)
    assert wrong == []
    assert {name for name, status in counts if status == 503} >= {"the last line", "nodes"}
