"""What is pulled is folded to incidents, in every store, and also where a pass was cut off."""

import json
from typing import Any

import anyio
import attrs
import pytest

from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.model import INCIDENTS, INCIDENTS_DUE
from svc_core.intel.signals.model import DETECTIONS_DUE, DetectionDue
from svc_core.operation.ports import SYSTEM
from svc_http.service.workers.source_pulls import SourceLanes, add_source, pull, pull_all
from tests.core.intel.incident_documents import gdacs, gdelt, usgs
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio

DOCUMENTS = {
    "/usgs": usgs(*({"id": f"us{at}", "point": (at * 4.0, 0.0)} for at in range(40))),
    "/gdacs": gdacs(source="NEIC", sourceid="us7"),
    "/gdelt": gdelt(*({"id": at, "url": f"https://pier.example/{at // 3}", "city": f"Port {at}"}
                      for at in range(30))),
}  # fmt: skip
COUNT = 40 + 10


async def add_sources(house: Any, publisher: Any) -> list[Any]:
    return [
        await add_source(house.service, publisher.publish(path, body))
        for path, body in DOCUMENTS.items()
    ]


async def rows(house: Any, collection: Any = INCIDENTS) -> dict[str, Any]:
    page = await house.service.read(
        SYSTEM, lambda ctx: ctx.tx.documents.scan(collection, limit=1_000)
    )
    return {row.id: json.loads(row.raw) for row in page.rows}


async def test_every_store_has_the_same_incidents(
    any_house: Any, house: Any, publisher: Any
) -> None:
    incidents = []
    for house_ in (any_house, house):
        await pull_all(house_.service, await add_sources(house_, publisher), house_.fetcher)
        incidents.append(await rows(house_))
    assert incidents[0] == incidents[1]
    assert len(incidents[0]) == COUNT


@pytest.mark.parametrize("units", [0, 1])
async def test_a_pass_that_was_cut_off_is_finished_by_the_next(
    any_house: Any, publisher: Any, units: int
) -> None:
    for source in await add_sources(any_house, publisher):
        await pull(any_house.service, source, any_house.fetcher)
    dying = attrs.evolve(any_house.service, storage=Counted(any_house.service.storage, units))
    with pytest.raises(KilledError):
        await fold_new(dying)
    assert len(await rows(any_house)) < COUNT
    assert await SourceLanes(any_house.service, any_house.fetcher).pull_due() == ()
    assert len(await rows(any_house)) == COUNT


async def test_passes_at_once_write_each_incident_once(any_house: Any, publisher: Any) -> None:
    for source in await add_sources(any_house, publisher):
        await pull(any_house.service, source, any_house.fetcher)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(fold_new, any_house.service)
    incidents = await rows(any_house)
    assert len(incidents) == COUNT
    assert {row["revision"] for row in incidents.values()} == {1}
    now = any_house.service.now()
    due_rows = await rows(any_house, INCIDENTS_DUE)
    assert all(row["at"] > f"{now:%Y-%m-%dT%H:%M:%SZ}" for row in due_rows.values())


async def test_one_that_cannot_be_folded_or_looked_at_keeps_no_other_waiting(
    any_house: Any, publisher: Any
) -> None:
    for source in await add_sources(any_house, publisher):
        await pull(any_house.service, source, any_house.fetcher)

    async def spoil(ctx: Any) -> str:
        event = OSINT_EVENTS.decode(
            (await ctx.tx.documents.scan(OSINT_EVENTS, limit=1)).rows[0].raw
        )
        await ctx.save(OSINT_EVENTS, event.id, attrs.evolve(event, sources=()))
        await ctx.save(DETECTIONS_DUE, "sig_0", DetectionDue("sig_0", "cell", "nowhere|"))
        return str(event.incident_id)

    incident_id = await any_house.service.system(spoil)
    with pytest.raises(ExceptionGroup) as error:
        await SourceLanes(any_house.service, any_house.fetcher).pull_due()
    assert len(leaves(error.value)) == 2
    assert len(await rows(any_house)) == COUNT - 1
    assert not await rows(any_house, DETECTIONS_DUE)
    assert await SourceLanes(any_house.service, any_house.fetcher).pull_due() == ()
    (due,) = [
        row for id_, row in (await rows(any_house, INCIDENTS_DUE)).items() if id_ == incident_id
    ]
    assert due["at"] > f"{any_house.service.now():%Y-%m-%dT%H:%M:%SZ}"


def leaves(error: BaseException) -> list[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in leaves(inner)]
