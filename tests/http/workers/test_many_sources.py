"""Sources of every format are pulled side by side: none of them can hold up or hurt another."""

import gzip
import io
import json
import os
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import attrs
import pytest

from svc_core.base.egress import LOOPBACK
from svc_core.formats.table import FORMATS
from svc_core.intel.intake import registry
from svc_core.operation.host import Progress
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.local_files import document_locations
from svc_http.outside.fetch.model import FetchLimits
from svc_http.service.workers.source_pulls import (
    SOURCES_AT_ONCE,
    PullOutcome,
    add_source,
    pull,
    pull_all,
)

pytestmark = pytest.mark.anyio

Make = Callable[..., bytes]
DRIP_SECONDS = 2.0


def kev(*numbers: int, **members: Any) -> bytes:
    """A catalogue of these vulnerabilities."""
    rows = [{"cveID": f"CVE-2024-{number:04}", "dateAdded": "2024-03-01"} for number in numbers]
    head = {"title": "KEV", "catalogVersion": "1", "dateReleased": "2026-01-02T00:00:00Z"}
    return json.dumps({**head, "count": len(rows), "vulnerabilities": rows, **members}).encode()


def drip(publisher: Any, path: str) -> str:
    """Send a byte now and then, for ever."""

    def answer(exchange: Any) -> None:
        exchange.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        while not publisher.closing.wait(0.05):
            exchange.wfile.write(b"x")

    return str(publisher.script(path, answer))


async def test_slow_addresses_of_one_host_hold_up_nobody_else(
    house: Any, publisher: Any, feed: Make, tmp_path: Any
) -> None:
    slow = [drip(publisher, f"/slow/{number}") for number in range(2 * SOURCES_AT_ONCE)]
    for number in range(4):
        (tmp_path / f"{number}.xml").write_bytes(feed(f"Item {number}", folder=f"{number}/"))
    sources = [
        await add_source(house.service, place)
        for place in (*slow, *document_locations(str(tmp_path)))
    ]
    read: list[str] = []
    all_read = anyio.Event()

    def note(outcome: PullOutcome) -> None:
        assert outcome.source is not None
        read.append(outcome.source.location)
        if len(read) == 4:
            all_read.set()

    limits = FetchLimits(total_seconds=DRIP_SECONDS)
    async with (
        Fetcher(exceptions=LOOPBACK, limits=limits) as fetcher,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(pull_all, house.service, sources, fetcher, note)
        await all_read.wait()
        tasks.cancel_scope.cancel()
    # All files are read before even the first of the slow addresses is given up.
    assert set(read).isdisjoint(slow)


def _zip(body: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("kev.json", body)
    return file.getvalue()


PACKINGS: list[tuple[str, Callable[[bytes], bytes], dict[str, str]]] = [
    ("in a file of gzip", gzip.compress, {}),
    ("in transit", gzip.compress, {"Content-Encoding": "gzip"}),
    ("in both", lambda body: gzip.compress(gzip.compress(body)), {"Content-Encoding": "gzip"}),
    ("in a zip", _zip, {"Content-Type": "application/zip"}),
]


@pytest.mark.parametrize("case", PACKINGS, ids=lambda case: case[0])
async def test_a_packed_document_is_taken_as_what_it_holds(
    house: Any, publisher: Any, case: Any
) -> None:
    _, pack, headers = case
    url = publisher.publish("/kev", pack(kev(1, 2)), headers={"ETag": '"1"', **headers})
    outcome = await pull(house.service, await add_source(house.service, url), house.fetcher)
    assert (outcome.source.format, outcome.run.created) == ("kev", 2)
    assert outcome.source.health.http_status == 200
    publisher.publish("/kev", b"", status="304 Not Modified")
    again = await pull(house.service, outcome.source, house.fetcher)
    assert (again.status, again.source.health.http_status) == ("unchanged", 304)
    assert (again.source.etag, again.run.created) == ('"1"', 0)


async def test_a_document_larger_than_its_format_is_refused_whole(
    house: Any, publisher: Any, feed: Make
) -> None:
    padding = b"<!--" + b"x" * FORMATS["rss"].bytes_max + b"-->"
    url = publisher.publish("/feed", gzip.compress(feed("A") + padding, 1))
    outcome = await pull(house.service, await add_source(house.service, url), house.fetcher)
    assert outcome.source.health.error.code == "tooLarge"


async def test_bytes_and_rows_are_told_as_they_come(house: Any, publisher: Any) -> None:
    steps: list[Progress] = []
    body = kev(*range(1, 1_101), padding="x" * 2**21)
    source = await add_source(house.service, publisher.publish("/kev", body))
    await pull(house.service, source, house.fetcher, tell=steps.append)
    assert [(step.unit, step.done) for step in steps] == [
        ("MiB", 1), ("MiB", 2), ("rows", 1_000), ("rows", 1_100),
    ]  # fmt: skip
    assert {step.total for step in steps} == {2, 1_100}


async def test_the_format_that_was_said_at_first_sets_the_pace(house: Any, publisher: Any) -> None:
    url = publisher.publish("/kev", kev(1))
    own = await pull(house.service, await add_source(house.service, url), house.fetcher)
    assert own.source.cadence_seconds == FORMATS["kev"].cadence_seconds
    url = publisher.publish("/other", kev(1))
    source = await add_source(house.service, url, cadence_seconds=120)
    assert (await pull(house.service, source, house.fetcher)).source.cadence_seconds == 120


async def test_a_source_that_is_disabled_while_it_is_read_stays_so(
    house: Any, publisher: Any
) -> None:
    source = await add_source(house.service, publisher.publish("/kev", kev(1)))
    off = partial(attrs.evolve, is_disabled=True)
    await house.service.system(lambda ctx: registry.change_sources(ctx, [source.id], off))
    await pull(house.service, source, house.fetcher)
    assert (await house.source(source.id)).is_disabled


# -- real documents ----------------------------------------------------------------------------


FILES_OF_A_FOLDER = 2
FILE_BYTES = 350_000
"""So few meet most formats; the parsers are tested with all of them."""


def _real_places() -> list[str]:
    """The smallest files of every folder but those that hold no documents of a format."""
    root = os.environ["SVC_REAL_DATA"]  # noqa: TID251 - what the tests are given
    sizes = {place: Path(place).stat().st_size for place in document_locations(root)}
    folders: dict[str, list[str]] = {}
    for place in sorted(sizes, key=lambda place: (sizes[place], place)):
        if "/text/" not in place and sizes[place] < FILE_BYTES:
            folders.setdefault(place.rpartition("/")[0], []).append(place)
    return [place for folder in folders.values() for place in folder[:FILES_OF_A_FOLDER]]


@pytest.mark.needs("SVC_REAL_DATA")
async def test_real_documents_of_most_formats_are_taken_or_refused_and_twice_is_once(
    make_house: Any,
) -> None:
    house = make_house("sqlite")
    sources = [await add_source(house.service, place) for place in _real_places()]
    first = await pull_all(house.service, sources, house.fetcher)
    for outcome in first:
        assert outcome.source is not None
        health, run = outcome.source.health, outcome.run
        assert (outcome.status == "failed") == (health.error is not None), outcome.source.location
        assert run.rejected == sum(rejection.count for rejection in health.rejections)
    formats = {outcome.source.format for outcome in first if outcome.source is not None}
    assert len(formats) > 30
    house.clock.advance(3_600)
    again = await pull_all(
        house.service, [outcome.source for outcome in first], house.fetcher, force=True
    )
    await house.close()
    assert [outcome.status for outcome in again] == [outcome.status for outcome in first]
    changes = Counter(
        outcome.source.location
        for outcome in again
        if outcome.run.created + outcome.run.updated + outcome.run.deleted
    )
    assert not changes
