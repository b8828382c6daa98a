"""Who holds an office that a subject describes, as the items at hand say."""

from collections.abc import Sequence
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.reports.draft import select_stories
from svc_core.text.frequencies import Frequencies
from svc_core.text.office_holders import holder_of
from svc_core.text.query import NAME_FACTOR, Query
from tests.core.text.conftest import Make

ITEMS = (
    "French President Jeanne Morel opened a bridge in Lyon.",
    "The bridge was opened by Jeanne Morel, the French president, on Monday.",
    "President Arturo Vidal of Chile met President Jeanne Morel in Paris.",
    "Chile's president Vidal spoke of trade. President Vidal left France on Tuesday.",
    "Business Secretary Ann Holt visited a plant. The former Business Secretary Tom Reed did not.",
    "Ann Holt, who is the business secretary of the United Kingdom, said so.",
    "Israeli Defence Minister Dan Levi spoke; Finland's Defence Minister Aino Salo was silent.",
    "Finland's Defence Minister Aino Salo and Dan Levi met.",
    "Gesundheitsminister Karl Vogt lehnt das ab.",
    "Vogt widersprach. Anklage will niemand erheben.",
)


@pytest.mark.parametrize(
    ("subject", "language", "name"),
    [
        ("The French president", "en", "morel"),
        ("What the French president said", "en", "morel"),
        ("The president of France", "en", "morel"),
        ("The British business secretary", "en", "holt"),
        ("The Israeli defence minister", "en", "levi"),
        ("Der Gesundheitsminister", "de", "vogt"),
        ("The former French president", "en", None),  # who it was, nobody is asked
        ("The president", "en", None),  # of what?
        ("The Norwegian president", "en", None),
        ("The bridge in Lyon", "en", None),
        ("The president who spoke of trade", "en", None),
    ],
)
def test_the_items_say_who_holds_an_office(subject: str, language: str, name: str | None) -> None:
    holder = holder_of(subject, language, ITEMS)
    assert (holder and holder[1]) == name


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["French President Jeanne Morel spoke."], None),  # of one item alone nobody is known
        (["French President Jeanne Morel spoke.", "Morel spoke again."], "morel"),
        (["French President Morel spoke.", "French President Vidal spoke."], None),
        (["French president Summer comes.", "Summer, the French president", "In summer"], None),
        (["France has a bridge, said President Morel."] * 3, "morel"),
        (["France has a bridge, said President Morel."] * 3 + ["President Morel spoke."] * 3, None),
        (["France has a bridge, said President Morel."] * 2, None),
        (
            ["French President Morel’s plan.", "Morel's plan, as French President Morel said"],
            "morel",
        ),
    ],
)
def test_what_is_enough(texts: Sequence[str], name: str | None) -> None:
    holder = holder_of("The French president", "en", texts)
    assert (holder and holder[1]) == name


@given(st.permutations(ITEMS))
def test_the_order_of_items_decides_nothing(texts: Sequence[str]) -> None:
    subject = "The French president"
    assert holder_of(subject, "en", texts) == holder_of(subject, "en", ITEMS)


def test_a_query_seeks_the_name_in_place_of_the_office() -> None:
    query = Query.of("Bridges; the South Korean president", (), "en")
    texts = ["South Korean President Lee Minho met a guest.", "The guest met Minho."]
    bridges, president = query.with_holders(texts).parts
    assert bridges == query.parts[0]
    assert president.factors == {"minho": NAME_FACTOR}
    assert president.synonyms == ((("minho",), (("south", "korean", "presid"),)),)


@pytest.mark.parametrize("topic", ["The US president", "Bridges; the US president"])
def test_a_name_is_searched_in_the_store_and_sought_once(topic: str) -> None:
    texts = ["US President Jo Lee spoke.", "US President Jo Lee left."]
    query = Query.of(topic, (), "en").with_holders(texts)
    assert query.terms["lee"] == NAME_FACTOR
    assert query.with_holders(texts) == query


def test_an_item_with_the_name_alone_stays_where_its_source_repeats_a_footer(make: Make) -> None:
    footer = " Write to us about anything that you saw on your way to work this week."
    items = [
        make("French President Morel opens a bridge", "It is 90 metres long." + footer),
        make("Bridge in Lyon", "Jeanne Morel, the French president, opened it." + footer),
        make("Morel signs a law on ferries", "Ferries must carry boats." + footer),
    ]
    others = [make(f"{what} in Oslo", footer) for what in ("Chess", "Snow", "Opera")]
    query = Query.of("The French president", (), "en")
    selection = select_stories(query, [*items, *others], Frequencies())
    assert {member.evidence.title for member in selection.members} == {o.title for o in items}


@pytest.mark.parametrize(
    "part", ["A" * 96, "A, a a a a ", " president", "president President A ", "president Aa "]
)
def test_a_long_text_costs_little(part: str) -> None:
    start = process_time()
    assert holder_of("The French president", "en", [part * 5_000]) is None
    assert process_time() - start < 4
