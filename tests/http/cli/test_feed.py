"""The change feed under load: twelve writers, readers by page and by stream, none misses a row."""

import json
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from svc_core.contract.cursor import open_watermark
from tests import plain_http
from tests.nursery import DEVNULL, Child

WRITERS = 12
STALLED_SECONDS = 60
"""How long the readers may be given no row at all before they count as stuck."""


class House:
    """A server of its own process and one key for it."""

    def __init__(self, running: Any, key: str, workspace: str) -> None:
        self.running = running
        self.origin = running.addresses["api"].removesuffix("/api/v1")
        self.fields = {"authorization": f"Bearer {key}"}
        self.workspace = workspace

    def client(self) -> httpx2.Client:
        return plain_http.client(base_url=self.origin, headers=self.fields)

    def open_streams(self) -> int:
        with self.client() as client:
            text = client.get("/metrics").text
        return int(float(text.split("\nsvc_streams_open ")[1].split("\n")[0]))


@pytest.fixture
def house(
    tmp_path: Path, serving: Callable[..., Any], svc_in: Callable[..., Any]
) -> Iterator[House]:
    quiet = {"SVC_RATE_LIMITS": "false", "SVC_REQUEST_LOG": "errors"}
    with serving("--db", "svc.db", "--port", 0, cwd=tmp_path, **quiet) as running:
        api_key = svc_in("keys", "create", "--name", "a", "--json", cwd=tmp_path).json
        yield House(running, api_key["key"], api_key["workspaceId"])


class Writer(threading.Thread):
    """Makes, changes and deletes profiles, and notes what was acknowledged."""

    def __init__(self, house: House, number: int, rounds: int) -> None:
        super().__init__()
        self.house, self.number, self.rounds = house, number, rounds
        self.done: list[tuple[str, str]] = []

    def run(self) -> None:
        with self.house.client() as client:
            for turn in range(self.rounds):
                key = {"idempotency-key": f"writer-{self.number}-{turn:06}"}
                body = {"name": f"P{turn}", "topic": "Ports", "frequency": "manual"}
                reply = client.post("/api/v1/profiles", json=body, headers=key)
                id_ = reply.raise_for_status().json()["data"]["id"]
                self.done.append(("created", id_))
                update = client.patch(f"/api/v1/profiles/{id_}", json={"name": "Q"})
                update.raise_for_status()
                self.done.append(("updated", id_))
                if turn % 3 == 0:
                    client.delete(f"/api/v1/profiles/{id_}").raise_for_status()
                    self.done.append(("deleted", id_))


def by_page(house: House, done: threading.Event) -> Iterator[dict[str, Any]]:
    """Every row by pages of uneven sizes, until the writers are done and nothing is left."""
    mark, size = None, 1
    with house.client() as client:
        while True:
            was_done = done.is_set()
            requests = {"limit": size} | ({} if mark is None else {"after": mark})
            page = client.get("/api/v2/changes", params=requests).raise_for_status().json()
            yield from page["data"]
            mark, size = page["meta"]["watermark"], size % 93 + 7
            if was_done and not page["data"]:
                return


def by_stream(house: House, drop_after: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every row by streams, each dropped after some rows and gone on from with the last id."""
    last = ""
    with house.client() as client:
        while True:
            fields = {"last-event-id": last} if last else {}
            with client.stream("GET", "/api/v2/changes?tail=true", headers=fields) as answer:
                assert answer.status_code == 200
                for seen, (id_, row) in enumerate(_events(answer), 1):
                    last = id_
                    yield id_, row
                    if seen == drop_after:
                        break


def _events(answer: httpx2.Response) -> Iterator[tuple[str, dict[str, Any]]]:
    fields: dict[str, str] = {}
    for line in answer.iter_lines():
        name, _, value = line.partition(": ")
        if line:
            fields[name] = value
        elif fields.get("event") == "change":
            yield fields["id"], json.loads(fields["data"])
            fields = {}
        else:
            fields = {}


def _agree(house: House, rounds: int, drop_after: int) -> None:
    done = threading.Event()
    page_rows: list[dict[str, Any]] = []
    stream_rows: list[tuple[str, dict[str, Any]]] = []
    writers = [Writer(house, number, rounds) for number in range(WRITERS)]
    # A profile is made and deleted with its subscription, and changed alone.
    expected = WRITERS * sum(2 + 1 + (turn % 3 == 0) * 2 for turn in range(rounds))

    def stream() -> None:
        for pair in by_stream(house, drop_after):
            stream_rows.append(pair)
            if len(stream_rows) == expected:
                return

    def page() -> None:
        page_rows.extend(by_page(house, done))

    reading = [threading.Thread(target=page), threading.Thread(target=stream)]
    for thread in [*reading, *writers]:
        thread.start()
    for writer in writers:
        writer.join()
    done.set()
    for thread in reading:
        # However slow the machine is, it is waited for as long as rows come.
        before = -1
        while thread.is_alive() and before < len(page_rows) + len(stream_rows):
            before = len(page_rows) + len(stream_rows)
            thread.join(STALLED_SECONDS)
        assert not thread.is_alive(), (
            f"{len(page_rows)} paged, {len(stream_rows)} streamed, {expected}"
        )

    whole = list(by_page(house, done))
    assert page_rows == whole
    assert [row for _, row in stream_rows] == whole
    assert len({row["id"] for row in whole}) == len(whole)
    profiles = [row for row in whole if row["resourceType"] == "profile"]
    report = {(row["changeType"], row["resourceId"]) for row in profiles}
    acks = {pair for writer in writers for pair in writer.done}
    assert report == acks
    assert len(profiles) == len(acks)
    assert len(whole) == expected
    # The places of one feed have no gap, and the versions of one resource stand in their order.
    marks = [open_watermark(id_, house.workspace).tenant_position for id_, _ in stream_rows]
    assert marks == list(range(1, len(whole) + 1))
    versions: dict[str, int] = {}
    for row in profiles:
        assert row["version"] == versions.get(row["resourceId"], 0) + 1
        assert row["tombstone"] == (row["changeType"] == "deleted")
        versions[row["resourceId"]] = row["version"]


def test_no_reader_misses_or_repeats_a_row(house: House) -> None:
    _agree(house, rounds=6, drop_after=23)


@pytest.mark.soak
def test_no_reader_misses_or_repeats_one_of_a_hundred_thousand(house: House) -> None:
    _agree(house, rounds=2_273, drop_after=1_009)


# -- how streams end ---------------------------------------------------------------------------


SILENCE_SECONDS = 15.0
"""How often a stream looks by itself: what ends sooner was told."""


def test_a_stream_ends_with_the_server_at_once(house: House) -> None:
    with house.client() as client, client.stream("GET", "/api/v2/changes?tail=true") as answer:
        lines = answer.iter_lines()
        assert next(lines) == "retry: 1000"
        began = time.monotonic()
        house.running.process.send_signal(signal.SIGTERM)
        rest = [line for line in lines if line]  # to the end of a whole answer
        assert time.monotonic() - began < SILENCE_SECONDS
    assert rest[-2] == "event: end"
    assert json.loads(rest[-1].removeprefix("data: "))["code"] == "SHUTTING_DOWN"
    house.running.process.wait(60)
    assert house.running.stop()[0] == 0


def test_a_client_that_leaves_leaves_nothing_behind(house: House) -> None:
    with house.client() as client:
        for _ in range(5):
            with client.stream("GET", "/api/v2/changes?tail=true") as answer:
                lines = answer.iter_lines()
                assert next(lines) == "retry: 1000"
                assert house.open_streams() == 1
            rest = time.monotonic()
            while house.open_streams():
                assert time.monotonic() - rest < SILENCE_SECONDS
                time.sleep(0.01)


# -- a reader that is killed -------------------------------------------------------------------


def test_a_tail_that_is_killed_goes_on_without_loss(
    house: House,
    tmp_path: Path,
    spawn: Callable[..., Any],
    environment: Callable[..., dict[str, str]],
) -> None:
    writer = Writer(house, 0, 40)
    writer.start()
    command = f"{sys.executable} -c 'import sys; sys.stdout.write(sys.stdin.read())' >> taken"
    line = ["changes", "tail", "--state", "mark", "--follow", "--exec", command]
    for number in range(3):
        tailing = Child(*line, cwd=tmp_path, env=environment(), stdout=DEVNULL, stderr=DEVNULL)
        time.sleep(0.2 + 0.17 * number)  # another moment of its work each time
        tailing.kill()
        tailing.wait()
    writer.join()
    exit_codes = spawn("changes", "tail", "--state", "mark", "--exec", command, cwd=tmp_path)
    assert exit_codes.code == 0, exit_codes.err
    reads = [json.loads(text) for text in (tmp_path / "taken").read_text().splitlines()]
    done = threading.Event()
    done.set()
    whole = list(by_page(house, done))
    # At least once, and in the order of the feed where a row first comes.
    assert list({row["id"]: row for row in reads}.values()) == whole
