"""What a source fills into a form of its own is told from what it reports."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.intel.incidents.story_grouping import first_members
from svc_core.text.evidence import EvidenceTexts, reading_of, readings
from svc_core.text.templates import without_templates
from tests.core.items import item

FIRMS = ("Quayside", "Tessmark Systems", "Ostara Shipping", "Fjordby Ports")
NOTES = [
    item(
        f"{name} Buy", f"The broker Pierson has kept its rating of {name} at buy, aim {at} dollars."
    )
    for at, name in enumerate(FIRMS)
]
ODD = item("Callao Freight Hold", "Marlow & Sons cut what they think of Callao Freight to hold.")
REPORTS = [
    item("Dockworkers of Fjordby walk out", "Dockworkers of Fjordby walked out over night shifts."),
    item("Tanker Ostara waits off Bornholm", "The tanker Ostara has waited there since Monday."),
    item("Freight rates to Callao double", "Freight rates from Shanghai to Callao doubled."),
]
SIGNED = [
    item(each.title, f"{each.text} Read more on our page.", id=f"{each.id}, signed")
    for each in REPORTS
]
LINKS = [item(each.title, "Continue reading on our page.") for each in REPORTS]
UPDATES = [
    item(
        f"Ecuador quake: {killed} dead",
        f"A magnitude 6.8 earthquake struck the coast of Ecuador on Saturday, killing at least "
        f"{killed} people and injuring {injured} others, {told} said.",
    )
    for killed, injured, told in [
        (4, 40, "officials"), (12, 126, "the authorities"), (15, 446, "President Daniel Noboa"),
    ]
]  # fmt: skip
AFTERWARDS = item("Ports of Ecuador reopen", "Ships may call at Esmeraldas and Manta again.")
NAMELESS = [
    item(
        f"The {word} of today",
        f"the {word} of today is at {at} points, more than on the day before by half.",
    )
    for at, word in enumerate(("wheat", "steel", "cocoa"))
]
MANY = [
    item(f"{name} Buy", f"The broker Pierson has kept its rating of {name} at buy, aim 9 dollars.")
    for name in (*FIRMS, "Bornholm Lines", "Varde Grain", "Orsk Mills", "Tallis Steel", "Nexo Oil")
]
EMPTY = item("A headline alone", "", id="empty")
SIGN_OFFS = {
    "a line of two words": "{text} Mehr lesen",
    "a line before the text": "From our harbour desk. {text}",
    "a line of its own": "{text}\nWrite to the harbour desk of our paper.",
    "a number in it": "{text} This page was opened {number} times on Monday.",
    "the headline in it": "{text} The item {title} was first seen on the Quay Gazette.",
    "a call in brackets": "{text} (If pictures are missing, visit the page itself)",
}
COPIES = [
    item(each.title, each.text, id=f"{each.id}, copied", source_id=f"src_{n}")
    for n, each in enumerate(NOTES)
]


def ids(items: Sequence[EvidenceTexts]) -> set[str]:
    return {each.id for each in items}


def forms(items: Sequence[EvidenceTexts]) -> set[str]:
    return {each.evidence.id for each in without_templates(readings(items)) if each.is_form}


@pytest.mark.parametrize(
    ("items", "made"),
    [
        ([], []),
        (NOTES[:2], []),  # two may be alike by chance
        (NOTES, NOTES),
        ([*NOTES, *REPORTS], NOTES),
        ([*MANY, ODD], [*MANY, ODD]),  # most of what the source has is
        ([*MANY, EMPTY], [*MANY, EMPTY]),
        ([*NOTES, ODD], NOTES),  # five items tell nothing of a sixth
        (UPDATES, []),  # of one event
        ([*UPDATES, AFTERWARDS], []),
        ([*NOTES, *UPDATES, AFTERWARDS], NOTES),
        (NAMELESS, NAMELESS),
        (REPORTS, []),
        (SIGNED, []),  # what all say alike says nothing of one
        (LINKS, []),
        ([item(f"Headline {n}") for n in range(5)], []),
        (COPIES, []),  # a template is of one source
    ],
)
def test_what_a_template_made_is_known_by_its_source(
    items: Sequence[EvidenceTexts], made: Sequence[EvidenceTexts]
) -> None:
    assert forms(items) == ids(made)


@given(st.permutations([*NOTES, ODD, *REPORTS, *SIGNED, *COPIES, *UPDATES, *NAMELESS]))
def test_the_order_of_items_does_not_matter(items: Any) -> None:
    def rest_of(items: Sequence[EvidenceTexts]) -> dict[str, tuple[str, bool]]:
        rest = without_templates([*map(reading_of, items)])
        return {each.evidence.id: (each.text, each.is_form) for each in rest}

    assert rest_of(items) == rest_of(sorted(items, key=lambda each: each.id))


@pytest.mark.parametrize("form", SIGN_OFFS.values(), ids=SIGN_OFFS)
def test_what_stands_under_every_headline_is_no_part_of_a_text(form: str) -> None:
    texts = [
        form.format(text=each.text, title=each.title, number=at) for at, each in enumerate(REPORTS)
    ]
    items = [item(each.title, text) for each, text in zip(REPORTS, texts, strict=True)]
    rest = without_templates(readings(items))
    plain = readings(REPORTS)
    assert [reading.text for reading in rest] == [reading.text for reading in plain]
    assert [reading.counts for reading in rest] == [reading.counts for reading in plain]
    assert [reading.sentences for reading in rest] == [reading.sentences for reading in plain]
    assert [reading.evidence for reading in rest] == [
        reading.evidence for reading in readings(items)
    ]
    alone = readings(items[:1])
    assert without_templates(alone) == alone
    assert without_templates(alone, readings(items))[0].text == plain[0].text


@pytest.mark.parametrize("items", [UPDATES, REPORTS, NOTES[:2]])
def test_updates_and_reports_keep_all_that_they_say(items: Sequence[EvidenceTexts]) -> None:
    whole = readings(items)
    assert without_templates(whole) == whole


def test_what_a_template_made_is_no_story() -> None:
    again = [item(f"{REPORTS[0].title} again", REPORTS[0].text, id="b", source_id="src_beta")]
    items = readings([*NOTES, *REPORTS, *again])
    firsts = first_members(items)
    together = {id_ for id_, first in firsts.items() if (id_, first) != (first, id_)}
    assert firsts[REPORTS[0].id] == firsts["b"]
    assert together == {REPORTS[0].id, "b"} - {firsts["b"]}
