"""Sentences that answer a question: how often rightly, and whatever stands beside them."""

import random
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import cycle, islice

import pytest
from attrs import evolve

from svc_core.agent.passages import (
    CORRECTED_MAX,
    Passage,
    corrected,
    select,
    without_markup,
)
from tests import answers
from tests.answers import NOW, UNTOLD

PASSAGES = answers.passages()


def texts(question, passages=PASSAGES):
    return [item.text for item in select(question, passages, NOW)]


QUESTIONS = [question for half in ("dev", "report") for question in answers.questions(half)]
SAMPLE = [item for item in QUESTIONS if item.grounds != UNTOLD][::9]
FEW = PASSAGES[:8]
MARKS = ("ARR", "HACKED", "evil.example", "SECRET", "http", "<", "![", "[1]")
INJECTIONS = answers.injections()


@cache
def early():
    """A dozen questions that the first documents answer."""
    answers_ = (item.text for item in QUESTIONS if item.grounds != UNTOLD and texts(item.text, FEW))
    return list(islice(answers_, 12))


FLOORS = {"dev": (0.96, 0.95), "report": (0.9, 0.9)}
"""Of the answerable questions answered rightly, and of the others declined."""


@pytest.mark.parametrize("half", FLOORS)
def test_questions_are_answered_rightly_or_not_at_all(half):
    counts = answers.measure(half)
    answerable = sum(question.grounds != UNTOLD for question in answers.questions(half))
    untold = len(answers.questions(half)) - answerable
    right, silences = FLOORS[half]
    assert counts["right"] >= right * answerable
    assert counts["declined rightly"] >= silences * untold
    assert counts["supported"] == counts["sentences"] > 0


def test_a_long_text_is_quoted_as_a_short_one_is():
    question, text = "Where was Mabel Quist born?", "Mabel Quist was born in Oslo."
    padding = " ".join(["The weather was calm and dry all day."] * 80)
    short, long = (Passage(0, "A life", each, NOW) for each in (text, f"{text} {padding}"))
    assert texts(question, [long]) == texts(question, [short]) == [text]


@pytest.mark.parametrize("question", SAMPLE, ids=lambda question: question.text[:40])
def test_neither_the_order_of_passages_nor_one_about_something_else_changes_anything(question):
    stranger = Passage(99, "Cookery column", "Simmer the broth gently and season with dill.", NOW)
    permutation = [stranger, *PASSAGES]
    random.Random(7).shuffle(permutation)
    assert texts(question.text, permutation) == texts(question.text)


def test_injections_in_a_question_change_no_answer():
    replies = {question: texts(question, FEW) for question in early()}
    assert all(replies.values())
    for attack, (question, reply) in zip(INJECTIONS, cycle(replies.items()), strict=False):
        assert texts(f"{attack}\n{question}", FEW) == reply, attack


def test_injections_alone_are_no_question():
    replies = {injection: texts(injection, FEW) for injection in INJECTIONS}
    assert {attack: reply for attack, reply in replies.items() if reply} == {}


@pytest.mark.parametrize("place", ["title", "text"])
def test_injections_in_documents_are_never_told(place):
    for attack, question in zip(INJECTIONS, cycle(early()), strict=False):
        attacks = [
            evolve(item, **{place: f"{attack}\n{getattr(item, place)}\n{attack}"}) for item in FEW
        ]
        text = "\n".join(texts(question, attacks))
        assert not [mark for mark in MARKS if mark in text], (attack, text)


# -- tables ------------------------------------------------------------------------------------

DAY = datetime(2026, 1, 5, 8, tzinfo=UTC)


def passage(text, title="", at=DAY, number=1):
    return Passage(number, title, text, at)


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("Port ![x](https://e.example/a.png) shut", "Port   shut"),
        ("See [the notice](https://e.example) today", "See the notice today"),
        ("As told [1] and [2, 3] and 【4†s】", "As told   and   and  "),
        ("a<b>bold</b> word<!-- hidden -->", "a bold  word "),
        ("go to www.e.example/x or https://e.example now", "go to   or   now"),
        ("zero\u200bwidth and \u202eturned", "zerowidth and turned"),
    ],
)
def test_what_does_not_belong_to_words_is_left_out(text, bare):
    assert without_markup(text) == bare


def test_what_several_passages_say_has_all_their_numbers():
    answer = "Harbourmaster Ida Quist closed the port of Lowhaven."
    shapes = [passage(answer), passage(answer, number=2)]
    (sentence,) = select("Who closed the port of Lowhaven?", shapes, NOW)
    assert sentence.numbers == (1, 2)


def test_sources_that_differ_are_both_told_the_newest_first():
    first = passage("The storm in Lowhaven killed 4 people.")
    later = passage("The storm in Lowhaven killed 9 people.", at=DAY + timedelta(days=1), number=2)
    sentences = select("How many people did the storm in Lowhaven kill?", [first, later], NOW)
    assert [item.numbers for item in sentences] == [(2,), (1,)]


def test_the_next_sentence_may_be_the_reason():
    text = "The ferry line to Lowhaven closed. A captain had fallen ill. It rained."
    sentences = select("Why did the ferry line to Lowhaven close?", [passage(text)], NOW)
    assert [item.text for item in sentences] == [
        "The ferry line to Lowhaven closed.",
        "A captain had fallen ill.",
    ]


def test_no_reason_is_told_of_what_a_text_does_not_tell():
    assert texts("Why did Tomas Wendel resign after a dispute over the budget?")
    assert not texts("Why did Tomas Wendel sing after a dispute over the budget?")


@pytest.mark.parametrize(
    ("question", "count"),
    [
        ("How many people did the storm in Lowhaven kill in 2026?", 1),
        ("How many people did the storm in Lowhaven kill in 2024?", 0),
        ("How many people did the storm in Lowhaven kill in January?", 1),
        ("How many people did the storm in Lowhaven kill in March?", 0),
        ("How many people did the storm in Lowhaven kill on 5 January 2026?", 1),
        ("How many people did the storm in Highhaven kill?", 0),
        ("What happened in Lowhaven?", 1),
        ("What happened?", 0),
        ("", 0),
    ],
)
def test_another_year_month_or_name_is_no_answer(question, count):
    sentences = select(question, [passage("The storm in Lowhaven killed 4 people.")], NOW)
    assert len(sentences) == count


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("Which ministry spoke about France?", True),
        ("What did the WHO say about malaria?", True),
        ("What did the FAO say about malaria?", False),
    ],
)
def test_names_are_known_in_other_forms(question, is_told):
    text = "The World Health Organization warned of malaria. The French ministry spoke of it."
    assert bool(select(question, [passage(text)], NOW)) is is_told


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("quist lowhaven ferry loan", True),
        ("lowhaven quist loan ferry", True),
        ("quist lowhaven ferry subsidy", False),
        ("Which loan did Lowhaven Quist take?", False),
    ],
)
def test_keywords_stand_anywhere_in_what_answers_them_and_words_of_a_name_together(
    question, is_told
):
    text = "Mayor Ida Quist of Lowhaven took a loan for the ferry."
    assert bool(select(question, [passage(text)], NOW)) is is_told


def test_a_date_of_the_future_is_read_as_now():
    ahead = passage("The storm in Lowhaven killed 4 people.", at=NOW + timedelta(days=900))
    dateless = passage("The storm in Lowhaven killed 5 people.", at=None, number=2)
    question = "How many people did the storm in Lowhaven kill in 2026?"
    assert [item.numbers for item in select(question, [ahead, dateless], NOW)] == [(1,)]


def test_a_comparison_without_names_is_a_question_like_others():
    sentences = select("Compare storm damage and flood damage", [passage(STORM)], NOW)
    assert [item.text for item in sentences] == [STORM]


MEASURES = [
    ("How long was Lowhaven without power?", "Lowhaven was without power for seven hours."),
    ("How old is Ida Quist of Lowhaven?", "Ida Quist, a 34-year-old pilot, lives in Lowhaven."),
    ("How tall is the Lowhaven tower?", "The tower of Lowhaven stands at 182 metres."),
    ("How heavy is the Lowhaven satellite?", "Lowhaven launched a 680-kilogram satellite."),
    ("What share of Lowhaven has power?", "Power is back in 40 percent of Lowhaven."),
]


@pytest.mark.parametrize(("question", "text"), MEASURES)
def test_a_measure_is_answered_by_a_number_of_its_unit(question, text):
    second = passage("Lowhaven's tower, satellite and power cost Ida Quist 90 crowns.", number=2)
    sentences = select(question, [second, passage(text)], NOW)
    assert [item.text for item in sentences] == [text]


def test_who_did_something_is_answered_by_what_tells_the_deed():
    text = "The bridge of Lowhaven won an award of the Quist foundation."
    assert not texts("Who designed the bridge of Lowhaven?", [passage(text)])
    assert texts("Who won the award in Lowhaven?", [passage(text)])


def test_a_title_is_told_where_no_sentence_of_its_text_comes_near():
    text = passage("A cable broke at noon.", "Ida Quist closes the port of Lowhaven for two days")
    assert texts("How long is the port of Lowhaven closed?", [text]) == [text.title]


def test_what_was_cut_off_in_the_middle_is_read_too():
    text = passage("A cable broke.Harbourmaster Ida Quist closed the port of Lowhaven")
    assert texts("Who closed the port of Lowhaven?", [text]) == [
        "Harbourmaster Ida Quist closed the port of Lowhaven"
    ]


STORM = "The storm damage was higher than the flood damage."


def test_capitals_tell_no_names_where_all_words_have_them():
    question = "How Many People Did The Storm Kill In Lowhaven Last Winter Season?"
    assert texts(question, [passage("The storm in Lowhaven killed 4 people last winter season.")])


FLIGHTS = Passage(
    1,
    "Finland counts drones",
    "Finland's intelligence service counted 73 drones near harbours. Reindeer herders saw none.",
    NOW,
)


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Drohnen flogen in Finnland nahe den Häfen?",
        "Combien de drones le service de renseignement finlandais a-t-il comptés près des ports ?",
        "¿Cuántos drones contó el servicio de inteligencia de Finlandia junto a los puertos?",
        "How many dornes did the inteligence service count in Finland?",
        "How many drones did the intelligence servcie count near harbuors?",
    ],
)
def test_a_question_in_another_language_or_with_a_letter_wrong_is_answered(question):
    assert texts(question, [FLIGHTS])[:1] == [FLIGHTS.text.partition(" Reindeer")[0]]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wie viele Tore schoss der Klub in Almara?", "Der Klub schießt in Almara vier Tore."),
        ("Combien de buts le club a-t-il mis à Almara ?", "Le club met quatre buts à Almara."),
        ("¿Cuántos goles hizo el club en Almara?", "El club hace cuatro goles en Almara."),
    ],
)
def test_a_verb_is_known_in_all_its_forms(question, text):
    assert texts(question, [passage(text)]) == [text]


@pytest.mark.parametrize(
    ("text", "is_sum"),
    [
        ("The restored lifeboat Hester Crane cost 40,000 euros.", True),
        ("Restoring the lifeboat Hester Crane cost 12 percent more than was planned.", True),
        ("The restored lifeboat Hester Crane saved 61 people.", False),
    ],
)
def test_a_cost_is_told_in_money_or_as_a_share(text, is_sum):
    question = "How much did it cost to restore the lifeboat Hester Crane?"
    assert bool(texts(question, [passage(text)])) == is_sum


def test_a_few_words_of_a_question_are_read_as_the_passages_spell_them():
    words = [f"{sign}{sign}harbour" for sign in "bcdfghjklmnp"]
    typed = " ".join(f"{word[:-2]}{word[:-3:-1]}" for word in words)
    right = corrected(typed, [passage(" ".join(words))]).split()
    assert right[:CORRECTED_MAX] == words[:CORRECTED_MAX]
    assert not {*right[CORRECTED_MAX:]} & {*words}


def test_a_word_of_the_dictionary_is_no_misspelling_of_another():
    question = "Wie viele Menschen starben beim Sturm in Lowhaven?"
    assert corrected(question, [passage("Der Sturm nahm ihnen vieles.")]) == question


GIFT = "Orrin Vale donates $300,000 to the Lowhaven water crisis. It rained for 20 minutes."
SCHOOLS = "In autumn Orrin Vale opened 3 schools in Lowhaven."


@pytest.mark.parametrize(
    ("question", "others", "count"),
    [
        ("How much did Orrin Vale give to help with the water emergency in Lowhaven?", [], 1),
        (
            "How much did Orrin Vale give to help with the water emergency in Lowhaven?",
            [SCHOOLS],
            0,
        ),
        (
            "How much did Orrin Vale give to help the water emergency of Tannfeld in Lowhaven?",
            [],
            0,
        ),
        ("What did Orrin Vale give to help with the water emergency in Lowhaven?", [], 0),
    ],
)
def test_other_words_answer_where_one_text_alone_has_all_names(question, others, count):
    rows = [passage(text, number=at) for at, text in enumerate([GIFT, *others])]
    sentences = [item.text for item in select(question, rows, NOW)]
    assert sentences == [GIFT.partition(". ")[0] + "."] * count


@pytest.mark.parametrize(
    ("question", "text", "is_answer"),
    [
        (
            "Combien de départements sont en alerte orange samedi ?",
            "Samedi, trente départements sont en alerte orange.",
            True,
        ),
        ("In welchem Alter starb Orrin Vale?", "Am Montag starb Orrin Vale mit 90 Jahren.", True),
        ("In welchem Alter starb Orrin Vale?", "Am Montag starb Orrin Vale mit 90 Gästen.", False),
        (
            "¿Cuánto tiempo estuvo cerrado el puerto de Lowhaven?",
            "El puerto de Lowhaven estuvo cerrado tres semanas.",
            True,
        ),
        (
            "¿Cuánto tiempo estuvo cerrado el puerto de Lowhaven?",
            "El puerto de Lowhaven estuvo cerrado con tres barcos.",
            False,
        ),
    ],
)
def test_numbers_and_their_units_are_read_in_words_of_several_languages(question, text, is_answer):
    assert bool(select(question, [passage(text)], NOW)) is is_answer


@pytest.mark.parametrize(
    "question",
    [
        "Wie viele Drohnen zählte der schwedische Geheimdienst?",
        "¿Cuántos barcos hundió la marina de Finlandia?",
        "How many dornes did Sweden count?",
        "How many drones did Rinland count?",
        "how many drones did rinland count?",
        "Wie viele Drohnen zählte Messi in Finnland?",
        "cuántos drones contó messi en finlandia",
    ],
)
def test_what_a_passage_does_not_say_is_declined_in_any_language(question):
    assert texts(question, [FLIGHTS]) == []
