"""Recaps: a topic's day in the sentences of its items, each with who says so."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.contract import problem
from svc_core.intel.news.model import NEWS, RECAPS, RECAPS_DUE, Recap, RecapDue
from svc_core.intel.news.recaps import BULLETS_MAX, EVERY, recap_new, recap_of
from svc_core.testing.clock import START
from svc_core.text.evidence import Evidence
from svc_core.text.frequencies import Frequencies
from tests.core.intel.news.test_grouping import Work

Make = Callable[..., Any]
DAY = datetime(2026, 3, 5, tzinfo=UTC)
DUE = RecapDue("shipping|2026-03-05", "shipping", DAY)
SUBJECTS = {
    "Dockworkers of Fjordby walk out": "Dockworkers of Fjordby walked out over night shifts.",
    "Tanker Ostara waits off Bornholm": "The tanker Ostara has waited off Bornholm since Monday.",
    "Freight rates to Callao double": "Freight rates from Shanghai to Callao doubled in a week.",
}


def item(id_: str, title: str, text: str, *, language: str = "en", hours: int = 1) -> Evidence:
    at = DAY + timedelta(hours=hours)
    return Evidence(
        id=id_, title=title, text=text, url="", source_id=f"src_{id_}", source_name=id_,
        source_domain=f"{id_}.example", published_at=at, retrieved_at=at, language=language,
    )  # fmt: skip


def told(*items: Evidence) -> Recap:
    made = recap_of(DUE, items, Frequencies(), DAY)
    assert made is not None
    return made


def test_no_items_make_no_recap() -> None:
    assert recap_of(DUE, (), Frequencies(), DAY) is None


def test_a_bullet_is_a_sentence_of_the_items_that_it_cites() -> None:
    items = [item(f"i{at}", *subject) for at, subject in enumerate(SUBJECTS.items())]
    made = told(*items)
    assert {bullet.text for bullet in made.bullets} == set(SUBJECTS.values())
    texts = {one.id: one.text for one in items}
    assert all(texts[id_] == bullet.text for bullet in made.bullets for id_ in bullet.news_ids)
    assert made.text == " ".join(bullet.text for bullet in made.bullets)
    assert (made.item_count, made.source_count, made.language) == (3, 3, "en")
    assert (made.window.start, made.window.end) == (DAY, DAY + timedelta(days=1))


def test_who_holds_the_sentence_is_cited_and_the_most_told_comes_first() -> None:
    (title, text), (other, words), _ = SUBJECTS.items()
    made = told(item("late", other, words, hours=9), item("a", title, text), item("b", title, text))
    assert made.headline == title
    assert [set(bullet.news_ids) for bullet in made.bullets] == [{"a", "b"}, {"late"}]


def test_an_item_without_a_sentence_is_told_by_its_headline() -> None:
    made = told(item("a", "Fjordby harbour is closed", ""))
    assert [bullet.text for bullet in made.bullets] == ["Fjordby harbour is closed"]


def test_the_language_is_that_of_most_items() -> None:
    french = [
        item(f"f{at}", "Le port de Calais est fermé", "Le port de Calais est fermé.", language="fr")
        for at in range(2)
    ]
    (title, text), *_ = SUBJECTS.items()
    made = told(item("e", title, text), *french)
    assert (made.language, made.item_count) == ("fr", 3)
    assert "e" not in {id_ for bullet in made.bullets for id_ in bullet.news_ids}


@given(st.permutations(list(SUBJECTS.items())), st.integers(1, 4))
def test_the_order_of_the_items_does_not_matter(subjects: Any, copies: int) -> None:
    items = [
        item(f"{title[:4]}{at}", title, text) for title, text in subjects for at in range(copies)
    ]
    made = told(*items)
    assert made == told(*sorted(items, key=lambda one: one.id))
    assert 1 <= len(made.bullets) <= BULLETS_MAX
    assert all(bullet.news_ids for bullet in made.bullets)


# -- passes ------------------------------------------------------------------------------------


@pytest.fixture
def take(house: Any, make_entry: Make, make_document: Make) -> Make:
    """Take headlines of a topic in."""

    def taken(*titles: str, topic: str = "shipping", at: datetime = START) -> Any:
        source = house.add(f"https://{topic}.example/feed", topics=(topic,))
        entries = (make_entry(title, title=title, published_at=at) for title in titles)
        house.take(source, make_document(*entries))
        return source

    return taken


def made(house: Any) -> int:
    count: int = drive.run(recap_new(Work(house)))
    return count


def due(house: Any) -> int:
    return len(house.run(lambda ctx: ctx.tx.documents.scan(RECAPS_DUE, limit=100)).rows)


def test_items_make_their_topics_day_due_and_a_pass_makes_its_recap(house: Any, take: Make) -> None:
    take("Ferries sail", "Cranes stop")
    assert due(house) > 0
    assert made(house) > 0
    assert due(house) == 0
    [row] = house.rows("listRecaps", "topics=shipping")
    assert row["itemCount"] == 2
    one = house.send("getRecap", path={"recapId": row["id"]})
    assert one.status == 200
    assert made(house) == 0


def test_a_day_is_told_anew_when_items_come_but_not_all_the_time(house: Any, take: Make) -> None:
    take("Ferries sail")
    made(house)
    house.clock.advance(1)
    take("Cranes stop")
    assert made(house) == 0
    house.clock.advance(EVERY.total_seconds())
    assert made(house) > 0
    [row] = house.rows("listRecaps", "topics=shipping")
    assert row["itemCount"] == 2


def test_a_recap_that_says_the_same_is_not_written(house: Any, take: Make) -> None:
    take("Ferries sail")
    made(house)
    told = house.recorded()
    house.clock.advance(EVERY.total_seconds())
    again = RecapDue("shipping|x", "shipping", START.replace(hour=0, minute=0, second=0))
    house.run(lambda ctx: ctx.save(RECAPS_DUE, again.id, again))
    made(house)
    assert house.recorded() == told
    assert due(house) == 0


def test_a_day_whose_items_are_gone_has_no_recap(house: Any, take: Make) -> None:
    take("Ferries sail")
    made(house)
    house.clock.advance(EVERY.total_seconds())
    for row in house.news():
        house.run(lambda ctx, id_=row.id: ctx.remove(NEWS, id_))
    again = RecapDue("shipping|x", "shipping", START.replace(hour=0, minute=0, second=0))
    house.run(lambda ctx: ctx.save(RECAPS_DUE, again.id, again))
    made(house)
    left = house.run(lambda ctx: ctx.tx.documents.scan(RECAPS, limit=100)).rows
    assert "shipping" not in {RECAPS.decode(row.raw).topic for row in left}


def test_a_day_that_changed_meanwhile_stays_due(house: Any, take: Make) -> None:
    take("Ferries sail")

    async def meanwhile() -> None:
        async def unit(tx: Any) -> None:
            ctx = house.context(tx, "", "")
            for row in (await ctx.tx.documents.scan(RECAPS_DUE, limit=100)).rows:
                await ctx.save(RECAPS_DUE, row.id, RECAPS_DUE.decode(row.raw))

        await house.store.write("", unit)

    assert drive.run(recap_new(Work(house, meanwhile))) == 0
    assert due(house) > 0


FILTERS = [
    ("topics=shipping", {"shipping"}),
    ("topics=shipping,energy", {"shipping", "energy"}),
    ("topics=markets", set()),
    ("language=fr", set()),
    ("datetime=2000-01-01T00:00:00Z/2001-01-01T00:00:00Z", set()),
    ("updatedSince=2999-01-01T00:00:00Z", set()),
    ("updatedSince=2000-01-01T00:00:00Z&sort=generatedAt&topics=energy", {"energy"}),
]


@pytest.mark.parametrize(("query", "topics"), FILTERS)
def test_recaps_are_narrowed(house: Any, take: Make, query: str, topics: set[str]) -> None:
    take("Ferries sail")
    take("Grid fails", topic="energy")
    made(house)
    found = {row["topic"] for row in house.rows("listRecaps", query)}
    assert found & {"shipping", "energy"} == topics


def test_recaps_before_the_first_item_are_not_ready(house: Any) -> None:
    assert house.refused("listRecaps").type is problem.NEWS_NOT_READY
