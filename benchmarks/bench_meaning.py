"""How long a report takes by meaning, and before its items have vectors, against words alone.

    python benchmarks/bench_meaning.py [--quick]

A SQLite file holds 1,000 items (200 with --quick) of invented stories, about three quarters of
which meet the subject. One profile is reported by a service without a model, by one whose items
have no vectors yet, and by one whose items all have one, in turn. Directions of vectors are random,
so that of the items without a word of the subject some are added, as from a real model; the time
that a real model takes for the subject (0.05 s for e5) is not in it. Time is everything from the
profile to the composed report, on the wall.

Exit code 3 when a report by meaning takes longer than the goal.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import median

import attrs
from bench_knowledge import TENANT, Random
from bench_report import NOW, SUBJECT, evidence
from bench_retrieval import EPOCH, write_batch
from outcome import close_run, is_quick

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.intel.news.items import RowChange
from svc_core.intel.news.model import NewsItem, NewsSource, NewsText, Sentiment
from svc_core.operation.host import Host
from svc_core.reports.composition import Window
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import ProfileInput
from svc_core.reports.report_runs import compose_report
from svc_core.search import corpus
from svc_core.search.vector_likeness import Embedder
from svc_http import system
from svc_http.outside.embeddings.model import Embeddings
from svc_http.service.service_units import Service
from svc_http.service.workers import source_pulls as intake
from svc_http.service.workers.item_vectors import VectorWork
from svc_http.stores import SqliteStorage
from svc_http.stores.counters.in_process import in_memory

SECONDS_GOAL = 3.0


def changes(count: int) -> list[RowChange]:
    """The items as they are taken in."""
    rows = []
    for item in evidence(count):
        source = NewsSource(item.source_id, item.source_name, item.source_domain, None)
        row = NewsItem(
            id=item.id,
            title=item.title,
            summary=item.text,
            url=item.url,
            sentiment=Sentiment(None, None),
            published_at=item.published_at,
            updated_at=None,
            retrieved_at=item.retrieved_at,
            source=source,
            language="en",
            authors=(),
            topics=(),
            image_url=None,
            source_url=None,
        )
        text = NewsText(row.id, row.retrieved_at, item.title, item.text, "en").with_terms()
        rows.append(RowChange(None, row, text))
    return rows


async def fill(service: Service, count: int) -> str:
    """Take in the items, without vectors; the id of the profile."""
    rows = changes(count)
    for start in range(0, count, 200):
        batch = rows[start : start + 200]
        await service.system(partial(write_batch, batch=batch))
    await intake.tidy(service)
    request = profiles.CreateProfile(ProfileInput("Ports", SUBJECT, "manual"))
    creation = await service.write(TENANT, lambda ctx: profiles.create_profile(ctx, request))
    return str(creation.location.rpartition("/")[2])


async def embed(service: Service, embedder: Embedder) -> None:
    """Make all vectors."""
    work = VectorWork(service, embedder, in_memory().leases)
    while await work.work():  # a page of items each
        pass


async def seconds(services: Sequence[Service], profile_id: str, methods: set[str]) -> list[float]:
    """The time of one report by each service; `methods` gets how their items were found."""
    took = []
    for service in services:
        began = time.perf_counter()
        report = await compose_report(service, TENANT, profile_id, Window(NOW))
        took.append(time.perf_counter() - began)
        methods.add(str(report.row.method))
    return took


async def measure(folder: Path, count: int, rounds: int) -> list[float]:
    """The median time of a report by words, before there are vectors, and by meaning."""
    store = SqliteStorage.open(folder / "svc.db", catalog.COLLECTIONS, epoch=EPOCH)
    ring, embedder = Keyring({1: b"k" * 32}, 1), Embeddings(Random())
    host = Host(providers={corpus.Tables: corpus.Tables()})
    plain = Service(
        store, system.SystemIds(), system.now, ring, plans=plans.PRESETS["default"], host=host
    )
    lends = {**host.providers, Embedder: embedder}
    semantic = attrs.evolve(plain, host=attrs.evolve(host, providers=lends))
    profile_id, methods = await fill(plain, count), set[str]()
    before = [await seconds((plain, semantic), profile_id, methods) for _ in range(rounds)]
    assert methods == {"lexical"}
    await embed(plain, embedder)
    after = [await seconds((plain, semantic), profile_id, methods) for _ in range(rounds)]
    assert methods == {"lexical", "hybrid"}
    await store.close()
    words = median(took[0] for took in (*before, *after))
    return [words, median(took[1] for took in before), median(took[1] for took in after)]


def main() -> int:
    """Measure, print, judge."""
    count, rounds = (200, 3) if is_quick() else (1_000, 5)
    with tempfile.TemporaryDirectory() as folder:
        words, waiting, meaning = asyncio.run(measure(Path(folder), count, rounds))
    for name, took in (("words", words), ("no vectors yet", waiting), ("meaning", meaning)):
        print(f"{name:16} {took:6.2f} s {took / words:6.2f} times")
    figure = f"{meaning:.2f} s for {count:,}; {meaning / words:.1f} times words"
    return close_run(meaning <= SECONDS_GOAL, figure)


if __name__ == "__main__":
    sys.exit(main())
