"""Items as they were stored, and their readings."""

from svc_core.text.evidence import LEAD_TERMS, ScoredItem, reading_of, readings
from tests.core.items import item


def test_a_reading_keeps_the_terms_of_headline_lead_and_rest_apart() -> None:
    body = " ".join(f"word{number}" for number in range(LEAD_TERMS + 2))
    reading = reading_of(item("Floods in Spain", body))
    assert reading.title == ("flood", "spain")
    assert len(reading.lead) == LEAD_TERMS
    assert reading.rest == (f"word{LEAD_TERMS}", f"word{LEAD_TERMS + 1}")
    assert (reading.counts["flood"], reading.counts["word0"], reading.counts["word61"]) == (
        3,
        2,
        1,
    )
    assert reading.length == sum(reading.counts.values())


def test_terms_stand_side_by_side_across_stop_words() -> None:
    reading = reading_of(item("The Bank of England", "A strike at the port. Rotterdam"))
    assert reading.holds(("bank", "englan"))
    assert reading.holds(("strike", "port"))
    assert reading.holds(("port",))
    assert not reading.holds(("englan", "bank"))
    assert not reading.holds(("englan", "strike"))  # of headline and text
    assert not reading.holds(("bank", "france"))


def test_an_item_without_a_date_is_as_old_as_its_retrieval() -> None:
    without_date = item("A title", published_at=None)
    assert without_date.at == without_date.retrieved_at
    assert without_date.publisher == "alpha.example"


def test_items_with_one_id_are_read_once_in_any_order() -> None:
    twice = [item("A first title", id="1"), item("B other title", id="1")]
    assert [reading.evidence.title for reading in readings(twice)] == ["A first title"]
    assert [reading.evidence.title for reading in readings(twice[::-1])] == ["A first title"]


def test_what_is_chosen_is_quoted_as_it_was_stored() -> None:
    hit = ScoredItem(
        reading_of(item("World › Ministers  meet again", "They met. It rained all day.")), 1.0
    )
    assert hit.evidence.title == "World › Ministers  meet again"
    assert hit.reading.headline == "Ministers meet again"
    assert hit.reading.sentences == ("It rained all day.",)
    assert hit.reading.language == "en"
