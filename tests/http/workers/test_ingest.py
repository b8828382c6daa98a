"""Documents are taken in whole or refused with a reason; twice is the same as once."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import anyio.lowlevel
import attrs
import pytest

from svc_core.base.egress import LOOPBACK
from svc_core.contract.problem import Problem
from svc_core.formats.model import MissingExtra
from svc_core.intel.folding.model import SOURCES, Source
from svc_core.intel.intake import registry
from svc_core.intel.intake.document_checks import document_digest
from svc_core.operation.context import Context
from svc_core.operation.members import micros
from svc_http.outside.fetch.document_fetcher import Fetcher
from svc_http.outside.fetch.local_files import document_locations
from svc_http.outside.fetch.model import FetchLimits, FetchRefusal
from svc_http.service.workers import source_pulls as ingest
from svc_http.service.workers.source_pulls import (
    CLAIM,
    HOST_SOURCES_MAX,
    PART_ROWS,
    PART_ROWS_MIN,
    ROUND_SOURCES_MAX,
    PullOutcome,
    SourceLanes,
    add_source,
    ingest_loop,
    pull,
    pull_all,
    pull_now,
)
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio

NO_ROWS = {"news": 0, "news_texts": 0, "changes": 0}
Make = Callable[..., bytes]


async def pull_new(house: Any, location: str, **members: Any) -> PullOutcome:
    source = await add_source(house.service, location, **members)
    return await pull(house.service, source, house.fetcher)


async def pull_due(house: Any) -> tuple[PullOutcome, ...]:
    return await SourceLanes(house.service, house.fetcher).pull_due()


def counting(house: Any, dies_after: int | None = None) -> Any:
    """The service of a house over a store whose units are counted."""
    return attrs.evolve(house.service, storage=Counted(house.service.storage, dies_after))


# -- what a document brings --------------------------------------------------------------------


async def test_a_document_brings_items_words_changes_and_health(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("Cranes stop", "Ferries sail"), headers={"ETag": '"1"'})
    outcome = await pull_new(any_house, url, topics=["shipping"])
    assert (outcome.status, outcome.run.created, outcome.run.updated, outcome.run.unchanged) == (
        "taken", 2, 0, 0,
    )  # fmt: skip
    assert await any_house.row_counts() == {"news": 2, "news_texts": 2, "changes": 2}
    source = (await any_house.sources())[0]
    assert outcome.source == source
    assert (source.name, source.domain, source.format) == ("The Pier", "pier.example", "rss")
    assert (source.etag, source.digest) == (
        '"1"',
        document_digest(feed("Cranes stop", "Ferries sail")),
    )
    now = any_house.clock.now()
    assert source.health.status == "ok"
    assert source.health.items_last_run == 2
    assert source.health.last_content_at == now
    assert source.health.next_attempt_at == now + timedelta(seconds=source.cadence_seconds)
    item = (await any_house.news())[0]
    assert item.source.name == "The Pier"
    assert "shipping" in item.topics
    assert item.retrieved_at == now


async def test_a_large_document_is_written_in_parts(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    titles = [f"Crane {number} stops" for number in range(4 * PART_ROWS)]
    source = await add_source(any_house.service, publisher.publish("/feed", feed(*titles)))
    service = counting(any_house)
    outcome = await pull(service, source, any_house.fetcher)
    assert (outcome.run.created, outcome.run.updated, outcome.run.unchanged) == (len(titles), 0, 0)
    assert 1 < service.storage.writes <= len(titles) / PART_ROWS_MIN
    assert outcome.source is not None
    assert (outcome.source.health.status, outcome.source.health.items_last_run) == (
        "ok", len(titles),
    )  # fmt: skip


async def test_what_was_cut_off_between_two_parts_goes_on_at_the_next_reading(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    titles = [f"Crane {number} stops" for number in range(2 * PART_ROWS)]
    source = await add_source(any_house.service, publisher.publish("/feed", feed(*titles)))
    with pytest.raises(KilledError):
        await pull(counting(any_house, dies_after=1), source, any_house.fetcher)
    (remaining,) = await any_house.sources()
    assert (remaining.health.status, remaining.digest) == ("partial", None)
    assert (await any_house.row_counts())["news"] == PART_ROWS
    outcome = await pull(any_house.service, remaining, any_house.fetcher)
    assert (outcome.run.created, outcome.run.unchanged) == (PART_ROWS, PART_ROWS)
    assert outcome.source is not None
    assert outcome.source.health.status == "ok"
    assert (await any_house.row_counts())["news"] == len(titles)


async def test_a_source_that_is_removed_between_two_parts_gets_no_more(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    titles = [f"Crane {number} stops" for number in range(2 * PART_ROWS)]
    source = await add_source(any_house.service, publisher.publish("/feed", feed(*titles)))
    await any_house.service.system(lambda ctx: registry.remove_sources(ctx, [source.id]))
    outcome = await pull(any_house.service, source, any_house.fetcher)
    assert (outcome.status, await any_house.row_counts()) == ("removed", NO_ROWS)


async def test_the_same_document_twice_changes_nothing(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("Cranes stop", "Ferries sail"))
    first = await pull_new(any_house, url)
    before = await any_house.row_counts()
    any_house.clock.advance(3_600)
    second = await pull(any_house.service, first.source, any_house.fetcher)
    assert (second.status, second.run.created, second.run.updated) == ("unchanged", 0, 0)
    assert await any_house.row_counts() == before
    health = second.source.health
    assert health.last_success_at == any_house.clock.now()
    assert health.last_content_at == first.source.health.last_content_at


async def test_a_grown_document_brings_only_what_is_new(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("Cranes stop"))
    first = await pull_new(any_house, url)
    any_house.clock.advance(60)
    publisher.publish("/feed", feed("Cranes stop", "Ferries sail"))
    second = await pull(any_house.service, first.source, any_house.fetcher)
    assert (second.run.created, second.run.updated, second.run.unchanged) == (1, 0, 1)
    assert await any_house.row_counts() == {"news": 2, "news_texts": 2, "changes": 2}


async def test_a_corrected_item_is_updated_and_keeps_when_it_was_taken_in(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("Cranes stop", text="at noon"))
    first = await pull_new(any_house, url)
    instant = any_house.clock.now()
    any_house.clock.advance(60)
    publisher.publish("/feed", feed("Cranes stop", text="at one"))
    second = await pull(any_house.service, first.source, any_house.fetcher)
    assert (second.run.created, second.run.updated) == (0, 1)
    item = (await any_house.news())[0]
    assert (item.summary, item.retrieved_at) == ("at one", instant)
    assert await any_house.row_counts() == {"news": 1, "news_texts": 1, "changes": 2}


async def test_not_modified_is_a_success_without_news(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("Cranes stop"), headers={"ETag": '"1"'})
    first = await pull_new(any_house, url)
    publisher.publish("/feed", b"", status="304 Not Modified")
    second = await pull(any_house.service, first.source, any_house.fetcher)
    assert second.status == "unchanged"
    assert second.source.health.status == "ok"
    assert publisher.requests[1][1]["if-none-match"] == '"1"'


async def test_what_an_earlier_reader_read_is_fetched_and_read_again(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("Cranes stop"), headers={"ETag": '"1"'})
    source = (await pull_new(any_house, url)).source
    early = attrs.evolve(source, digest=source.digest.partition("-")[2])  # before states had names
    assert (await pull(any_house.service, early, any_house.fetcher)).status == "taken"
    assert "if-none-match" not in publisher.requests[1][1]
    assert (await any_house.source(source.id)).digest == source.digest


async def test_an_empty_feed_is_no_error(any_house: Any, publisher: Any, feed: Make) -> None:
    outcome = await pull_new(any_house, publisher.publish("/feed", feed()))
    assert (outcome.status, outcome.source.health.status) == ("taken", "ok")
    assert outcome.source.name == "The Pier"


async def test_a_file_is_a_source_as_well(any_house: Any, tmp_path: Path, feed: Make) -> None:
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "pier.xml").write_bytes(feed("Cranes stop"))
    (location,) = document_locations(str(tmp_path / "feeds"))
    assert (await pull_new(any_house, location)).run.created == 1
    assert (await pull_new(any_house, location)).status == "unchanged"


async def test_a_source_that_is_removed_meanwhile_brings_nothing(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    source = await add_source(any_house.service, publisher.url())

    async def remove(ctx: Context) -> None:
        await ctx.tx.documents.delete(SOURCES, source.id)

    await any_house.service.system(remove)
    for body, status in [(feed("A"), "200 OK"), (b"", "304 Not Modified"), (b"", "500 X")]:
        publisher.publish("/feed", body, status=status)
        outcome = await pull(any_house.service, source, any_house.fetcher)
        assert outcome == PullOutcome("removed", None)
    assert await any_house.row_counts() == NO_ROWS
    assert await any_house.sources() == []


async def test_what_a_document_says_of_itself_does_not_replace_a_given_name(
    house: Any, publisher: Any, feed: Make
) -> None:
    outcome = await pull_new(house, publisher.publish("/feed", feed("A")), name="Quay")
    assert outcome.source.name == "Quay"


async def test_a_renamed_source_is_read_anew(house: Any, publisher: Any, feed: Make) -> None:
    url = publisher.publish("/feed", feed("A"))
    await pull_new(house, url)
    assert (await pull_new(house, url, name="Quay")).run.updated == 1
    assert (await house.news())[0].source.name == "Quay"


async def test_an_unknown_topic_is_refused(house: Any) -> None:
    with pytest.raises(Problem):
        await add_source(house.service, "https://host.org/feed", topics=["gossip"])
    assert await house.sources() == []


# -- hostile and broken documents --------------------------------------------------------------

DOCUMENTS: list[tuple[str, Callable[[Make], bytes], str]] = [
    ("truncated", lambda make: make("Cranes stop", "Ferries sail")[:-60], "truncated"),
    ("HTML page", lambda _: b"<!doctype html><html><body>Moved</body></html>", "html"),
    ("a path", lambda _: b"/etc/passwd", "unrecognised"),
    ("empty", lambda _: b"", "empty"),
]
"""Of every kind one; `tests/core/formats` has them all."""


async def _check_refusal(house: Any, location: str, code: str) -> Source:
    outcome = await pull_new(house, location)
    assert outcome.status == "failed"
    assert await house.row_counts() == NO_ROWS
    source = await house.source(outcome.source.id)
    assert source.health.status == "error"
    assert source.health.error.code == code
    assert source.health.error.message.endswith(".")
    assert source.health.consecutive_failures == 1
    assert source.health.last_success_at is None
    assert source.health.next_attempt_at > house.clock.now()
    assert (source.digest, source.etag) == (None, None)
    return source


@pytest.mark.parametrize(
    ("body", "code"), [row[1:] for row in DOCUMENTS], ids=[row[0] for row in DOCUMENTS]
)
async def test_a_document_that_is_no_whole_feed_is_refused_with_its_reason(
    house: Any, publisher: Any, feed: Make, body: Callable[[Make], bytes], code: str
) -> None:
    url = publisher.publish("/feed", body(feed), headers={"ETag": '"1"'})
    await _check_refusal(house, url, code)


async def test_a_body_that_is_a_path_is_never_opened(
    house: Any, publisher: Any, tmp_path: Path, feed: Make
) -> None:
    (tmp_path / "secret.xml").write_bytes(feed("Secret"))
    url = publisher.publish("/feed", str(tmp_path / "secret.xml").encode())
    await _check_refusal(house, url, "unrecognised")


def _slow(publisher: Any) -> str:
    return str(publisher.stall("/feed"))


def _private(publisher: Any) -> str:
    return str(publisher.redirect("/feed", "http://10.0.0.1/feed"))


def _failing(publisher: Any) -> str:
    return str(publisher.publish("/feed", b"<rss/>", status="500 Internal Server Error"))


def _missing(_: Any) -> str:
    return "/nowhere/feed.xml"


SERVERS = [
    (_slow, "timeout", None),
    (_private, "deniedAddress", None),
    (_failing, "httpStatus", 500),
    (_missing, "notFound", None),
]


@pytest.mark.parametrize(("script", "code", "status"), SERVERS)
async def test_a_server_that_is_not_well_is_refused_with_its_reason(
    house: Any, publisher: Any, script: Callable[[Any], str], code: str, status: int | None
) -> None:
    limits = FetchLimits(body_bytes=2**20, total_seconds=1.0 if code == "timeout" else 60.0)
    async with Fetcher(exceptions=LOOPBACK, limits=limits) as house.fetcher:
        source = await _check_refusal(house, script(publisher), code)
    assert source.health.http_status == status


async def test_a_source_that_fails_again_is_asked_less_often_and_recovers(
    house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", b"", status="500 X")
    waits = []
    for _ in range(3):
        outcome = await pull_new(house, url, cadence_seconds=600)
        waits.append((outcome.source.health.next_attempt_at - house.clock.now()).seconds)
    assert waits == [600, 1_200, 2_400]
    publisher.publish("/feed", feed("A"))
    health = (await pull_new(house, url)).source.health
    assert (health.status, health.error, health.consecutive_failures) == ("ok", None, 0)


async def test_a_missing_library_is_told_in_the_health(
    house: Any, publisher: Any, feed: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def without(*_: Any, **__: Any) -> None:
        raise MissingExtra("feedparser")

    monkeypatch.setattr(ingest, "read_document", without)
    outcome = await pull_new(house, publisher.publish("/feed", feed("A")))
    assert outcome.source.health.error.code == "missingExtra"
    assert "pip install" in outcome.source.health.error.message


# -- many sources ------------------------------------------------------------------------------


async def test_all_are_pulled_in_their_order_and_progress_is_told(
    any_house: Any, tmp_path: Path, feed: Make
) -> None:
    for number in range(20):
        body = feed(f"Item {number}", folder=f"{number}/") if number % 5 else b""
        (tmp_path / f"{number:02}.xml").write_bytes(body)
    sources = [
        await add_source(any_house.service, place)
        for place in document_locations(str(tmp_path))
        if place.endswith(".xml")
    ]
    outcomes_as_they_came: list[PullOutcome] = []
    outcomes = await pull_all(
        any_house.service, sources, any_house.fetcher, outcomes_as_they_came.append
    )
    assert [outcome.source.id for outcome in outcomes] == [source.id for source in sources]
    assert sorted(outcomes_as_they_came, key=lambda o: o.source.id) == sorted(
        outcomes, key=lambda o: o.source.id
    )
    assert [o.status for o in outcomes] == ["taken" if n % 5 else "failed" for n in range(20)]
    assert (await any_house.row_counts())["news"] == 16


async def test_no_sources_are_pulled_at_once(house: Any) -> None:
    assert await pull_all(house.service, [], house.fetcher) == ()


async def test_what_is_due_is_pulled_and_then_waits_its_cadence(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    url = publisher.publish("/feed", feed("A"))
    await add_source(any_house.service, url, cadence_seconds=600)
    assert [o.status for o in await pull_due(any_house)] == ["taken"]
    any_house.clock.advance(599)
    assert await pull_due(any_house) == ()
    any_house.clock.advance(1)
    assert [o.status for o in await pull_due(any_house)] == ["unchanged"]


class KilledProcess(BaseException):
    """The end of a process, as far as a test can have it."""


async def test_a_claimed_source_is_left_alone_until_the_claim_runs_out(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    """A worker that is killed while it reads leaves the source to the next one."""

    class Dying:
        async def fetch(self, *_: Any, **__: Any) -> Any:
            raise KilledProcess

    url = publisher.publish("/feed", feed("A"))
    await add_source(any_house.service, url)
    with pytest.raises(BaseExceptionGroup):
        await SourceLanes(any_house.service, Dying()).pull_due()  # type: ignore[arg-type]
    assert await any_house.row_counts() == NO_ROWS
    assert await pull_due(any_house) == ()
    any_house.clock.advance(CLAIM.total_seconds())
    assert [o.run.created for o in await pull_due(any_house)] == [1]


async def test_a_worker_that_is_told_to_end_gives_back_what_it_has_not_read(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    for number in range(12):  # more than are asked for at once
        url = publisher.publish(f"/{number}", feed(f"Item {number}", folder=f"{number}/"))
        publisher.stall(f"/{number}")
        await add_source(any_house.service, url)
    async with Fetcher(exceptions=LOOPBACK) as own:
        ending = asyncio.create_task(SourceLanes(any_house.service, own).pull_due())
        with anyio.fail_after(60):
            while not publisher.requests:
                await anyio.lowlevel.checkpoint()
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
    assert await any_house.row_counts() == NO_ROWS
    publisher.closing.set()
    for number in range(12):
        publisher.publish(f"/{number}", feed(f"Item {number}", folder=f"{number}/"))
    assert [o.run.created for o in await pull_due(any_house)] == [1] * 12


async def test_of_two_workers_one_reads_a_source(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    for number in range(5):
        url = publisher.publish(f"/{number}", feed(f"Item {number}"))
        await add_source(any_house.service, url)
    outcomes: list[PullOutcome] = []

    async def work() -> None:
        outcomes.extend(await pull_due(any_house))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(work)
    assert [outcome.status for outcome in outcomes] == ["taken"] * 5
    assert len(publisher.requests) == 5


async def test_what_is_read_on_demand_is_read_by_no_worker_meanwhile(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    """Else the run of one of them finds the rows of the other, and tells of none that are new."""
    url = publisher.publish("/feed", feed("A"))
    source = await add_source(any_house.service, url)
    other_outcomes: list[PullOutcome] = []

    class InterruptedFetcher:
        async def fetch(self, *positional: Any, **options: Any) -> Any:
            other_outcomes.extend(await pull_due(any_house))
            return await any_house.fetcher.fetch(*positional, **options)

    outcomes = await pull_now(any_house.service, [source], InterruptedFetcher())  # type: ignore[arg-type]
    assert other_outcomes == []
    assert [outcome.run.created for outcome in outcomes] == [1]
    any_house.clock.advance(source.cadence_seconds)
    assert len(await pull_due(any_house)) == 1


async def test_the_loop_takes_in_what_becomes_due_and_ends_when_cancelled(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    publisher.publish("/feed", feed("A"))
    has_news = anyio.Event()

    async def watch() -> None:
        await add_source(any_house.service, publisher.url())
        while not await any_house.news():
            await anyio.lowlevel.checkpoint()
        has_news.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(
            lambda: ingest_loop(any_house.service, any_house.fetcher, round_seconds=0.01)
        )
        tasks.start_soon(watch)
        with anyio.fail_after(60):
            await has_news.wait()
        tasks.cancel_scope.cancel()


async def test_an_address_that_does_not_answer_keeps_no_other_waiting(
    any_house: Any, publisher: Any, feed: Make
) -> None:
    """It has more due sources than a round reads, all of them due before the other's."""
    asked = anyio.Event()

    class Slow:
        async def fetch(self, location: str, **options: Any) -> Any:
            if urlsplit(location).hostname == "slow.example":
                asked.set()
                await anyio.sleep_forever()
            return await any_house.fetcher.fetch(location, **options)

    for number in range(ROUND_SOURCES_MAX + 6):
        await add_source(any_house.service, f"https://slow.example/{number}")
    slow: Any = Slow()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: ingest_loop(any_house.service, slow, round_seconds=0.01))
        with anyio.fail_after(60):
            await asked.wait()
            any_house.clock.advance(1)
            await add_source(any_house.service, publisher.publish("/feed", feed("A")))
            while not await any_house.news():
                await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    due = await any_house.storage.across(SOURCES, end=micros(any_house.clock.now()), limit=99)
    slow_rows = [row for row in due if b"slow.example" in row.document.raw]
    assert len(slow_rows) == ROUND_SOURCES_MAX + 6  # given back, so that others may ask at once


async def test_a_round_takes_few_sources_of_a_host_and_every_host_has_its_turn(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More are due at the first host than one look sees; it goes on where the last one ended."""
    monkeypatch.setattr(ingest, "LOOK_MAX", HOST_SOURCES_MAX + 3)
    rounds = []

    class Silent:
        async def fetch(self, location: str, **_: Any) -> Any:
            rounds[-1].append(urlsplit(location).hostname)
            raise FetchRefusal("timeout", "It did not answer.")

    for number in range(2 * HOST_SOURCES_MAX):
        await add_source(any_house.service, f"https://crowd.example/{number}")
    any_house.clock.advance(1)
    for host in ("a.example", "b.example"):
        await add_source(any_house.service, f"https://{host}/")
    silent: Any = Silent()
    lanes = SourceLanes(any_house.service, silent)
    for _ in range(3):
        rounds.append([])
        await lanes.pull_due()
    assert {host for hosts in rounds for host in hosts} == {
        "crowd.example",
        "a.example",
        "b.example",
    }
    assert max(hosts.count("crowd.example") for hosts in rounds) == HOST_SOURCES_MAX
