"""`svc db copy`, and the other commands of `svc db` on PostgreSQL: a store moves whole or not."""

import asyncio
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from svc_core import catalog
from svc_http.stores.media.pieces import MediaRows
from svc_http.stores.postgres import PostgresStorage
from svc_http.stores.sqlite.file_lock import FileLock
from tests.postgres import PostgresServer

Svc = Callable[..., Any]
PASSWORD = "hunter2"


@pytest.fixture
def empty(postgres: PostgresServer) -> Callable[[], str]:
    """Makes databases without a table."""
    return lambda: postgres.dsn(postgres.fresh())


def data_of(svc: Svc, *place: object) -> dict[str, Any]:
    """What a store says of itself."""
    return {
        "keys": svc("keys", "list", "--json", *place).json,
        "profiles": svc("profiles", "list", "--json", *place).json,
        "vkey": svc("ledger", "key", "--json", *place).json,
        "lines": svc("ledger", "records", "--json", *place).json,
        "verdict": svc("ledger", "check", "--json", *place).json,
        "changes": svc("changes", "list", "--json", *place).json,
        "mark": svc("changes", "head", "--json", *place).json,
    }


REPEATED = (
    "ledger",
    "open",
    "--type",
    "vessel",
    "--label",
    "Nord",
    "--idempotency-key",
    "the-first",
)


@pytest.fixture
def secret(svc: Svc, cwd: Path) -> str:
    """The secret of a file `svc.db` with something of everything, beside which it is kept."""
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    svc("keys", "create", "--name", "a")
    svc("profiles", "create", "--name", "Ports", "--topic", "Strikes", "--frequency", "manual")
    svc(*REPEATED)
    return (cwd / "svc.db.secret").read_text("ascii").strip()


# -- copy --------------------------------------------------------------------------------------


def test_a_store_goes_to_postgresql_and_back_and_says_the_same(
    svc: Svc, cwd: Path, secret: str, empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, first = data_of(svc), svc(*REPEATED, "--json").json
    monkeypatch.setenv("SVC_SECRET", secret)
    dsn = empty()

    folder = svc("db", "copy", "svc.db", dsn, "--json")

    assert folder.code == 0, folder.err
    rows = {(row["part"], row["source"], row["target"]) for row in folder.json["rows"]}
    assert {("keys", 1, 1), ("profiles", 1, 1), ("ledger_lines", 1, 1), ("changes", 3, 3)} <= rows
    (ledger,) = folder.json["ledgers"]
    verdict = before["verdict"]
    assert (ledger["size"], ledger["rootHash"]) == (1, verdict["rootHash"])
    assert data_of(svc, "--db", dsn) == before
    assert svc(*REPEATED, "--json", "--db", dsn).json == first

    svc("profiles", "create", "--name", "Rails", "--topic", "Strikes", "--frequency", "manual",
        "--db", dsn)  # fmt: skip
    now = data_of(svc, "--db", dsn)
    back = svc("db", "copy", dsn, "back.db")
    assert back.code == 0, back.err
    assert "Ledgers whose seals lead to the root of their head: 1, all." in back.out
    assert data_of(svc, "--db", "back.db") == now
    rooms = [svc("db", "status", "--json", "--db", db).json["room"] for db in (dsn, "back.db")]
    room, again = ([row for row in room if row["part"] != "acts"] for room in rooms)
    assert room == again
    assert {row["part"]: row["rows"] for row in room}["profiles"] == 2
    news = svc(
        "changes", "list", "--after", before["mark"]["watermark"], "--db", "back.db", "--json"
    )
    assert [row["resourceType"] for row in news.json["data"]] == ["profile", "subscription"]


def test_a_file_takes_its_secret_and_its_recordings_with_it(
    svc: Svc, cwd: Path, secret: str
) -> None:
    before = data_of(svc)
    recording = f"{'0' * 64}.mp3"
    (cwd / "svc.db.media").mkdir()
    (cwd / "svc.db.media" / recording).write_bytes(b"sound")

    assert svc("db", "copy", "svc.db", "copy.db").code == 0

    assert data_of(svc, "--db", "copy.db") == before
    assert (cwd / "copy.db.secret").read_text().strip() == secret
    for name in ("copy.db", "copy.db.secret"):
        assert stat.S_IMODE((cwd / name).stat().st_mode) == 0o600
    assert (cwd / "copy.db.media" / recording).read_bytes() == b"sound"


def test_postgresql_takes_in_the_recordings_beside_a_file(
    svc: Svc, cwd: Path, secret: str, empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", secret)
    recording, sound = f"{'0' * 64}.mp3", b"sound" * 100_000
    for folder in ("svc.db.media", "backup.db.media"):
        (cwd / folder).mkdir()
        (cwd / folder / recording).write_bytes(sound)
    svc("db", "backup", "backup.db")

    async def remains(dsn: str) -> bytes:
        store = await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=b"not this")
        try:
            media = MediaRows(store)
            parts, size = b"", await media.size(recording)
            while len(parts) < size:
                parts += await media.read(recording, range(len(parts), size))
            return parts
        finally:
            await store.close()

    copy_dsn, restore_dsn, elsewhere = empty(), empty(), empty()
    assert svc("db", "copy", "svc.db", copy_dsn).code == 0
    assert svc("db", "restore", "backup.db", "--db", restore_dsn).code == 0
    assert asyncio.run(remains(copy_dsn)) == asyncio.run(remains(restore_dsn)) == sound
    # Those that are in the database go with it.
    again = empty()
    assert svc("db", "copy", copy_dsn, "back.db").code == 0
    assert svc("db", "copy", "back.db", again).code == 0
    assert asyncio.run(remains(again)) == sound
    monkeypatch.setenv("SVC_MEDIA", str(cwd / "svc.db.media"))
    assert svc("db", "copy", "svc.db", elsewhere).code == 0
    with pytest.raises(FileNotFoundError):
        asyncio.run(remains(elsewhere))


def test_what_cannot_be_copied_is_told_in_a_line_and_nothing_is_made(
    svc: Svc, cwd: Path, secret: str, empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (cwd / "text.db").write_text("This is no database.\n" * 100)
    with closing(sqlite3.connect(cwd / "old.db")) as old:
        with closing(sqlite3.connect(cwd / "svc.db")) as present:
            present.backup(old)
        old.execute("DELETE FROM shapes WHERE collection = 'news'")
        old.commit()
    svc("keys", "create", "--name", "b", "--db", "other.db")

    def refusal(source: object, target: object, code: int, words: str) -> None:
        ran = svc("db", "copy", source, target)
        assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
        assert words in ran.err

    refusal("missing.db", "new.db", 1, "there is no database")
    refusal("text.db", "new.db", 1, "cannot be read")
    refusal("old.db", "new.db", 1, "is of another version; run: svc db migrate --db old.db")
    refusal(":memory:", "new.db", 1, "its server's alone")
    refusal("svc.db", ":memory:", 1, "its server's alone")
    refusal("svc.db", "other.db", 1, "other.db.secret is not the secret of svc.db")
    (cwd / "other.db.secret").unlink()
    refusal("svc.db", "other.db", 1, "other.db exists and is not empty")
    refusal("svc.db", "svc.db", 1, "in use")
    refusal("svc.db", empty(), 2, "SVC_SECRET_FILE=svc.db.secret")
    lock = FileLock(cwd / "svc.db")
    refusal("svc.db", "new.db", 1, "in use")
    lock.release()
    (cwd / "svc.db.secret").unlink()
    refusal("svc.db", "new.db", 1, "SVC_SECRET is not the secret of svc.db")
    monkeypatch.setenv("SVC_SECRET", "another one, of the right length: 0123456789")
    refusal("svc.db", "new.db", 1, "SVC_SECRET is not the secret of svc.db")
    assert [*cwd.glob("new.db*")] == []
    assert [row["name"] for row in svc("keys", "list", "--json", "--db", "other.db").json] == ["b"]


# -- PostgreSQL --------------------------------------------------------------------------------


def test_migrations_are_shown_and_taken(
    svc: Svc, secret: str, empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", secret)
    dsn = empty()
    before = svc("db", "status", "--db", dsn, "--json").json
    assert (before["exists"], before["applied"]) == (True, [])
    dry = svc("db", "migrate", "--dry-run", "--db", dsn, "--json")
    assert (dry.code, dry.json["steps"]) == (1, before["pending"])
    reads = svc("db", "migrate", "--db", dsn, "--json").json
    assert reads["steps"] == before["pending"]
    assert svc("db", "migrate", "--dry-run", "--db", dsn).code == 0
    after = svc("db", "status", "--db", dsn, "--json").json
    assert [step["step"] for step in after["applied"]] == reads["steps"]
    ran = svc("doctor", "--db", dsn)
    assert ran.code == 0, ran.out


def test_a_backup_is_a_file_and_is_restored_into_either_kind(
    svc: Svc, cwd: Path, secret: str, empty: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", secret)
    first, second = empty(), empty()
    svc("db", "copy", "svc.db", first)
    before = data_of(svc, "--db", first)
    reply = svc("db", "backup", "backup.db", "--db", first, "--json").json
    assert reply["sizeBytes"] == (cwd / "backup.db").stat().st_size
    assert svc("db", "backup", "backup.db", "--db", first).code == 1
    busy = svc("db", "restore", "backup.db", "--db", first)
    assert (busy.code, "not empty" in busy.err) == (1, True)
    for place in (second, "restored.db"):
        done = svc("db", "restore", "backup.db", "--db", place, "--json")
        assert (done.code, done.json["setAside"]) == (0, None)
        after = data_of(svc, "--db", place)
        assert (after["keys"], after["lines"]) == (before["keys"], before["lines"])
        assert after["changes"]["data"] == before["changes"]["data"]
        mark = before["mark"]["watermark"]
        deletion = svc("changes", "list", "--after", mark, "--db", place, "--json")
        assert (deletion.code, deletion.json["code"]) == (1, "WATERMARK_GONE")


def test_no_command_tells_the_password_of_a_database(
    svc: Svc, cwd: Path, secret: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_SECRET", secret)
    for dsn in (
        f"postgresql://ann:{PASSWORD}@127.0.0.1:1/none",
        f"postgresql://127.0.0.1:1/none?user=ann&password={PASSWORD}",
        f"postgresql://ann:{PASSWORD}@127.0.0.1:port/none",
    ):
        for words in (
            ("status", "--db", dsn),
            ("migrate", "--db", dsn),
            ("backup", "copy.db", "--db", dsn),
            ("restore", "svc.db", "--db", dsn),
            ("copy", "svc.db", dsn),
            ("copy", dsn, "copy.db"),
        ):
            ran = svc("db", *words)
            assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
            assert PASSWORD not in ran.err
            assert "postgresql://" in ran.err
        assert PASSWORD not in svc("doctor", "--db", dsn).out
    assert [*cwd.glob("copy.db*")] == []
