"""A disk that is full: writes are refused, all else goes on, and room is all that is needed."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from svc_core import catalog
from tests.disks import mount
from tests.fleet.fleet import Fleet, Reply, ask, changes, every, profile, until
from tests.postgres import PostgresServer

LEFT_BYTES = 64 * 1024
PROFILES = "/api/v1/profiles"


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    """A small disk of its own, for the files of tables and not for the log of the server."""
    with mount("64m") as folder:
        shutil.chown(folder, "nobody")
        yield folder


@pytest.fixture
def fleet(disk: Path, fleet_of: Callable[..., Fleet], postgres: PostgresServer) -> Iterator[Fleet]:
    (disk / "tables").mkdir()
    shutil.chown(disk / "tables", "nobody")
    database = postgres.made_for(catalog.COLLECTIONS)
    name = database.partition("@/")[2].partition("?")[0]
    postgres.do(f"CREATE TABLESPACE small LOCATION '{disk / 'tables'}'")
    postgres.do(f"ALTER DATABASE {name} SET TABLESPACE small")
    fleet = fleet_of(db=database)
    fleet.start([("--no-rate-limits", "--workers", "none")] * 2)
    yield fleet
    fleet.close()
    postgres.drop(database)
    postgres.do("DROP TABLESPACE small")


def test_a_full_disk_refuses_writes_and_nothing_else_until_there_is_room(
    fleet: Fleet, disk: Path
) -> None:
    key = fleet.key().text
    first, ids = fleet.origins[0], []

    def write(origin: str) -> Reply:
        reply = ask(origin, PROFILES, key, profile("x" * 100))
        if reply.status == 201:
            ids.append(reply.data["id"])
        return reply

    write(first)
    for _ in range(2):
        filler = disk / "filler"
        with filler.open("wb") as full:
            full.write(b"0" * (shutil.disk_usage(disk).free - LEFT_BYTES))

        refusal = until(lambda: (reply := write(first)).status != 201 and reply)
        ready = ask(first, "/readyz")
        for reply in (refusal, ready):
            assert (reply.status, reply.json["code"]) == (503, "STORAGE_UNAVAILABLE")
            assert "retry-after" in reply.fields
            assert "no space is left on the disk" in reply.json["detail"]
        assert ask(first, "/livez").status == 200
        for origin in fleet.origins:
            assert {row["id"] for row in every(origin, PROFILES, key)} == set(ids)

        filler.unlink()
        until(lambda: ask(first, "/readyz").status == 200, 10)
        assert [write(origin).status for origin in fleet.origins] == [201, 201]
    creations = [row["resourceId"] for row in changes(fleet.origins, key)]
    assert [id_ for id_ in creations if id_.startswith("prf_")] == ids
