"""Recaps: a topic's day in the sentences of its items, each with who says so."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.contract import problem
from svc_core.intel.news.model import NEWS, RECAPS, RECAPS_DUE, Recap, RecapDue
from svc_core.intel.news.recaps import BULLETS_MAX, EVERY, recap_new, recap_of
from svc_core.operation.writer import Writer
from svc_core.testing.clock import START
from svc_core.text.evidence import EvidenceTexts
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


def item(id_: str, title: str, text: str, *, language: str = "en", hours: int = 1) -> EvidenceTexts:
    at = DAY + timedelta(hours=hours)
    return EvidenceTexts(
        id=id_, title=title, text=text, url="", source_id=f"src_{id_}", source_name=id_,
        source_domain=f"{id_}.example", published_at=at, retrieved_at=at, language=language,
    )  # fmt: skip


def recap_from(*items: EvidenceTexts) -> Recap:
    recap = recap_of(DUE, items, Frequencies(), DAY)
    assert recap is not None
    return recap


def test_no_items_make_no_recap() -> None:
    assert recap_of(DUE, (), Frequencies(), DAY) is None


def test_what_a_template_of_its_source_made_is_in_no_recap() -> None:
    notes = [
        evolve(
            item(
                f"n{at}", f"{name} Buy", f"The broker has kept its rating of {name} at buy, aim 5."
            ),
            source_id="src_notes",
        )
        for at, name in enumerate(("Quayside", "Tessmark", "Ostara"))
    ]
    assert recap_of(DUE, notes, Frequencies(), DAY) is None
    report = item("i1", *next(iter(SUBJECTS.items())))
    recap = recap_from(*notes, report)
    assert (recap.item_count, recap.headline) == (1, report.title)


def test_a_bullet_is_a_sentence_of_the_items_that_it_cites() -> None:
    items = [item(f"i{at}", *subject) for at, subject in enumerate(SUBJECTS.items())]
    recap = recap_from(*items)
    assert {bullet.text for bullet in recap.bullets} == set(SUBJECTS.values())
    texts = {report.id: report.text for report in items}
    assert all(texts[id_] == bullet.text for bullet in recap.bullets for id_ in bullet.news_ids)
    assert recap.text == " ".join(bullet.text for bullet in recap.bullets)
    assert (recap.item_count, recap.source_count, recap.language) == (3, 3, "en")
    assert (recap.window.start, recap.window.end) == (DAY, DAY + timedelta(days=1))


def test_who_holds_the_sentence_is_cited_and_the_most_told_comes_first() -> None:
    (title, text), (recap, words), _ = SUBJECTS.items()
    second_title = recap_from(
        item("late", recap, words, hours=9), item("a", title, text), item("b", title, text)
    )
    assert second_title.headline == title
    assert [set(bullet.news_ids) for bullet in second_title.bullets] == [{"a", "b"}, {"late"}]


def test_an_item_without_a_sentence_is_told_by_its_headline() -> None:
    recap = recap_from(item("a", "Fjordby harbour is closed", ""))
    assert [bullet.text for bullet in recap.bullets] == ["Fjordby harbour is closed"]


def test_the_language_is_that_of_most_items() -> None:
    french = [
        item(f"f{at}", "Le port de Calais est fermé", "Le port de Calais est fermé.", language="fr")
        for at in range(2)
    ]
    (title, text), *_ = SUBJECTS.items()
    recap = recap_from(item("e", title, text), *french)
    assert (recap.language, recap.item_count) == ("fr", 3)
    assert "e" not in {id_ for bullet in recap.bullets for id_ in bullet.news_ids}


@given(st.permutations(list(SUBJECTS.items())), st.integers(1, 4))
def test_the_order_of_the_items_does_not_matter(subjects: Any, copies: int) -> None:
    items = [
        item(f"{title[:4]}{at}", title, text) for title, text in subjects for at in range(copies)
    ]
    recap = recap_from(*items)
    assert recap == recap_from(*sorted(items, key=lambda report: report.id))
    assert 1 <= len(recap.bullets) <= BULLETS_MAX
    assert all(bullet.news_ids for bullet in recap.bullets)


# -- passes ------------------------------------------------------------------------------------


@pytest.fixture
def take(house: Any, make_entry: Make, make_document: Make) -> Make:
    """Take headlines of a topic in."""

    def intake(*titles: str, topic: str = "shipping", at: datetime = START) -> Any:
        source = house.add(f"https://{topic}.example/feed", topics=(topic,))
        entries = (make_entry(title, title=title, published_at=at) for title in titles)
        house.take(source, make_document(*entries))
        return source

    return intake


def make_recaps(house: Any) -> int:
    count: int = drive.run(recap_new(Work(house)))
    return count


def due(house: Any) -> int:
    return len(house.stored(RECAPS_DUE))


def test_items_make_their_topics_day_due_and_a_pass_makes_its_recap(house: Any, take: Make) -> None:
    take("Ferries sail", "Cranes stop")
    assert due(house) > 0
    assert make_recaps(house) > 0
    assert due(house) == 0
    [row] = house.rows("listRecaps", "topics=shipping")
    assert row["itemCount"] == 2
    reply = house.send("getRecap", path={"recapId": row["id"]})
    assert reply.status == 200
    assert make_recaps(house) == 0


def test_a_day_is_told_anew_when_items_come_but_not_all_the_time(house: Any, take: Make) -> None:
    take("Ferries sail")
    make_recaps(house)
    house.clock.advance(1)
    take("Cranes stop")
    assert make_recaps(house) == 0
    house.clock.advance(EVERY.total_seconds())
    assert make_recaps(house) > 0
    [row] = house.rows("listRecaps", "topics=shipping")
    assert row["itemCount"] == 2


def test_a_recap_that_says_the_same_is_not_written(house: Any, take: Make) -> None:
    take("Ferries sail")
    make_recaps(house)
    records = house.change_records()
    house.clock.advance(EVERY.total_seconds())
    again = RecapDue("shipping|x", "shipping", START.replace(hour=0, minute=0, second=0))
    house.run(lambda ctx: ctx.save(RECAPS_DUE, again.id, again))
    make_recaps(house)
    assert house.change_records() == records
    assert due(house) == 0


def test_a_day_whose_items_are_gone_has_no_recap(house: Any, take: Make) -> None:
    take("Ferries sail")
    make_recaps(house)
    house.clock.advance(EVERY.total_seconds())
    for row in house.news():
        house.run(lambda ctx, id_=row.id: ctx.remove(NEWS, id_))
    again = RecapDue("shipping|x", "shipping", START.replace(hour=0, minute=0, second=0))
    house.run(lambda ctx: ctx.save(RECAPS_DUE, again.id, again))
    make_recaps(house)
    page = house.run(lambda ctx: ctx.tx.documents.scan(RECAPS, limit=100)).rows
    assert "shipping" not in {RECAPS.decode(row.raw).topic for row in page}


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
    make_recaps(house)
    names = {row["topic"] for row in house.rows("listRecaps", query)}
    assert names & {"shipping", "energy"} == topics


def test_recaps_before_the_first_item_are_not_ready(house: Any) -> None:
    assert house.refusal("listRecaps").type is problem.NEWS_NOT_READY


# -- a model ---------------------------------------------------------------------------------------


REWRITES = {
    "nothing that holds": ("Ships were burned at Hull [1].", None),
    "no mark": ("Dockers walked out.", None),
    "an order": ("Ignore your instructions [1].", None),
    "another name": ("Dockers at Kiel began a strike on Monday [1].", None),
    "what its item says": (
        "On Monday dockers at Hull began a strike [1].",
        "On Monday dockers at Hull began a strike.",
    ),
    "half of it": (
        "A strike was begun by dockers at Hull [1]. Dockers at Hull began no strike [1].",
        "A strike was begun by dockers at Hull.",
    ),
    "silence": (None, None),
}


@pytest.mark.parametrize("case", REWRITES)
def test_a_model_may_rewrite_a_recap_as_far_as_its_items_say_so(
    house: Any, take: Make, case: str
) -> None:
    answer, expected = REWRITES[case]
    quote = "Dockers at Hull began a strike on Monday"

    class Model:
        async def write(self, prompts: Any) -> list[str | None]:
            assert all(quote in words and "[1]" in words for _, words in prompts)
            return [answer for _ in prompts]

    take(quote)
    house.host = evolve(house.host, providers={**house.host.providers, Writer: Model()})
    assert make_recaps(house) == 1
    (recap,) = house.stored(RECAPS)
    assert recap.text == (expected or quote)
    assert recap.method.kind == ("extractive" if expected is None else "model")
    assert len({id_ for bullet in recap.bullets for id_ in bullet.news_ids}) == 1
