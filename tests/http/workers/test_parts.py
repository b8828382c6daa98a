"""Documents in parts: killed between any two, changed meanwhile, or written by two at once."""

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding.contributions import CONTRIBUTIONS
from svc_core.intel.intake import registry
from svc_core.operation.ports import SYSTEM, FeedPosition
from svc_http.service.workers.source_pulls import PART_ROWS, add_source, pull
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio

ROWS = 3 * PART_ROWS


def quakes(numbers: Sequence[int], magnitude: float = 5.0, net: str = "us") -> bytes:
    """A list of earthquakes, each known by an id of its net and by one of another."""
    features = [
        {
            "type": "Feature",
            "id": f"{net}{number}",
            "properties": {
                "mag": magnitude, "place": "W of Quito", "time": 1_767_225_600_000 + number,
                "updated": 1_767_225_700_000, "url": f"https://quakes.example/{number}",
                "status": "reviewed", "type": "earthquake", "title": f"M {magnitude}",
                "ids": f",us{number},pr{number},",
            },
            "geometry": {"type": "Point", "coordinates": [-80.0, 1.0, 10.0]},
        }
        for number in numbers
    ]  # fmt: skip
    head = {"generated": 1_767_225_800_000, "title": "Quakes", "count": len(features)}
    document = {"type": "FeatureCollection", "metadata": head, "features": features}
    return json.dumps(document).encode()


def catalogue(numbers: Sequence[int], day: int) -> bytes:
    """A snapshot of vulnerabilities."""
    entries = [
        {"cveID": f"CVE-2024-{number:05}", "dateAdded": "2026-01-01", "product": "Crane"}
        for number in numbers
    ]
    head = {"catalogVersion": str(day), "dateReleased": f"2026-01-{day:02}T00:00:00Z"}
    return json.dumps(head | {"count": len(entries), "vulnerabilities": entries}).encode()


async def state(house: Any) -> tuple[Any, ...]:
    """What is stored, without when; and how many changes were told."""
    events = {
        event.id: (event.title, len(event.sources)) for event in await house.rows(OSINT_EVENTS)
    }
    claims = {claim.id: (claim.row, claim.said) for claim in await house.rows(CONTRIBUTIONS)}
    changes = await house.service.read(
        SYSTEM, lambda ctx: ctx.tx.changes.read(FeedPosition(), limit=99_999)
    )
    return events, claims, len(changes.changes)


Steps = Sequence[bytes]
CASES: dict[str, Steps] = {
    "events": (quakes(range(ROWS)), quakes(range(ROWS), 6.0)),
    "a snapshot": (catalogue(range(ROWS), 1), catalogue(range(9, ROWS + 9), 2)),
    "a snapshot that shrinks": (catalogue(range(ROWS), 1), catalogue(range(8), 2)),
}


@pytest.mark.parametrize("steps", CASES.values(), ids=CASES)
async def test_whenever_it_is_killed_what_is_read_again_ends_the_same(
    make_house: Callable[[str], Any], tmp_path: Path, steps: Steps
) -> None:
    path, whole = tmp_path / "document", make_house("memory")
    for body in steps:
        path.write_bytes(body)
        source = await add_source(whole.service, str(path))
        await pull(whole.service, source, whole.fetcher, force=True)
    whole_state = await state(whole)
    for dies_after in range(1, 12, 3):
        house = make_house("memory")
        for body in steps:
            path.write_bytes(body)
            source = await add_source(house.service, str(path))
            dying = Counted(house.storage, dies_after=dies_after)
            service = attrs.evolve(house.service, storage=dying)
            try:
                await pull(service, source, house.fetcher, force=True)
            except KilledError:
                source_ = await house.source(source.id)
                assert (source_.health.status, source_.digest) == ("partial", None)
            await pull(house.service, await house.source(source.id), house.fetcher, force=True)
        assert await state(house) == whole_state


async def test_the_document_before_one_that_was_cut_off_is_read_anew(
    house: Any, tmp_path: Path
) -> None:
    path = tmp_path / "quakes.json"
    path.write_bytes(quakes(range(4)))
    first = await pull(house.service, await add_source(house.service, str(path)), house.fetcher)
    path.write_bytes(quakes(range(ROWS), 6.0))
    dying = attrs.evolve(house.service, storage=Counted(house.storage, dies_after=1))
    with pytest.raises(KilledError):
        await pull(dying, first.source, house.fetcher)
    path.write_bytes(quakes(range(4)))
    again = await pull(house.service, await house.source(first.source.id), house.fetcher)
    assert again.status == "taken"


async def test_what_is_asked_of_a_source_while_it_is_read_is_not_forgotten(
    house: Any, tmp_path: Path
) -> None:
    path = tmp_path / "quakes.json"
    path.write_bytes(quakes(range(ROWS)))
    source = await add_source(house.service, str(path))

    async def rename() -> None:
        await add_source(house.service, str(path), name="Renamed")

    meanwhile = Counted(house.storage, meanwhile={2: rename})
    service = attrs.evolve(house.service, storage=meanwhile)
    outcome = await pull(service, source, house.fetcher)
    assert (outcome.source.name, outcome.source.digest) == ("Renamed", None)
    again = await pull(house.service, outcome.source, house.fetcher)
    assert (again.status, again.run.updated) == ("taken", ROWS)
    assert {event.sources[0].name for event in await house.rows(OSINT_EVENTS)} == {"Renamed"}


async def test_a_source_that_is_removed_while_it_is_read_gets_no_more(
    house: Any, tmp_path: Path
) -> None:
    path = tmp_path / "catalogue.json"
    for body in (quakes(range(ROWS)), catalogue(range(ROWS), 1)):
        path.write_bytes(body)
        source = await add_source(house.service, str(path))

        async def remove(id_: str = source.id) -> None:
            await house.service.system(lambda ctx: registry.remove_sources(ctx, [id_]))

        store = Counted(house.storage, meanwhile={2: remove})
        service = attrs.evolve(house.service, storage=store)
        assert (await pull(service, source, house.fetcher)).status == "removed"


async def test_two_sources_that_are_read_at_once_both_stand_behind_their_rows(
    any_house: Any, tmp_path: Path
) -> None:
    """Each knows the events by another key, and each tells of them under both."""
    sources = []
    for net in ("us", "pr"):
        path = tmp_path / f"{net}.json"
        path.write_bytes(quakes(range(40), net=net))
        sources.append(await add_source(any_house.service, str(path)))
    await asyncio.gather(
        *(pull(any_house.service, source, any_house.fetcher) for source in sources)
    )
    events = await any_house.rows(OSINT_EVENTS)
    assert len(events) == 40
    assert {tuple(sorted(ref.id for ref in event.sources)) for event in events} == {
        tuple(sorted(source.id for source in sources))
    }
