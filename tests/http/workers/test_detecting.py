"""Signals come of what was pulled, once, whoever looks and whatever is cut off."""

import asyncio
import json
from typing import Any

import attrs
import pytest

from svc_core.intel.signals.detection import detect_new
from svc_core.intel.signals.model import DETECTIONS_DUE, SIGNALS, Signal
from svc_core.operation.context import Context
from svc_http.service.workers.source_pulls import add_source, pull, pull_all
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio


def catalogue(day: int, entries: int) -> bytes:
    rows = [
        {
            "cveID": f"CVE-2025-{1000 + number}",
            "vendorProject": "Quayside",
            "product": "Crane",
            "vulnerabilityName": f"Fault {number}",
            "dateAdded": "2025-12-01",
            "knownRansomwareCampaignUse": "Unknown",
        }
        for number in range(entries)
    ]
    head = {"catalogVersion": str(day), "dateReleased": f"2025-12-{day:02}T00:00:00Z",
            "count": entries, "vulnerabilities": rows}  # fmt: skip
    return json.dumps(head).encode()


def values(countries: int) -> bytes:
    """Twelve steady years and one that is not, of several countries."""
    rows = [
        {
            "indicator": {"id": "X.Y", "value": "Reserves"},
            "country": {"id": "BE", "value": f"Area {country}"},
            "countryiso3code": f"A{country:02}",
            "date": str(2010 + year),
            "value": 200 if year == 13 else 100 + year % 2,
            "unit": "",
        }
        for country in range(countries)
        for year in range(14)
    ]
    meta = {"page": 1, "pages": 1, "per_page": 5_000, "total": len(rows),
            "lastupdated": "2025-12-01", "sourceid": "2"}  # fmt: skip
    return json.dumps([meta, rows]).encode()


async def signals(house: Any) -> list[Signal]:
    async def read(ctx: Context) -> Any:
        assert await ctx.tx.documents.count(DETECTIONS_DUE, limit=1) == 0
        return await ctx.tx.documents.scan(SIGNALS, limit=1_000)

    return [SIGNALS.decode(row.raw) for row in (await house.service.system(read)).rows]


async def test_a_newer_release_tells_what_it_added(any_house: Any, publisher: Any) -> None:
    url = publisher.publish("/kev", catalogue(1, 20))
    source = await add_source(any_house.service, url)
    await pull_all(any_house.service, [source], any_house.fetcher)
    assert await signals(any_house) == []
    publisher.publish("/kev", catalogue(2, 23))
    (source,) = await any_house.sources()
    await asyncio.gather(
        *(pull_all(any_house.service, [source], any_house.fetcher) for _ in range(2))
    )
    found_signals = await signals(any_house)
    assert sorted(signal.title.split()[0] for signal in found_signals) == [
        f"CVE-2025-{number}" for number in (1020, 1021, 1022)
    ]
    assert {signal.revision for signal in found_signals} == {1}
    publisher.publish("/kev", catalogue(1, 20))  # an older one again
    (source,) = await any_house.sources()
    await pull_all(any_house.service, [source], any_house.fetcher)
    assert await signals(any_house) == found_signals


async def test_a_pass_that_is_cut_off_is_finished_by_the_next(
    any_house: Any, publisher: Any
) -> None:
    source = await add_source(any_house.service, publisher.publish("/bank", values(30)))
    await pull(any_house.service, source, any_house.fetcher)
    service = any_house.service
    with pytest.raises(KilledError):
        await detect_new(attrs.evolve(service, storage=Counted(service.storage, 2)))
    assert await detect_new(service) == 25
    found_signals = await signals(any_house)
    assert len(found_signals) == len({signal.id for signal in found_signals}) == 30
    assert {signal.type for signal in found_signals} == {"indicatorSurprise"}


async def test_many_passes_at_once_find_everything_once(any_house: Any, publisher: Any) -> None:
    service = any_house.service
    source = await add_source(service, publisher.publish("/bank", values(30)))
    await asyncio.gather(
        pull_all(service, [source], any_house.fetcher), *(detect_new(service) for _ in range(3))
    )
    await asyncio.gather(*(detect_new(service) for _ in range(3)))
    found_signals = await signals(any_house)
    assert len(found_signals) == 30
    assert {signal.revision for signal in found_signals} == {1}
