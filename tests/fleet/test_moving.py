"""A store that grew on SQLite, with a server and commands, goes on over PostgreSQL."""

from collections.abc import Callable
from pathlib import Path

from tests.fleet.fleet import Fleet, Load, ask, changes, every, until
from tests.http.cli.test_webhooks import SECRET, Sink
from tests.postgres import PostgresServer


def test_what_a_server_kept_in_a_file_two_serve_from_postgresql(
    fleet_of: Callable[..., Fleet], postgres: PostgresServer, tmp_path: Path, sink: Sink
) -> None:
    file = tmp_path / "svc.db"
    small = fleet_of(db=str(file))
    small.start([("--no-rate-limits", "--workers", "none")])
    key = small.key().text
    load = Load(small.origins, key, clients=4)
    with load.going():
        load.wait_for(80)
    hook = ask(small.origins[0], "/api/v1/webhooks", key, {"url": sink.url, "secret": SECRET}).data[
        "id"
    ]
    event = ask(small.origins[0], f"/api/v1/webhooks/{hook}/test", key, {}).data["eventId"]
    before = _contents(small, key)
    assert small.servers.pop().end() == 0

    dsn = postgres.dsn(postgres.fresh())
    copy = small.svc("db", "copy", file, dsn)
    rows = {row["part"]: (row["source"], row["target"]) for row in copy["rows"]}
    assert all(source == target for source, target in rows.values())
    reply_count = len(load.replies)
    lines = sum(int(name[-1]) % 4 == 0 for name in load.replies)
    assert rows["profiles"] == (reply_count - lines, reply_count - lines)
    assert [ledger["size"] for ledger in copy["ledgers"]] == [lines]

    large = fleet_of(db=dsn)
    large.start([("--no-rate-limits", "--workers", "none")] * 2)
    assert _contents(large, key) == before
    load.origins = large.origins
    load.check()  # whoever sends one of them again is answered what the file's server said
    assert sink.got == []
    large.start([], workers=1)
    until(lambda: sink.ids == {event})


def _contents(fleet: Fleet, key: str) -> list[object]:
    """What any client can see of the store."""
    origin = fleet.origins[-1]
    return [
        every(origin, "/api/v1/profiles", key),
        every(origin, "/api/v1/subscriptions", key),
        every(origin, "/api/v1/webhooks", key),
        every(origin, "/api/v2/ledger/subjects", key),
        changes(fleet.origins, key),
        ask(origin, "/api/v2/ledger/verify", key).data,
        ask(origin, "/api/v2/ledger/checkpoint", key).body,
    ]
