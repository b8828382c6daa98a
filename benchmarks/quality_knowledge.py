"""What share of the reports about a question the knowledge finds, by words and by both.

    python benchmarks/quality_knowledge.py [e5|minilm]

Needs the extra `semantic`. The reports and the questions are made by hand, each question with the
reports that it is about: most of them share few words, as people do not ask in the words of a
report. Exit code 1 when a goal is missed.
"""

import asyncio
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from svc_core import catalog
from svc_core.access import plans
from svc_core.base.seals import Keyring
from svc_core.knowledge.index_upkeep import process_index
from svc_core.knowledge.retrieval import retrieve
from svc_core.knowledge.rows import KnowledgeQuery, Mode
from svc_core.operation.caller import Actor
from svc_core.operation.host import Host
from svc_core.reports.model import (
    Period,
    ReportContent,
    ReportCounts,
    ReportFacets,
    ReportLinks,
    ReportRow,
)
from svc_core.reports.report_index import REPORT_INDEX, index_report
from svc_core.search.vector_likeness import Embedder
from svc_http import system
from svc_http.outside.embeddings.local_model import LOCAL_KINDS, LocalModel
from svc_http.outside.embeddings.model import Embeddings
from svc_http.service.service_units import Service
from svc_http.stores import MemoryStorage

DATA = Path(__file__).parent / "data"
TENANT = "wsp_" + "0" * 24
AT = 10
HYBRID_GOAL = 0.9
START = datetime(2026, 1, 1, tzinfo=UTC)
MODES: tuple[Mode, ...] = ("lexical", "semantic", "hybrid")


def lines(name: str) -> list[list[str]]:
    """The rows of a table."""
    text = (DATA / f"knowledge_{name}.tsv").read_text("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def report(number: int, name: str, title: str, text: str) -> tuple[ReportRow, ReportFacets]:
    """One report, a day after the other."""
    end = START + timedelta(days=number)
    period, links = Period(end - timedelta(days=1), end), ReportLinks("", None, "", "", "")
    counts = ReportCounts(1, 0, 0, 0)
    row = ReportRow(
        name, "prf_" + "0" * 24, title, text, "en", end, period, "ready", False, counts, links
    )
    facets = ReportFacets(
        (), (), (), (), (), report_id=name, digest="", signals=(), graph=None,
        content=ReportContent("", ""), text=f"{title}\n\n{text}",
    )  # fmt: skip
    return row, facets


async def recalls(model: str) -> dict[Mode, float]:
    """The mean share of its reports that a question has among the first ten, by mode."""
    embedder = Embeddings(LocalModel(LOCAL_KINDS[model]))
    host, ring = Host(providers={Embedder: embedder}), Keyring({1: b"k" * 32}, 1)
    store = MemoryStorage(catalog.COLLECTIONS)
    service = Service(
        store, system.SystemIds(), system.now, ring, plans=plans.PRESETS["default"], host=host
    )
    for number, members in enumerate(lines("reports")):
        row, facets = report(number, *members)
        await service.write(TENANT, partial(index_report, row=row, facets=facets))
    while await process_index(service, TENANT, REPORT_INDEX, embedder) is not None:
        pass
    ctx = service.context(Actor(TENANT))
    recall_of: dict[Mode, float] = {}
    questions = lines("questions")
    for mode in MODES:
        shares = []
        for question, names in questions:
            report_ids = set(names.split(","))
            query = KnowledgeQuery(question, kinds=("report",), limit=AT, mode=mode)
            rows = (await retrieve(ctx, query)).rows
            shares.append(len(report_ids & {row.id for row in rows}) / len(report_ids))
        recall_of[mode] = sum(shares) / len(shares)
    return recall_of


def main() -> int:
    """Measure, print, judge."""
    shares = asyncio.run(recalls(sys.argv[1] if sys.argv[1:] else "e5"))
    print(f"{'knowledge':12} {f'recall@{AT}':>10}")
    for mode, share in shares.items():
        print(f"{mode:12} {share:>10.3f}")
    is_met = shares["hybrid"] >= max(HYBRID_GOAL, shares["lexical"])
    print(
        f"goal: hybrid at least {HYBRID_GOAL}, and not below lexical{'' if is_met else ' MISSED'}"
    )
    return int(not is_met)


if __name__ == "__main__":
    sys.exit(main())
