"""Items get their vectors, whoever is killed meanwhile, and reports find by them."""

import asyncio
import json
from typing import Any

import attrs
import pytest

from svc_core.formats import table as formats
from svc_core.formats.model import Origin
from svc_core.formats.reading.document_body import Body
from svc_core.intel.intake import record_intake as documents
from svc_core.intel.news import vectors as of_news
from svc_core.intel.news.model import NEWS_TEXTS
from svc_core.intel.news.vectors import VECTORS
from svc_core.intel.vulnerabilities.cve_vectors import CVE_VECTORS
from svc_core.operation.context import Context
from svc_core.operation.ports import SYSTEM, SharedUnavailable
from svc_core.reports.model import FACETS
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles.model import ProfileInput
from svc_core.reports.report_runs import make_report
from svc_core.search import vector_likeness as embeddings
from svc_core.search.vector_likeness import Embedder, NotEmbedded, Vector
from svc_http.outside.embeddings.model import Embeddings
from svc_http.service.commits import Commits
from svc_http.service.workers import item_vectors, leased_work
from svc_http.service.workers.item_vectors import CveVectorWork, VectorWork
from svc_http.service.workers.source_pulls import add_source
from svc_http.stores.counters.in_process import in_memory
from tests.core.cves import kev
from tests.counted import Counted, KilledError
from tests.meaning import Meaning

pytestmark = pytest.mark.anyio
TENANT = "wsp_" + "a" * 24
NEWS_OF_PORTS = ("Strike at the port", "Walkout shuts the harbour", "The bank keeps its rate")


async def take_titles(house: Any, feed: Any, *titles: str, text: str = "") -> None:
    """Take in one item a title."""
    body = Body(feed(*titles, text=text))
    source = await add_source(house.service, "/feeds/pier.xml")
    document = formats.read_document(body, formats.FORMATS["rss"], Origin())
    await house.service.system(lambda ctx: documents.take_document(ctx, source.id, document))


async def vectors(house: Any, of: Any = VECTORS) -> list[Vector]:
    rows = await house.service.read(SYSTEM, lambda ctx: ctx.tx.documents.scan(of, limit=999))
    return [of.decode(row.raw) for row in rows.rows]


def working(house: Any, model: Meaning, **parts: Any) -> VectorWork:
    service = attrs.evolve(house.service, **parts)
    return VectorWork(service, Embeddings(model), in_memory(lambda: 0.0).leases)


async def report(
    house: Any, model: Meaning | None, topic: str = "Port strike", *, by: str = ""
) -> set[str]:
    """The titles that a report cites."""
    lends = {} if model is None else {Embedder: Embeddings(model)}
    host = attrs.evolve(house.service.host, providers=lends)
    service = attrs.evolve(house.service, host=host)
    request = profiles.CreateProfile(ProfileInput(f"Ports {house.clock.now()}", topic, "manual"))
    creation = await service.write(TENANT, lambda ctx: profiles.create_profile(ctx, request))
    house.clock.advance(1)
    row = await make_report(service, TENANT, creation.location.rpartition("/")[2])
    facets = await service.read(TENANT, lambda ctx: ctx.value(FACETS, row.id))
    method = by or ("lexical" if model is None else "hybrid")
    assert row.method == method
    assert facets.embedding == (model.name if model and method == "hybrid" else None)
    return {source.title for source in facets.sources}


async def test_each_item_gets_one_vector_of_its_headline_and_first_words(
    any_house: Any, feed: Any
) -> None:
    model = Meaning()
    await take_titles(any_house, feed, *NEWS_OF_PORTS, text="x" * 900)
    worker = working(any_house, model)

    assert [await worker.turn() for _ in range(3)] == [3, 0, 0]
    assert {vector.model for vector in await vectors(any_house)} == {"meaning"}
    expected = {f"{title}\n{'x' * 700}" for title in NEWS_OF_PORTS}
    assert sorted(model.texts) == sorted(expected)


async def test_what_comes_later_and_what_is_changed_is_embedded(
    house: Any, feed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Meaning()
    worker = working(house, model)
    await take_titles(house, feed, "Strike at the port")
    await worker.turn()
    house.clock.advance(3_600)
    await worker.turn()
    monkeypatch.setattr(of_news, "GAPS_PAGE", 1)
    await take_titles(house, feed, "Strike at the port", "A storm", "A bank")
    assert await worker.turn() == 2
    await take_titles(house, feed, "Strike at the port", text="It is over.")
    worker._again_at = 0.0  # an hour later all are looked at
    assert await worker.turn() == 1
    assert model.texts[-1] == "Strike at the port\nIt is over."


async def test_vulnerabilities_get_vectors_of_their_own(any_house: Any) -> None:
    source = await add_source(any_house.service, "/feeds/kev.json")
    body = Body(json.dumps(kev("2024-02-02", "CVE-2024-0001", "CVE-2024-0002")).encode())
    document = formats.read_document(body, formats.FORMATS["kev"], Origin())
    await any_house.service.system(lambda ctx: documents.take_document(ctx, source.id, document))
    model, leases = Meaning(), in_memory(lambda: 0.0).leases
    worker = CveVectorWork(any_house.service, Embeddings(model), leases)
    assert [await worker.turn() for _ in range(2)] == [2, 0]
    assert [text.partition("\n")[2] for text in model.texts] == ["It swings."] * 2
    assert await vectors(any_house) == []  # those of news
    assert len(await vectors(any_house, CVE_VECTORS)) == 2


async def test_another_model_makes_its_own_vectors(house: Any, feed: Any) -> None:
    await take_titles(house, feed, *NEWS_OF_PORTS)
    await working(house, Meaning()).turn()
    other_model = Meaning()
    other_model.name = "another"
    await working(house, other_model).turn()
    assert {vector.model for vector in await vectors(house)} == {"another"}


async def test_who_is_killed_leaves_the_rest_to_the_next(
    any_house: Any, feed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embeddings, "BATCH", 2)
    await take_titles(any_house, feed, *(f"Storm {n}" for n in range(5)))
    model = Meaning()
    mortal = Counted(any_house.service.storage, dies_after=1)
    with pytest.raises(KilledError):
        await working(any_house, model, storage=mortal).turn()
    assert len(await vectors(any_house)) == 2
    assert await working(any_house, model).turn() == 3
    assert len(await vectors(any_house)) == 5


async def test_old_items_are_worked_off_page_by_page_up_to_a_bound(
    house: Any, feed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (of_news, item_vectors):
        monkeypatch.setattr(module, "GAPS_PAGE", 2)
    monkeypatch.setattr(item_vectors, "BACKLOG_MAX", 4)
    await take_titles(house, feed, *(f"Storm {n}" for n in range(7)))
    house.clock.advance(3_600)
    worker = working(house, Meaning())
    assert [await worker.turn() for _ in range(3)] == [2, 2, 0]


async def test_two_processes_share_the_work_by_turns(house: Any, feed: Any) -> None:
    await take_titles(house, feed, *NEWS_OF_PORTS)
    leases = in_memory(lambda: 0.0).leases
    model, other_model = Meaning(), Meaning()
    first = VectorWork(house.service, Embeddings(model), leases)
    second = VectorWork(house.service, Embeddings(other_model), leases)
    assert [await first.turn(), await second.turn()] == [3, 0]
    assert other_model.texts == []


async def test_a_place_for_turns_that_is_down_is_waited_for(house: Any, feed: Any) -> None:
    class Down:
        async def take(self, *_: Any) -> bool:
            raise SharedUnavailable("nobody answers")

    await take_titles(house, feed, *NEWS_OF_PORTS)
    assert await VectorWork(house.service, Embeddings(Meaning()), Down()).turn() == 0


async def test_words_that_the_model_refuses_are_not_asked_for_again(house: Any, feed: Any) -> None:
    def refuses(text: str) -> NotEmbedded | None:
        return NotEmbedded("too long", is_refusal=True) if "bank" in text else None

    model = Meaning()
    model.refuses = refuses
    await take_titles(house, feed, *NEWS_OF_PORTS, "")
    worker = working(house, model)
    assert [await worker.turn(), await worker.turn()] == [4, 0]
    assert sum(not vector.data for vector in await vectors(house)) == 2  # and one without words
    assert "The bank keeps its rate" not in await report(house, model)


async def test_a_model_that_is_away_is_tried_again(
    house: Any, feed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leased_work, "PUT_OFF_SECONDS", 0.0)
    failures: list[BaseException] = []
    model = Meaning()
    model.refuses = lambda _: NotEmbedded("it is away")
    await take_titles(house, feed, *NEWS_OF_PORTS)
    worker = working(house, model)
    worker._embedder.on_failure = failures.append
    assert await worker.turn() == 0
    assert [str(failure) for failure in failures] == ["it is away"]
    model.refuses = lambda _: None
    assert await worker.turn() == 3


async def test_the_loop_hears_of_what_is_taken_in(house: Any, feed: Any) -> None:
    model = Meaning()
    loop = asyncio.create_task(working(house, model).run(Commits(house.storage)))
    await take_titles(house, feed, *NEWS_OF_PORTS)
    async with asyncio.timeout(60):  # it ends as soon as all are made
        while len(model.texts) < 3:  # noqa: ASYNC110 - the loop tells nobody
            await asyncio.sleep(0.01)
    loop.cancel()
    await asyncio.gather(loop, return_exceptions=True)


# -- reports -----------------------------------------------------------------------------------


async def test_a_report_finds_what_no_word_finds(any_house: Any, feed: Any) -> None:
    await take_titles(any_house, feed, *NEWS_OF_PORTS)
    topic = "Streik im Hafen"
    assert await report(any_house, None, topic) == set()
    await working(any_house, Meaning()).turn()
    titles = await report(any_house, Meaning(), topic)
    assert titles == {"Strike at the port", "Walkout shuts the harbour"}


@pytest.mark.parametrize(
    ("embedded", "later", "is_compared"),
    [(0, 1, False), (9, 1, True), (9, 2, False), (0, 0, False)],
)
async def test_vectors_are_compared_once_nine_of_ten_items_have_one(
    house: Any, feed: Any, embedded: int, later: int, is_compared: bool
) -> None:
    """Until then a question waits for none: not even the model is asked."""
    titles = [f"Storm {n}" for n in range(embedded + later)]
    other_model, model = Meaning(), Meaning()
    other_model.name = "another"
    for count, maker in ((embedded, model), (embedded + later, None)):
        await take_titles(house, feed, *titles[:count])
        if maker is not None:
            await working(house, maker).turn()
    made = len(model.texts)
    likeness = await of_news.item_likeness(house.service, Embeddings(model), ["storm"], ())
    assert (likeness is not None) is is_compared
    assert len(model.texts) - made == is_compared
    likeness = await of_news.item_likeness(house.service, Embeddings(other_model), ["storm"], ())
    assert likeness is None
    assert other_model.texts == []


async def test_a_report_is_made_of_words_where_the_model_fails(house: Any, feed: Any) -> None:
    await take_titles(house, feed, *NEWS_OF_PORTS)
    await working(house, Meaning()).turn()
    model = Meaning()
    model.refuses = lambda _: NotEmbedded("it is away")
    assert await report(house, model, by="lexical") == {"Strike at the port"}


async def test_a_vector_is_not_kept_of_what_is_gone(house: Any, feed: Any) -> None:
    await take_titles(house, feed, "A storm")

    async def forget(ctx: Context) -> None:
        for row in (await ctx.tx.documents.scan(NEWS_TEXTS, limit=9)).rows:
            await ctx.remove(NEWS_TEXTS, row.id)

    ((item, _),), _ = await house.service.read(
        SYSTEM, lambda ctx: of_news.vector_gaps(ctx, "meaning")
    )
    await house.service.system(forget)
    await house.service.system(lambda ctx: of_news.save_vectors(ctx, [item]))
    assert await vectors(house) == []


async def test_a_slow_process_keeps_no_vector_of_words_that_changed(house: Any, feed: Any) -> None:
    await take_titles(house, feed, "A storm")
    ((slow, _),), _ = await house.service.read(
        SYSTEM, lambda ctx: of_news.vector_gaps(ctx, "meaning")
    )
    await take_titles(house, feed, "A storm", text="It is over.")
    await working(house, Meaning()).turn()
    (vector,) = await vectors(house)
    await house.service.system(lambda ctx: of_news.save_vectors(ctx, [slow]))
    assert await vectors(house) == [vector]


async def test_as_many_vectors_are_compared_as_the_model_can(
    house: Any, feed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("svc_core.operation.context.ROWS_AT_ONCE", 2)
    monkeypatch.setattr("svc_http.outside.embeddings.model.COMPARED_MAX", 3)
    monkeypatch.setattr("svc_http.outside.embeddings.model.COMPARED_PLAIN_MAX", 3)
    await take_titles(house, feed, *(f"Hurricane {n}" for n in range(5)))
    model = Embeddings(Meaning())
    await working(house, Meaning()).turn()
    likeness = await of_news.item_likeness(house.service, model, ["storm"], ())
    assert likeness is not None
    assert len(likeness[0].near) == len(likeness[0].values) == 3
