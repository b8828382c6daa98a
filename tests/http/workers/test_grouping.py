"""Items that are pulled get their events, in every store, and also where a pass was cut off."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from svc_core.intel.incidents.story_grouping import group_new
from svc_core.intel.news.model import UNGROUPED_ITEMS, NewsItem
from svc_core.operation.ports import SYSTEM
from svc_http.service.workers.source_pulls import SourceLanes, add_source, pull, pull_all
from tests.counted import Counted, KilledError

pytestmark = pytest.mark.anyio

FEEDS = {
    "/a": ["Cranes stop at Fjordby quay", "Ferries sail again"],
    "/b": ["Cranes stop at Fjordby quay for pay", "Bread prices rise"],
    "/c": ["Quay of Fjordby: cranes stop for higher pay"],
}
STORIES = [sorted((*FEEDS["/c"], FEEDS["/a"][0], FEEDS["/b"][0]))]


async def add_sources(house: Any, publisher: Any, feed: Callable[..., bytes]) -> list[Any]:
    return [
        await add_source(house.service, publisher.publish(path, feed(*titles, folder=path[1:])))
        for path, titles in FEEDS.items()
    ]


def events(rows: list[NewsItem]) -> list[list[str]]:
    stories: dict[str, list[str]] = {}
    for row in rows:
        if row.story_id is not None:
            stories.setdefault(row.story_id, []).append(row.title)
    return sorted(map(sorted, stories.values()))


async def test_pulled_items_name_the_same_events_in_every_store(
    any_house: Any, house: Any, publisher: Any, feed: Callable[..., bytes]
) -> None:
    news = []
    for house_ in (any_house, house):
        await pull_all(house_.service, await add_sources(house_, publisher, feed), house_.fetcher)
        news.append(await house_.news())
        assert events(news[-1]) == STORIES
    assert news[0] == news[1]


async def test_a_pass_that_was_cut_off_is_finished_by_the_next(
    any_house: Any, publisher: Any, feed: Callable[..., bytes]
) -> None:
    for source in await add_sources(any_house, publisher, feed):
        await pull(any_house.service, source, any_house.fetcher)
    dying = attrs.evolve(any_house.service, storage=Counted(any_house.service.storage, 0))
    with pytest.raises(KilledError):
        await group_new(dying)
    assert events(await any_house.news()) == []
    assert await SourceLanes(any_house.service, any_house.fetcher).pull_due() == ()
    assert events(await any_house.news()) == STORIES
    ungrouped = await any_house.service.read(
        SYSTEM, lambda ctx: ctx.tx.documents.scan(UNGROUPED_ITEMS, limit=1)
    )
    assert ungrouped.rows == ()
