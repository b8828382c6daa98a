"""How long it takes to find what is about a question, as the store grows a hundredfold.

    python benchmarks/bench_retrieval.py [--quick] [--postgres]

Items of invented words, common and rare as words are (Zipf), are taken into a small store and into
a large one: 1,000 and 100,000 items, 10,000 with --quick. Retrieval is everything from the words of
a question to its ranking: frequencies, candidates, their terms, scores. Asked are the newest 1,000
items of both stores, and all items. The stores are SQLite files, or are in a PostgreSQL server of
the benchmark's own.

Exit code 3 when a goal is missed.
"""

import argparse
import asyncio
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
from attrs import frozen
from database import postgres
from outcome import close_run

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.intel.news.items import RowChange, follow_news
from svc_core.intel.news.model import NEWS, NEWS_TEXTS, NewsItem, NewsSource, NewsText, Sentiment
from svc_core.intel.news.news_corpus import ITEMS, news_evidence
from svc_core.operation.context import Context
from svc_core.operation.host import Host
from svc_core.operation.members import micros
from svc_core.operation.ports import SYSTEM, Storage
from svc_core.reports.composition import CANDIDATES_MAX
from svc_core.search import corpus
from svc_core.text.evidence import reading_of
from svc_core.text.query import Query
from svc_core.text.ranking import rank
from svc_http import system
from svc_http.service.service_units import Service
from svc_http.service.workers import source_pulls as intake
from svc_http.stores import SqliteStorage
from svc_http.stores.postgres import PostgresStorage

WINDOW = 1_000
GROWTH_GOAL = 3.0
ALL_GOAL_MS = 50.0
QUESTIONS = 24
WORDS = 60_000
EPOCH = b"12345678"
Times = tuple[float, float]
"""The median and the largest, in milliseconds."""
START = datetime(2026, 1, 1, tzinfo=UTC)
_SOURCE = NewsSource("src_" + "0" * 24, "Paper", "paper.example", None)


class Language:
    """Invented words, of which the n-th is used as often as 1 / n."""

    def __init__(self) -> None:
        chance = random.Random(7)
        words = {"".join(chance.choices("aeioulnrstdmpkbg", k=6)) for _ in range(WORDS)}
        self.words = sorted(words)
        chance.shuffle(self.words)
        self.weights = list(accumulate(1 / (place + 8) for place in range(len(self.words))))

    def text(self, chance: random.Random, length: int) -> str:
        """So many words, with the repeats that a text has."""
        return " ".join(chance.choices(self.words, cum_weights=self.weights, k=length))

    def questions(self) -> list[str]:
        """Two to five words each, from common to rare."""
        chance = random.Random(11)
        pick = partial(chance.choice, self.words[20:3_000])
        return [" ".join(pick() for _ in range(2 + number % 4)) for number in range(QUESTIONS)]


def item(number: int, language: Language) -> RowChange:
    """One item; they are taken in one minute after another."""
    chance = random.Random(number)
    at = START + timedelta(minutes=number)
    title, text = language.text(chance, 9), language.text(chance, 80)
    row = NewsItem(
        id=f"obs_{number:024x}",
        title=title,
        summary=text,
        url=f"https://paper.example/{number}",
        sentiment=Sentiment(None, None),
        published_at=at,
        updated_at=None,
        retrieved_at=at,
        source=_SOURCE,
        language="en",
        authors=(),
        topics=(),
        image_url=None,
        source_url=None,
    )
    return RowChange(None, row, NewsText(row.id, at, title, text, "en").with_terms())


async def write_batch(ctx: Context, batch: Sequence[RowChange]) -> None:
    """Keep these items."""
    for item in batch:
        await ctx.save(NEWS, item.after.id, item.after)
    await follow_news(ctx, batch)


async def fill(storage: Storage, numbers: range, language: Language) -> Service:
    """A store with these items."""
    ring = Keyring({1: b"k" * 32}, 1)
    host = Host(providers={corpus.Tables: corpus.Tables()})
    service = Service(
        storage, system.SystemIds(), system.now, ring, plans=plans.PRESETS["default"], host=host
    )
    for at in range(0, len(numbers), 200):
        batch = [item(number, language) for number in numbers[at : at + 200]]
        await service.system(partial(write_batch, batch=batch))
    await intake.tidy(service)
    return service


@frozen
class Question:
    """A question of a store: its words, and from when on."""

    words: str
    start: datetime | None

    async def __call__(self, ctx: Context) -> int:
        """How many items were chosen."""
        query = Query.of(self.words)
        table = await corpus.term_frequencies(ctx, ITEMS)
        start = None if self.start is None else micros(self.start)
        candidates = await corpus.candidate_ids(
            ctx, query.terms, table, texts=NEWS_TEXTS, start=start, limit=CANDIDATES_MAX
        )
        readings = [reading_of(item) for item in await news_evidence(ctx, candidates)]
        return len(rank(query, readings, table).hits)


async def milliseconds(service: Service, questions: Sequence[Question]) -> Times:
    """The times of some questions, each the best of three; CPU time where this process has all."""
    clock = time.process_time if isinstance(service.storage, SqliteStorage) else time.perf_counter
    took = []
    for question in questions:
        best = float("inf")
        for _ in range(3):
            began = clock()
            await service.read(SYSTEM, question)
            best = min(best, clock() - began)
        took.append(best * 1_000)
    return statistics.median(took), max(took)


async def measure(storage: Any, numbers: range) -> tuple[Times, Times]:
    """Times of questions of the newest items, and of all."""
    language = Language()
    service = await fill(storage, numbers, language)
    since = START + timedelta(minutes=numbers[-1] - WINDOW + 1)
    questions_of_window = [Question(words, since) for words in language.questions()]
    whole = [Question(words, None) for words in language.questions()]
    times = await milliseconds(service, questions_of_window), await milliseconds(service, whole)
    await storage.close()
    return times


async def run(size: int, stores: Callable[[str], Awaitable[Any]]) -> list[tuple[Times, Times]]:
    """The times of the small store and of the large one, whose newest items are the same."""
    return [
        await measure(await stores(name), range(first, size))
        for name, first in (("small", size - WINDOW), ("large", 0))
    ]


def in_files(size: int) -> list[tuple[Times, Times]]:
    """The times of SQLite files."""
    with tempfile.TemporaryDirectory() as folder:

        async def make_store(name: str) -> SqliteStorage:
            path = Path(folder) / f"{name}.db"
            return SqliteStorage.open(path, catalog.COLLECTIONS, epoch=EPOCH)

        return asyncio.run(run(size, make_store))


def in_a_server(size: int) -> list[tuple[Times, Times]]:
    """The times of PostgreSQL."""
    with postgres() as server:

        async def make_store(name: str) -> PostgresStorage:
            connection = await asyncpg.connect(server.dsn)
            await connection.execute(f"CREATE DATABASE {name}")
            await connection.close()
            dsn = urlsplit(server.dsn)._replace(path=f"/{name}").geturl()
            return await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=EPOCH)

        return asyncio.run(run(size, make_store))


def main() -> int:
    """Measure, print, judge."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--quick", action="store_true", help="10,000 items, not 100,000")
    arguments.add_argument("--postgres", action="store_true", help="PostgreSQL, not SQLite")
    options = arguments.parse_args()
    size = 10_000 if options.quick else 100_000
    (few, _), (times_many, whole) = (in_a_server if options.postgres else in_files)(size)
    growth = times_many[0] / few[0]
    goal = float("inf") if options.postgres else ALL_GOAL_MS  # a server's times are shown alone
    rows = [
        (f"newest {WINDOW:,} of {WINDOW:,}, ms", few, "", True),
        (f"newest {WINDOW:,} of {size:,}, ms", times_many, f"{growth:.1f}x", growth <= GROWTH_GOAL),
        (f"all of {size:,}, ms", whole, f"<= {goal:g} ms", whole[0] <= goal),
    ]
    print(f"{'retrieval':28} {'median':>8} {'most':>8}")
    for name, (median, slowest), note, is_met in rows:
        print(f"{name:28} {median:>8.1f} {slowest:>8.1f}  {note}{'' if is_met else ' MISSED'}")
    figure = f"{growth:.1f} times; {whole[0]:.0f} ms of {size:,}"
    return close_run(all(is_met for *_, is_met in rows), figure)


if __name__ == "__main__":
    sys.exit(main())
