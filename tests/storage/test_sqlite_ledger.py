"""What is sealed lies on the disk as it is; what is erased leaves every file."""

import asyncio
import random
import shutil
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc_core.operation.ports import LedgerNode, SealedLine
from svc_core.testing.sample import SAMPLES
from svc_core.testing.sealed_lines import a_line, growth, plain_growth
from svc_core.testing.sync_store import SyncStore
from svc_http.stores import SqliteStorage, snapshots
from svc_http.stores.sqlite import migrate_sqlite
from svc_http.stores.sqlite._traces import RETRY_SECONDS, Traces
from svc_http.stores.sqlite.file_connection import connect_reader, connect_writer

TENANTS = 5
BLANK = b"head and seal, no content"


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as loop:
        yield loop


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "svc.db"


def at_desk(runner: asyncio.Runner, path: Path) -> SyncStore:
    return SyncStore(SqliteStorage.open(path, SAMPLES, epoch=bytes(8)), runner.run)


def files(path: Path) -> bytes:
    """Every byte of the database and its log."""
    return b"".join(file.read_bytes() for file in sorted(path.parent.glob(f"{path.name}*")))


def marked_line(seq: int, mark: str, length: int) -> SealedLine:
    """A line of which every part tells whose it is."""
    line = a_line(seq, f"r{mark}", keys=(f"email:{mark}",))
    return line._replace(line=(mark * (length // len(mark) + 1)).encode())


def test_the_bytes_of_an_erased_record_leave_every_file(runner: asyncio.Runner, path: Path) -> None:
    # Rows of all sizes in several ledgers, in turn: what SQLite moves about, it moves here.
    chance, sizes, marks = random.Random(7), dict.fromkeys(range(TENANTS), 0), []
    sync = at_desk(runner, path)
    for _ in range(100):
        tenant, count = chance.randrange(TENANTS), chance.choice((1, 2, 20))
        lines = []
        for seq in range(sizes[tenant], sizes[tenant] + count):
            mark = f"<{chance.getrandbits(64):016x}>"
            lines.append(marked_line(seq, mark, chance.choice((30, 400, 900, 3000, 9000))))
            marks.append((f"t{tenant}", mark))
        sync.seal(f"t{tenant}", growth(sizes[tenant], lines))
        sizes[tenant] += count
    before = files(path)
    erasures = [*marks[:3], *chance.sample(marks, 20)]
    for tenant, mark in erasures:
        assert mark.encode() in before

        async def unit(tx: Any, mark: str = mark) -> None:
            await tx.ledger.erase(f"r{mark}", BLANK)

        sync.write(tenant, unit)
        # The identifier is part of the head and stays; it is told from the rest by its letter.
        assert files(path).replace(f"r{mark}".encode(), b"").count(mark.encode()) == 0
        assert sync.read(tenant, lambda tx, m=mark: tx.ledger.get(f"r{m}")).line == BLANK
    sync.close()
    sync = at_desk(runner, path)
    survivors = set(marks) - set(erasures)
    assert all(
        sync.read(tenant, lambda tx, m=mark: tx.ledger.get(f"r{m}")).line.startswith(mark.encode())
        for tenant, mark in survivors
    )
    sync.close()


def test_content_goes_when_the_reader_in_the_way_has_gone(
    runner: asyncio.Runner, path: Path
) -> None:
    sync = at_desk(runner, path)
    sync.seal("ann", plain_growth(0, "a")._replace(lines=(marked_line(0, "<secret>", 900),)))
    with closing(connect_reader(path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM ledger_lines").fetchone()
        sync.write("ann", lambda tx: tx.ledger.erase("r<secret>", BLANK))
        assert b"<secret><secret>" in files(path)
        # Nobody waits for it, and others go on writing.
        sync.seal("bob", plain_growth(0, "a"))
        reader.execute("COMMIT")
        assert until_gone(path, b"<secret><secret>")
    sync.close()


def until_gone(path: Path, mark: bytes) -> bool:
    """Whether the mark leaves the files while nothing is asked of the store."""
    turn = threading.Event()
    return any(mark not in files(path) or turn.wait(RETRY_SECONDS) for _ in range(50))


def test_a_process_that_died_before_it_could_clear_leaves_it_to_the_next(
    runner: asyncio.Runner, path: Path, tmp_path: Path
) -> None:
    migrate_sqlite(path, SAMPLES, epoch=bytes(8))
    crash_dir = tmp_path / "fallen" / "svc.db"
    crash_dir.parent.mkdir()
    with closing(connect_writer(path)) as writer:
        writer.execute("INSERT INTO ledger_bodies VALUES (7, NULL, ?)", (b"<secret>" * 99,))
        writer.execute("UPDATE ledger_bodies SET line = zeroblob(length(line)) WHERE number = 7")
        for part in ("", "-wal"):
            shutil.copy(f"{path}{part}", f"{crash_dir}{part}")
    assert b"<secret>" in files(crash_dir)
    sync = at_desk(runner, crash_dir)
    assert until_gone(crash_dir, b"<secret>")
    sync.close()


def test_a_log_that_cannot_be_cut_off_is_tried_again(path: Path) -> None:
    with closing(connect_writer(path)) as writer:
        traces = Traces(writer)
        writer.execute("BEGIN IMMEDIATE")
        traces.clear()
        assert traces.may_remain
        writer.execute("COMMIT")
        traces.clear()
        assert not traces.may_remain


def test_nodes_above_the_tiles_are_kept(runner: asyncio.Runner, path: Path) -> None:
    sync, size = at_desk(runner, path), 2**16
    batch = growth(0, (a_line(seq, f"{seq}") for seq in range(size)))
    sync.seal("ann", batch)
    assert [node.level for node in batch.nodes] == [8] * 256 + [16]
    for level, start in ((8, 255), (16, 0)):
        expected = LedgerNode(level, start, batch.nodes[start if level == 8 else -1].hash)
        row = sync.read("ann", lambda tx, at=expected: tx.ledger.hashes(at.level, at.number, 999))
        assert row == (expected.hash,)
    assert sync.read("ann", lambda tx: tx.ledger.size_at("9999")) == size
    sync.close()


def test_a_ledger_comes_back_from_a_copy_byte_for_byte(
    runner: asyncio.Runner, path: Path, tmp_path: Path
) -> None:
    async def read_all(tx: Any) -> tuple[object, ...]:
        ledger = tx.ledger
        return (
            await ledger.head(),
            await ledger.lines(0, 999),
            await ledger.hashes(0, 0, 999),
            await ledger.hashes(8, 0, 999),
            await ledger.opened(limit=9),
            await ledger.holders(("email:<b>",), limit=9),
            await ledger.checkpoints(),
        )

    sync = at_desk(runner, path)
    lines = [
        a_line(0, "s", "s", opens=True),
        marked_line(1, "<b>", 900),
        marked_line(2, "<c>", 9000),
    ]
    sync.seal("ann", growth(0, lines))
    sync.seal("ann", growth(3, (a_line(seq, f"{seq}") for seq in range(3, 300))))
    sync.write("ann", lambda tx: tx.ledger.erase("r<c>", BLANK))
    sync.write("ann", lambda tx: tx.ledger.keep_checkpoint("2026-01-01", 300, b"note"))
    was, epoch = sync.read("ann", read_all), sync.read("ann", lambda tx: tx.changes.epoch())
    copy = tmp_path / "copy.db"
    snapshots.back_up_file(path, copy)
    sync.seal("ann", plain_growth(300, "later"))
    sync.close()
    snapshots.restore_file(copy, path)
    sync = at_desk(runner, path)
    assert sync.read("ann", read_all) == was
    assert sync.read("ann", lambda tx: tx.changes.epoch()) != epoch
    sync.seal("ann", plain_growth(300, "later"))
    assert b"<c><c>" not in files(path) + copy.read_bytes()
    sync.close()
