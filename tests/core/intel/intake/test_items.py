"""From the entries of a feed to rows."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import attrs
import pytest

from svc_core.base import ids
from svc_core.intel.intake import registry
from svc_core.intel.news.model import NewsSource, Sentiment
from svc_core.testing.clock import START as NOW

Make = Callable[..., Any]

# -- items -------------------------------------------------------------------------------------


def test_an_entry_becomes_a_row_and_its_words(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    published_at = NOW - timedelta(hours=2)
    entry = make_entry(
        "k",
        title="A terrible attack on the port",
        summary="Short.",
        text="The whole text.",
        url="https://pier.org/1",
        source_url="https://pier.org/1?utm_source=x",
        published_at=published_at,
        authors=("Ann",),
    )
    source = house.add(name="Pier", country_code="MT")
    house.take(source, make_document(entry))
    (row,), (words,) = house.news(), house.words()
    assert row.id == ids.derived_id("obs", "news", f"feed:{source.id}", "k")
    assert (row.title, row.summary, row.url) == (entry.title, "Short.", "https://pier.org/1")
    assert (row.published_at, row.updated_at, row.retrieved_at) == (published_at, None, NOW)
    assert row.source == NewsSource(source.id, "Pier", "pier.org", "MT")
    assert row.sentiment.label == "negative"
    assert words.text == "The whole text."
    assert (words.id, words.taken_at, words.title) == (row.id, NOW, entry.title)


def test_an_entry_without_text_is_found_by_its_summary(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    house.take(house.add(), make_document(make_entry("k", summary="S")))
    assert house.words()[0].text == "S"


@pytest.mark.parametrize(
    ("entry", "document", "source", "language"),
    [("fr", "de", "it", "fr"), (None, "de", "it", "de"), (None, None, "it", "it"), (None,) * 4],
)
def test_the_nearest_word_on_the_language_counts(
    house: Any,
    make_entry: Make,
    make_document: Make,
    entry: str | None,
    document: str | None,
    source: str | None,
    language: str | None,
) -> None:
    source_ = attrs.evolve(house.add(), language=source)
    house.run(lambda ctx: registry.save_source(ctx, source_))
    house.take(
        source_, make_document(make_entry("k", title="Qxv", language=entry), language=document)
    )
    assert house.news()[0].language == language


def test_the_tone_of_an_unjudged_language_is_null(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    document = make_document(make_entry("k", title="Attaque terrible", language="fr"))
    house.take(house.add(), document)
    assert house.news()[0].sentiment == Sentiment(None, None)


def test_topics_come_from_source_categories_and_words(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    entry = make_entry("k", title="Ransomware closes a port", categories=("Energy",))
    house.take(house.add(topics=("world",)), make_document(entry))
    assert {"world", "energy", "ransomware"} <= set(house.news()[0].topics)


def test_the_owner_of_a_source_says_how_far_it_is_trusted(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    options = {"tier": "2", "stateAffiliated": "false"}
    house.take(house.add(options=options), make_document(make_entry("k")))
    source = house.news()[0].source
    assert (source.tier, source.state_affiliated) == (2, False)


def test_a_summary_has_at_most_600_characters(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    house.take(house.add(), make_document(make_entry("k", summary="x" * 700)))
    assert house.news()[0].summary == "x" * 600


def test_a_row_that_says_something_new_keeps_when_it_was_taken_in_and_so_do_its_words(
    house: Any, make_entry: Make, make_document: Make
) -> None:
    source = house.add()
    house.take(source, make_document(make_entry("k", title="T")))
    house.clock.advance(86_400)
    house.take(source, make_document(make_entry("k", title="U")))
    (row,), (words,) = house.news(), house.words()
    assert (row.title, row.retrieved_at) == ("U", NOW)
    assert (words.title, words.taken_at) == ("U", NOW)
