"""Reports and signals are indexed, and found by words and by meaning, in every store."""

import asyncio
from typing import Any

import attrs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from svc_core.access import operations as accounts
from svc_core.catalog.tools import CatalogueTools
from svc_core.contract.problem import Problem
from svc_core.intel.signals import detectors
from svc_core.intel.signals.operations import DismissSignal, dismiss_signal
from svc_core.intel.signals.signal_index import SIGNAL_INDEX
from svc_core.knowledge import index_upkeep as reindexing
from svc_core.knowledge import retrieval as retrieving
from svc_core.knowledge.index_upkeep import (
    process_index,
    queue_reindex,
    reindex_knowledge,
)
from svc_core.knowledge.retrieval import TimeLimit
from svc_core.operation.caller import Actor
from svc_core.operation.context import Context
from svc_core.operation.members import NoMembers
from svc_core.operation.parsing import Site
from svc_core.operation.ports import SYSTEM, SharedUnavailable
from svc_core.reports.profiles.model import (
    LEAVING,
    PROFILES,
    PUBLICATIONS,
    Leaving,
    Profile,
    Publication,
)
from svc_core.reports.recordings import forget_reports
from svc_core.reports.report_index import REPORT_INDEX
from svc_core.reports.report_index import unindex_reports as forget_indexed
from svc_core.search import indexing
from svc_core.search.corpus import Tables, next_merge, term_frequencies
from svc_core.search.indexing import WHOLE_INDEX, IndexDue
from svc_core.search.vector_likeness import Embedder, NotEmbedded
from svc_core.testing.clock import START
from svc_http.outside.embeddings.model import Embeddings
from svc_http.service.commits import Commits
from svc_http.service.workers import leased_work
from svc_http.service.workers.index_turns import IndexWork
from svc_http.stores.counters.in_process import in_memory
from tests.counted import Counted, KilledError
from tests.knowledge import PROFILE, STRANGER, TENANT, ask, make_report, put
from tests.meaning import Meaning
from tests.sampling import examples

EVIDENCE = detectors.signal_evidence(1, 0, START, START)
pytestmark = pytest.mark.anyio
REPORTS = (
    make_report(
        1, "Port strike in Antwerp", "Dockworkers walked out. The port is shut.", signals=2
    ),
    make_report(2, "A storm nears the coast", "Ships stay in the harbour.", days=10),
    make_report(
        3, "The lender keeps its rate", "The bank waits.", profile="prf_" + "2" * 24, days=20
    ),
)


async def store(service: Any, *reports: Any, tenant: str = TENANT, **how: Any) -> None:
    for row, facets in reports:
        await service.write(tenant, lambda ctx, r=row, f=facets: put(ctx, r, f, **how))


async def spot(service: Any, *titles: str) -> list[str]:
    """Signals of sources; their ids."""
    signals = [
        detectors.signal_of("kevAdded", title, title, EVIDENCE, sources=()) for title in titles
    ]
    await service.system(lambda ctx: detectors.write_signals(ctx, signals))
    return [signal.id for signal in signals]


def lending(service: Any, model: Meaning | None = None, **lends: Any) -> Any:
    """The service with a model."""
    model_port = {} if model is None else {Embedder: Embeddings(model)}
    host = attrs.evolve(service.host, providers={Tables: Tables(), **model_port, **lends})
    return attrs.evolve(service, host=host)


def working(service: Any, model: Meaning | None = None) -> IndexWork:
    embedder = None if model is None else Embeddings(model)
    return IndexWork(service, embedder, in_memory(lambda: 0.0).leases)


async def row_counts(
    service: Any, tenant: str = TENANT, index: Any = REPORT_INDEX
) -> dict[str, int]:
    async def count(ctx: Context) -> dict[str, int]:
        collections = {"texts": index.texts, "vectors": index.vectors, "due": index.due}
        counts = {
            name: await ctx.tx.documents.count(collection, limit=999)
            for name, collection in collections.items()
        }
        return {**counts, "table": (await term_frequencies(ctx, index.corpus)).total}

    counts: dict[str, int] = await service.read(tenant, count)
    return counts


async def workspace(service: Any) -> str:
    create = accounts.create_workspace
    creation = await service.system(
        lambda c: create(c, name="W", plan="elite", plans=service.plans)
    )
    return str(creation.id)


async def reindex(service: Any) -> Any:
    return (await reindex_knowledge(service.context(Actor(SYSTEM)), NoMembers())).raw


def ids(rows: Any) -> list[str]:
    return [row["id"] for row in rows]


# -- by words ----------------------------------------------------------------------------------


async def test_reports_their_signals_and_those_of_sources_are_found_with_all_that_is_told(
    any_house: Any,
) -> None:
    service = any_house.service
    await store(service, *REPORTS)
    (spotted_id,) = await spot(service, "Strike force malware exploited")
    rows, meta = await ask(service, "port strikes in Antwerp")
    assert meta["mode"] == "lexical"
    assert meta["bounds"] == {
        "limit": 10, "candidatesMax": 200, "bytesMax": 4_194_304, "millisecondsMax": 10_000,
    }  # fmt: skip
    first = next(row for row in rows if row["kind"] == "report")
    path = "/api/v1/reports/rpt_" + f"{1:024x}"
    assert first["links"] == {"self": path, "report": path}
    assert first["matchedTerms"] == ["Antwerp", "strikes", "port"]
    assert first["occurredAt"] == "2026-01-02T03:04:05Z"
    highlights = [
        first["excerpt"]["text"][h["start"] : h["end"]] for h in first["excerpt"]["highlights"]
    ]
    assert highlights == ["port"]
    assert first["scores"]["semantic"] is None
    signal = next(row for row in rows if row["title"].endswith("(0)"))
    assert signal["links"] == {"self": f"{path}/signals", "report": path}
    signal_row = next(row for row in rows if row["id"] == spotted_id)
    assert signal_row["links"] == {"self": f"/api/v2/signals/{spotted_id}", "report": None}
    scores = [row["scores"]["fused"] for row in rows]
    assert scores == [round(1 / (60 + rank), 6) for rank in range(1, len(rows) + 1)]


async def test_what_is_asked_narrows_what_is_found(any_house: Any) -> None:
    service = any_house.service
    await store(service, *REPORTS)
    await spot(service, "Port scanner exploited", "A storm of requests")
    every, _ = await ask(service, "port strike storm bank")
    assert len(every) == 7
    reports, _ = await ask(service, "port strike storm bank", kinds=["report"])
    assert {row["kind"] for row in reports} == {"report"}
    assert len(reports) == 3
    signals, _ = await ask(service, "port strike storm bank", kinds=["signal"])
    assert {row["kind"] for row in signals} == {"signal"}
    assert len(signals) == 4
    assert ids((await ask(service, "bank storm", profileIds=["prf_" + "2" * 24]))[0]) == [
        REPORTS[2][0].id
    ]
    span = {"start": "2025-12-13T03:04:05Z", "end": "2025-12-23T03:04:05Z"}
    assert ids((await ask(service, "bank storm strike", period=span))[0]) == [REPORTS[2][0].id]
    late = {"start": "2025-12-23T03:04:05Z"}
    assert REPORTS[1][0].id in ids((await ask(service, "bank storm", period=late))[0])
    assert len((await ask(service, "port strike storm bank", limit=2))[0]) == 2
    assert (await ask(service, "port -antwerp", kinds=["report"]))[0] == []
    assert (await ask(service, "the of and"))[0] == []


async def test_nothing_of_another_tenant_is_found_or_counts(any_house: Any) -> None:
    service = any_house.service
    await store(service, *REPORTS)
    await spot(service, "A storm of requests")
    before = await ask(service, "strike storm")
    strangers = [
        make_report(n, "Port strike storm", "strike " * n, profile=PROFILE) for n in range(9, 30)
    ]
    await store(service, *strangers, tenant=STRANGER)
    assert await ask(service, "strike storm") == before
    assert (await ask(service, "strike storm", STRANGER))[0] != before[0]
    foreign = {"profileIds": ["prf_" + "2" * 24]}
    assert (await ask(service, "bank", STRANGER, **foreign))[0] == []


# -- public profiles of others -----------------------------------------------------------------


async def publish(service: Any, profile_id: str, tenant: str, visibility: Any = "public") -> None:
    """Have a profile, public or private, of which there are reports."""
    at, name = service.now(), "Ports"
    whole = (profile_id, name, name, "manual", None, None, "UTC", "en", (), "active")
    profile = Profile(*whole, at, at, visibility=visibility)
    await service.write(tenant, lambda ctx: ctx.save(PROFILES, profile_id, profile))
    row = Publication(profile_id, tenant, at)
    await service.system(lambda ctx: ctx.save(PUBLICATIONS, profile_id, row))


async def test_public_reports_of_others_are_found_with_their_signals(any_house: Any) -> None:
    service, private_id = any_house.service, "prf_" + "2" * 24
    await store(service, *REPORTS)
    await spot(service, "Port scanner exploited")
    own, _ = await ask(service, "port strike bank")
    assert ids((await ask(service, "strike bank", STRANGER))[0]) == []
    await publish(service, PROFILE, TENANT)
    await publish(service, private_id, TENANT, "private")  # whatever the directory says
    assert (await ask(service, "port strike bank"))[0] == own, "one's own are weighed as before"
    rows, _ = await ask(service, "strike bank", STRANGER)
    assert {row["kind"] for row in rows} == {"report", "signal"}
    assert {row["links"]["report"] for row in rows} == {f"/api/v1/reports/{REPORTS[0][0].id}"}
    reports, _ = await ask(service, "strike", STRANGER, kinds=["report"])
    assert ids(reports) == [REPORTS[0][0].id]
    assert ids((await ask(service, "strike bank", STRANGER, profileIds=[PROFILE]))[0]) == ids(rows)
    assert (await ask(service, "strike bank", STRANGER, profileIds=[private_id]))[0] == []
    private = [make_report(n, "Strike", "strike " * n, profile=private_id) for n in range(9, 30)]
    await store(service, *private)
    assert (await ask(service, "strike bank", STRANGER))[0] == rows, (
        "private ones count in no score"
    )
    await publish(service, PROFILE, TENANT, "private")
    assert (await ask(service, "strike bank", STRANGER))[0] == []


async def test_public_reports_of_others_are_found_by_meaning_until_they_are_private(
    any_house: Any,
) -> None:
    model = Meaning()
    service = lending(any_house.service, model)
    await store(service, *REPORTS)
    await publish(service, PROFILE, TENANT)
    await working(service, model).turn()
    rows, meta = await ask(service, "Port strike in Antwerp", STRANGER, mode="semantic")
    assert meta["mode"] == "semantic"
    assert REPORTS[0][0].id in ids(rows)
    assert all(row["scores"]["lexical"] is None for row in rows)
    await publish(service, PROFILE, TENANT, "private")
    assert (await ask(service, "Port strike in Antwerp", STRANGER, mode="semantic"))[0] == []


async def test_all_publishers_together_take_a_part_of_what_is_looked_at(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = any_house.service
    monkeypatch.setattr(retrieving, "CANDIDATES_MAX", 9)
    await store(service, *(make_report(n, f"Port {n}") for n in range(1, 9)))
    for number in range(4):
        tenant, profile = f"wsp_{number:024}", f"prf_{number:024}"
        numbers = range(20 + 9 * number, 29 + 9 * number)
        await store(
            service, *(make_report(n, "Port", profile=profile) for n in numbers), tenant=tenant
        )
        await publish(service, profile, tenant)
    rows, _ = await ask(service, "port", kinds=["report"], limit=50)
    assert len(rows) == 4 + 4


# -- tags --------------------------------------------------------------------------------------


async def test_a_signal_is_found_by_its_tags(any_house: Any) -> None:
    service = any_house.service
    row, facets = make_report(1, "Quiet quays", signals=1)
    facets_with_tag = attrs.evolve(
        facets, signals=(attrs.evolve(facets.signals[0], tags=("labour",)),)
    )
    await store(service, (row, facets_with_tag))
    signal = detectors.signal_of("kevAdded", "one", "one", EVIDENCE, sources=())
    signal = attrs.evolve(signal, tags=("supply-chain", "cyber"))
    await service.system(lambda ctx: detectors.write_signals(ctx, [signal]))
    assert ids((await ask(service, "labour"))[0]) == [facets.signals[0].id]
    for question in ("supply-chain", "cyber", "supply chain"):
        assert ids((await ask(service, question))[0]) == [signal.id]
    assert ids((await ask(service, "labour", kinds=["report"]))[0]) == []


async def test_what_was_indexed_in_an_older_form_is_indexed_anew_by_itself(any_house: Any) -> None:
    service = any_house.service
    row, facets = make_report(1, "Quiet quays", signals=1)
    await store(service, (row, facets))
    facets_with_tag = attrs.evolve(
        facets, signals=(attrs.evolve(facets.signals[0], tags=("labour",)),)
    )
    await store(service, (row, facets_with_tag), indexed=False)
    old = IndexDue(WHOLE_INDEX, model="", is_done=True, form=1)
    tenant = await workspace(service)
    for tenant_ in (tenant, TENANT):
        await service.write(tenant_, lambda ctx: ctx.save(REPORT_INDEX.due, WHOLE_INDEX, old))
    assert (await ask(service, "labour"))[0] == []
    await service.write(TENANT, lambda ctx: queue_reindex(ctx, REPORT_INDEX, "", again=False))
    while await process_index(service, TENANT, REPORT_INDEX, None) is not None:
        pass
    assert ids((await ask(service, "labour"))[0]) == [facets.signals[0].id]
    progress = await service.read(TENANT, lambda ctx: ctx.value(REPORT_INDEX.due, WHOLE_INDEX))
    assert (progress.is_done, progress.form) == (True, indexing.FORM)
    await service.write(TENANT, lambda ctx: queue_reindex(ctx, REPORT_INDEX, "", again=False))
    assert (
        await service.read(TENANT, lambda ctx: ctx.value(REPORT_INDEX.due, WHOLE_INDEX)) == progress
    )


async def test_a_report_made_anew_and_one_removed_leave_nothing_behind(any_house: Any) -> None:
    service = any_house.service
    await store(service, *REPORTS)
    assert await row_counts(service) == {"texts": 5, "vectors": 0, "due": 5, "table": 5}
    row, facets = make_report(1, "Quiet quays", signals=1)
    await store(service, (row, facets))
    assert await row_counts(service) == {"texts": 4, "vectors": 0, "due": 4, "table": 4}
    assert (await ask(service, "Antwerp"))[0] == []
    assert len((await ask(service, "quays"))[0]) == 2
    await service.write(TENANT, lambda ctx: forget_reports(ctx, PROFILE))
    assert await row_counts(service) == {"texts": 1, "vectors": 0, "due": 1, "table": 1}
    assert (await ask(service, "quays storm"))[0] == []


async def test_who_reads_sees_nothing_of_a_profile_that_is_gone(any_house: Any) -> None:
    service = any_house.service
    await store(service, *REPORTS)
    leaving = Leaving(PROFILE, START)
    await service.write(TENANT, lambda ctx: ctx.save(LEAVING, PROFILE, leaving))
    assert ids((await ask(service, "port storm bank"))[0]) == [REPORTS[2][0].id]


async def test_a_dismissed_signal_is_found_no_more(any_house: Any) -> None:
    service = any_house.service
    kept_id, dismissed_id = await spot(service, "Port scanner exploited", "Port knocker exploited")
    await service.system(lambda ctx: dismiss_signal(ctx, DismissSignal(dismissed_id)))
    assert ids((await ask(service, "port exploited"))[0]) == [kept_id]
    assert await row_counts(service, SYSTEM, SIGNAL_INDEX) == {
        "texts": 1, "vectors": 0, "due": 1, "table": 1,
    }  # fmt: skip


async def test_two_that_write_at_once_are_both_counted(any_house: Any) -> None:
    service = any_house.service
    reports = [make_report(n, f"Port {n} strike") for n in range(12)]
    await asyncio.gather(*(store(service, report_) for report_ in reports))
    assert await row_counts(service) == {"texts": 12, "vectors": 0, "due": 12, "table": 12}


async def test_bounds_hold(house: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    service = house.service
    await store(service, *(make_report(n, f"Port {n}", "x " * 500) for n in range(1, 9)))
    monkeypatch.setattr(retrieving, "CANDIDATES_MAX", 6)
    assert len((await ask(service, "port", kinds=["report"]))[0]) == 6
    monkeypatch.setattr(retrieving, "BYTES_MAX", 6_000)
    assert 0 < len((await ask(service, "port", kinds=["report"]))[0]) < 6


@examples(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(titles=st.lists(st.sampled_from(["Port strike", "Storm", "Bank rate"]), max_size=5))
async def test_rows_outside_the_window_are_never_shown_and_move_none_that_are(
    house: Any, titles: list[str]
) -> None:
    service = lending(house.service)
    await store(service, *REPORTS)
    span = {"start": "2025-12-01T00:00:00Z"}
    before, _ = await ask(service, "storm", period=span)
    older = [make_report(100 + n, title, days=99) for n, title in enumerate(titles)]
    await store(service, *older)
    after, _ = await ask(service, "storm", period=span)
    assert ids(after) == ids(before)
    assert [row["excerpt"] for row in after] == [row["excerpt"] for row in before]
    for row, _ in older:
        await service.write(TENANT, lambda ctx, id_=row.id: forget_indexed(ctx, [id_]))


# -- by meaning --------------------------------------------------------------------------------


async def test_words_and_meaning_are_fused_by_their_ranks(any_house: Any) -> None:
    service = lending(any_house.service, Meaning())
    tenant = await workspace(service)
    await store(service, *REPORTS, tenant=tenant)
    (spotted_id,) = await spot(service, "Walkout of sensors")
    await working(service, Meaning()).turn()
    rows, meta = await ask(service, "strike", tenant)
    assert meta["mode"] == "hybrid"
    by_words = {row["id"] for row in rows if row["scores"]["lexical"] is not None}
    assert spotted_id in ids(rows)
    assert spotted_id not in by_words
    assert REPORTS[0][0].id in by_words
    hit = next(row for row in rows if row["id"] == REPORTS[0][0].id)
    ranks = {
        kind: sorted((row["scores"][kind] for row in rows if row["scores"][kind]), reverse=True)
        for kind in ("lexical", "semantic")
    }
    least = sum(1 / (60 + len(ranks[kind])) for kind in ranks)
    assert round(least, 6) <= hit["scores"]["fused"] <= round(2 / 61, 6)
    alone, meta = await ask(service, "harbour", tenant, mode="semantic")
    assert meta["mode"] == "semantic"
    assert all(row["scores"]["lexical"] is None for row in alone)
    assert REPORTS[1][0].id in ids(alone)
    words, meta = await ask(service, "strike", tenant, mode="lexical")
    assert meta["mode"] == "lexical"
    assert {row["scores"]["semantic"] for row in words} == {None}


async def test_meaning_alone_needs_a_model_that_answers(house: Any) -> None:
    await store(house.service, *REPORTS)
    with pytest.raises(Problem) as error:
        await ask(house.service, "strike", mode="semantic")
    assert (error.value.type.code, error.value.type.status) == ("INVALID_PARAMETER", 400)
    model = Meaning()
    model.refuses = lambda _: NotEmbedded("away")
    service = lending(house.service, model)
    with pytest.raises(Problem) as error:
        await ask(service, "strike", mode="semantic")
    assert error.value.type.code == "SERVICE_UNAVAILABLE"
    rows, meta = await ask(service, "strike")
    assert meta["mode"] == "lexical"
    assert rows


async def test_who_does_not_answer_in_time_is_not_waited_for(house: Any) -> None:
    await store(house.service, *REPORTS)
    late: list[float] = []

    async def never(work: Any, seconds: float) -> Any:
        late.append(seconds)
        if len(late) > 1:
            return await work
        work.close()
        raise TimeoutError

    service = lending(house.service, Meaning())
    service = attrs.evolve(
        service,
        host=attrs.evolve(service.host, providers={**service.host.providers, TimeLimit: never}),
    )
    rows, meta = await ask(service, "strike")
    assert (bool(rows), meta["mode"], late) == (True, "lexical", [5.0, 5.0])
    late.clear()
    with pytest.raises(Problem) as error:
        await ask(service, "strike", mode="lexical")
    assert error.value.type.code == "SERVICE_UNAVAILABLE"


async def test_times_that_end_before_they_begin_are_refused(house: Any) -> None:
    span = {"start": "2026-01-21T00:00:00Z", "end": "2026-01-21T00:00:00Z"}
    with pytest.raises(Problem) as error:
        await ask(house.service, "strike", period=span)
    assert error.value.detail == "/period/end: must be after the start"
    assert (await ask(house.service, "strike", period={}))[0] == []


# -- looking after the indexes -----------------------------------------------------------------


async def test_what_is_older_than_the_index_gets_in_and_gets_vectors(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = any_house.service
    monkeypatch.setattr(reindexing, "REPORTS_AT_ONCE", 2)
    tenant = await workspace(service)
    await store(service, *REPORTS, tenant=tenant, indexed=False)
    (spotted_id,) = await spot(service, "Walkout of sensors")
    await service.system(lambda ctx: ctx.tx.documents.delete(SIGNAL_INDEX.texts, spotted_id))
    assert (await ask(service, "strike", tenant))[0] == []

    await working(service).turn()
    assert await row_counts(service, tenant) == {"texts": 5, "vectors": 0, "due": 1, "table": 5}
    assert (await ask(service, "strike", tenant))[0]

    model = Meaning()
    await working(service, model).turn()
    assert (await row_counts(service, tenant))["vectors"] == 5
    assert (await row_counts(service, SYSTEM, SIGNAL_INDEX))["vectors"] == 1
    text_count = len(model.texts)
    await working(service, model).turn()
    assert len(model.texts) == text_count == 6

    row, facets = make_report(1, "Port strike is over", "All work again.", signals=2)
    await store(service, (row, facets), tenant=tenant)
    await working(service, model).turn()
    assert "Port strike is over\nAll work again." in model.texts
    assert len(model.texts) == text_count + 3


async def test_who_is_killed_leaves_the_rest_to_the_next(
    any_house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = any_house.service
    monkeypatch.setattr(reindexing, "REPORTS_AT_ONCE", 1)
    monkeypatch.setattr(reindexing, "BATCH", 2)
    monkeypatch.setattr(reindexing, "BATCHES_MAX", 1)
    tenant = await workspace(service)
    await store(service, *REPORTS, tenant=tenant, indexed=False)
    model, kills = Meaning(), 0
    for dies_after in range(3, 100):
        mortal = Counted(service.storage, dies_after=dies_after)
        try:
            await reindex(lending(attrs.evolve(service, storage=mortal), model))
            break
        except KilledError:
            kills += 1
    assert kills > 3
    assert await row_counts(service, tenant) == {"texts": 5, "vectors": 5, "due": 1, "table": 5}


async def test_two_that_look_after_one_index_count_nothing_twice(any_house: Any) -> None:
    service = any_house.service
    await store(service, *REPORTS, indexed=False)

    async def tend_too() -> None:
        while await process_index(service, TENANT, REPORT_INDEX, None) is not None:
            pass

    await service.write(TENANT, lambda ctx: queue_reindex(ctx, REPORT_INDEX, "", again=True))
    late = Counted(service.storage, meanwhile={0: tend_too})
    await process_index(attrs.evolve(service, storage=late), TENANT, REPORT_INDEX, None)
    assert await row_counts(service) == {"texts": 5, "vectors": 0, "due": 1, "table": 5}


async def test_the_command_tells_how_far_it_is_and_what_stopped_it(house: Any) -> None:
    tenant = await workspace(house.service)
    await store(house.service, *REPORTS, tenant=tenant)
    model, progress = Meaning(), []
    model.refuses = lambda _: NotEmbedded("no such model")
    service = attrs.evolve(lending(house.service, model), tell=progress.append)
    with pytest.raises(Problem) as error:
        await reindex(service)
    assert "no such model" in str(error.value.detail)
    model.refuses = lambda text: (
        NotEmbedded("too odd", is_refusal=True) if "storm" in text else None
    )
    assert await reindex(service) == b'{"rows":3,"model":"meaning"}'
    assert await reindex(service) == b'{"rows":3,"model":"meaning"}'
    assert progress[-1].done == progress[-1].total
    assert (await row_counts(house.service, tenant))["vectors"] == 5
    assert await reindex(lending(house.service)) == b'{"rows":3,"model":null}'
    rows, _ = await ask(service, "harbour", tenant, mode="semantic")
    assert REPORTS[1][0].id not in ids(rows)


async def test_words_that_change_while_their_vector_is_made_wait_for_another(house: Any) -> None:
    tenant = await workspace(house.service)
    await store(house.service, REPORTS[1], tenant=tenant)

    class Slow(Meaning):
        async def vectors(self, texts: Any) -> Any:
            if not self.texts:
                self.texts.append("")
                new_report = make_report(2, "The harbour is open", days=10)
                await store(house.service, new_report, tenant=tenant)
            return await super().vectors(texts)

    model = Slow()
    await working(house.service, model).turn()
    assert model.texts[-1] == "The harbour is open"
    assert (await row_counts(house.service, tenant))["due"] == 1


async def test_counts_are_merged_by_whoever_looks_after_the_index(any_house: Any) -> None:
    service = any_house.service
    tenant = await workspace(service)
    await store(service, *(make_report(n, f"Port {n}") for n in range(20)), tenant=tenant)
    assert await service.read(tenant, lambda ctx: next_merge(ctx, REPORT_INDEX.corpus)) is not None
    before = await ask(service, "port", tenant)
    await working(service).turn()
    assert await service.read(tenant, lambda ctx: next_merge(ctx, REPORT_INDEX.corpus)) is None
    assert await ask(service, "port", tenant) == before


async def test_one_process_looks_after_the_indexes_at_a_time(
    house: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await workspace(house.service)
    await store(house.service, *REPORTS, tenant=tenant, indexed=False)
    leases = in_memory(lambda: 0.0).leases
    await leases.take("index", "somebody else", 60.0)
    await IndexWork(house.service, None, leases).turn()
    assert (await row_counts(house.service, tenant))["texts"] == 0

    monkeypatch.setattr(leased_work, "PUT_OFF_SECONDS", 0.0)
    model = Meaning()
    model.refuses = lambda _: None if len(model.texts) else NotEmbedded("away")
    commits = Commits(house.service.storage)
    await leases.release("index", "somebody else")
    task = asyncio.create_task(IndexWork(house.service, Embeddings(model), leases).run(commits))
    async with asyncio.timeout(60):
        while not (await row_counts(house.service, tenant))["texts"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    task.cancel()


async def test_nobody_looks_after_the_indexes_while_nobody_knows_whose_turn_it_is(
    house: Any,
) -> None:
    class Away:
        async def take(self, *_: Any) -> bool:
            raise SharedUnavailable("away")

    tenant = await workspace(house.service)
    await store(house.service, *REPORTS, tenant=tenant, indexed=False)
    away: Any = Away()
    await IndexWork(house.service, None, away).turn()
    assert (await row_counts(house.service, tenant))["texts"] == 0


def test_signals_and_reports_have_an_index_each() -> None:
    names = [
        collection.name for collection in (*REPORT_INDEX.collections, *SIGNAL_INDEX.collections)
    ]
    assert len(set(names)) == 10
    assert {collection.scope for collection in REPORT_INDEX.collections} == {"tenant"}
    assert {collection.scope for collection in SIGNAL_INDEX.collections} == {"global"}


# -- as a tool ---------------------------------------------------------------------------------


async def test_the_agents_tool_takes_the_members_of_the_body(any_house: Any) -> None:
    service = any_house.service
    await store(service, *REPORTS)
    (spotted_id,) = await spot(service, "Port scanner exploited")
    site = Site("https://api.example", aliases=False)
    tools = CatalogueTools(site).of(service, Actor(TENANT, TENANT), service.now())
    spec = next(spec_ for spec_ in tools.specs if spec_.name == "retrieve_knowledge")
    assert spec.parameters["required"] == ["query"]
    assert set(spec.parameters["properties"]) == {
        "query", "kinds", "profileIds", "period", "limit", "mode",
    }  # fmt: skip
    answer = await tools.call("retrieve_knowledge", {"query": "port", "limit": 4, "kinds": None})
    places = {citation.id: citation.path for citation in answer.hits}
    assert places[REPORTS[0][0].id] == f"/api/v1/reports/{REPORTS[0][0].id}"
    assert places[spotted_id] == f"/api/v2/signals/{spotted_id}"
    assert f"/api/v1/reports/{REPORTS[0][0].id}/signals" in places.values()
    for wrong in ({}, {"query": ""}, {"query": "port", "colour": "red"}):
        with pytest.raises(Problem) as error:
            await tools.call("retrieve_knowledge", wrong)
        assert error.value.type.status == 400
