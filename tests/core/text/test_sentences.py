"""Sentences and headlines: where they begin and end, and which of them can speak."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.text.sentences import (
    clean_headline,
    is_anaphoric,
    is_aside,
    is_broken,
    is_faulty,
    is_whole,
    names_subjects,
    split_sentences,
    stands_alone,
    with_full_stop,
)

SENTENCES = [
    ("One cat sat here. Two dogs ran there.", ["One cat sat here.", "Two dogs ran there."]),
    (
        "Mr. Smith of the U.S. Army paid 2.5 million. He left on 3. May with others.",
        ["Mr. Smith of the U.S. Army paid 2.5 million.", "He left on 3. May with others."],
    ),
    (
        "“It is all over now.” She left the room quickly.",
        ["“It is all over now.”", "She left the room quickly."],
    ),
    ("PARIS (Reuters) - France said it agrees today.", ["France said it agrees today."]),
    ("submitted by someone to news [link] [12 comments]", []),
    ("The court said it agrees. Read more", ["The court said it agrees."]),
    ("The court said it agrees. Continue reading this article here", ["The court said it agrees."]),
    ("It ended in April.Previously, nobody had known it.", None),
    ("The minister said that the […]", ["The minister said that the"]),
    ("The minister said that the ...", ["The minister said that the ..."]),
    (
        "首相は新しい法案を発表した。野党はこれに反対している。",
        ["首相は新しい法案を発表した。", "野党はこれに反対している。"],
    ),
    ("First part of it here | Second part of it there", None),
    ("Foram publicadas as tabelas de IRS.O valor sobe este ano.", None),
    ("It was sold in the election. 🇺🇸", ["It was sold in the election. 🇺🇸"]),
    ("One cat sat here. One cat sat here.", ["One cat sat here."]),
    ("ALL CAPITALS ARE SHOUTED HERE", []),
    ("Too short.", []),
    ("The <b>bold</b> court said <!-- no --> it agrees.", ["The bold court said it agrees."]),
    ("x" * 700, []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_sentences_of_a_text(text: str, expected: list[str] | None) -> None:
    actual = split_sentences(text)
    assert actual == expected if expected is not None else len(actual) == 2


@given(st.text(alphabet="abc ABC.!?…'“”()|\n0123456789-", max_size=120))
def test_a_sentence_is_always_a_run_of_its_text(text: str) -> None:
    line = " ".join(text.split())
    assert all(sentence in line for sentence in split_sentences(text))


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("World › Ministers  meet again", "Ministers meet again"),
        ("Video: Ministers meet", "Ministers meet"),
        ("Live: Vote", "Live: Vote"),
        ("Plain title", "Plain title"),
    ],
)
def test_a_headline_loses_its_section_label(title: str, expected: str) -> None:
    assert clean_headline(title) == expected


def test_no_sentence_runs_from_one_paragraph_into_the_next() -> None:
    text = "Inquiry opens into the bridge\nFour engineers were questioned on Monday.\nCars wait."
    assert split_sentences(text) == ["Four engineers were questioned on Monday."]
    assert split_sentences("Inquiry opens into the bridge\nFour engineers wait for the court") == [
        "Inquiry opens into the bridge",
        "Four engineers wait for the court",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NAIROBI, March 4 - Rain was seen in the hills.", ["Rain was seen in the hills."]),
        ("BERLIN (dpa) — Der Rat hat lange getagt.", ["Der Rat hat lange getagt."]),
        ("Foto: dpa\nDer Rat hat lange getagt.", ["Der Rat hat lange getagt."]),
        ("It was said in parliament [?]", ["It was said in parliament"]),
        ("We use cookies on this page. The court was closed.", ["The court was closed."]),
        ("Sign up to our daily newsletter. The court was closed.", ["The court was closed."]),
        (
            "The post Court shut appeared first on Paper.\nThe court was shut.",
            ["The court was shut."],
        ),
    ],
)
def test_what_stands_around_the_news_is_none(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "faulty"),
    [
        ("The harbour was closed after the long storm.", "en", False),
        ("The harbour fell into the sea last night.", "en", False),
        ("A house of old oak in the middle of the town.", "en", True),
        ("Was the harbour closed after the long storm?", "en", True),
        ("It was closed today.", "en", True),
        ("Der Hafen wurde nach dem Sturm geschlossen.", "de", False),
        ("Le port du vieux bourg sans un quai.", "fr", True),
        ("El puerto fue cerrado tras la tormenta.", "es", False),
        ("O navio foi visto perto do porto.", "pt", False),
        ("Il porto è chiuso dopo la tempesta.", "it", False),
        ("De haven is na de storm gesloten.", "nl", False),
        ("Prístav bol po búrke na dlho zatvorený.", "sk", False),
        ("Port został po burzy zamknięty na tydzień.", "pl", False),
        ("Порт был закрыт после сильной бури.", "ru", False),
        ("Satama on suljettu myrskyn jälkeen taas.", "fi", False),
        ("港は嵐の後に閉鎖された。", "ja", False),
    ],
)
def test_a_sentence_that_asks_is_short_or_has_no_verb_has_a_fault(text, language, faulty) -> None:
    assert is_faulty(text, language) is faulty


@pytest.mark.parametrize(
    ("text", "language", "leaning"),
    [
        ("“He said that it was over,” she wrote.", "en", True),
        ("Es war ein langer Tag für den Rat.", "de", True),
        ("Es un puerto de mar.", "es", False),
        ("Heron ponds freeze over in the north.", "en", False),
        ("In that universe the ponds are frozen.", "en", True),
        ("42.", "en", False),
        ("24 people were hurt in the blast.", None, False),
    ],
)
def test_a_sentence_leans_by_its_first_word_in_its_own_language(text, language, leaning) -> None:
    assert is_anaphoric(text, language) is leaning
    assert not (leaning and stands_alone(text, language))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("He called it “over”.", True),
        ("Er sagte: „Das ist gut.“", True),
        ("»Das« ist so.", True),
        ("6 million) the thieves reversed their car.", False),
        ('The boat was "sold again.', False),
        ("and then it was over.", False),
        ("Near the old town of Albany.", False),
        ("It was over and", False),
        ("Le procÃ¨s est ouvert.", False),
    ],
)
def test_a_whole_sentence_has_a_beginning_and_an_end(text: str, whole: bool) -> None:
    assert is_whole(text) is whole


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Zeppelin lands", "Zeppelin lands."),
        ("Zeppelin lands!", "Zeppelin lands!"),
        ("Zeppelin lands. 🇺🇸", "Zeppelin lands. 🇺🇸"),
        ("Will it land?”", "Will it land?”"),
        ("More than a ‘reset’", "More than a ‘reset’."),
        ("It lands …", "It lands …"),
        ("It lands –", "It lands."),
        ("飛行船が着陸", "飛行船が着陸。"),
        ("पोत उतरा", "पोत उतरा।"),
        ("جہاز اتر گیا ہے", "جہاز اتر گیا ہے۔"),
        ("—", "—."),
    ],
)
def test_a_headline_as_a_sentence_has_the_full_stop_of_its_script(title, sentence) -> None:
    assert with_full_stop(title) == sentence
    assert with_full_stop(with_full_stop(title)) == with_full_stop(title)


def test_a_headline_that_asks_shows_or_names_a_day_is_an_aside() -> None:
    asides = (
        "Is it over?",
        "Watch the storm hit",
        "Storm hits us (Op-ed)",
        "Storm hits port – video",
        "27 November, 2005",
        "Storm",
    )
    assert all(map(is_aside, asides))
    assert not any(map(is_aside, ("Storm hits the port", "東京都知事選")))
    assert is_broken("Le procÃ¨s")


@pytest.mark.parametrize(
    ("text", "language", "alone"),
    [
        ("While one group will look at policy and legal aspects of the bill.", "en", False),
        ("While one group looks at policy, another was asked to write the bill.", "en", True),
        ("In another life I was asked to write the whole bill.", "en", False),
        ("The mayor said “I was asked to write the whole bill” on Monday.", "en", True),
        ("Mein Vater hat das ganze Gesetz geschrieben.", "de", False),
    ],
)
def test_a_lone_clause_or_a_word_of_the_writers_own_is_not_understood_alone(
    text: str, language: str, alone: bool
) -> None:
    assert stands_alone(text, language) is alone


def test_only_where_sentences_name_their_subject_do_words_tell_which_of_them_lean() -> None:
    assert [names_subjects(language) for language in ("en", "de", "es", "sv", None)] == [
        *(True, True),
        *(False, False, False),
    ]


@pytest.mark.parametrize("piece", ["A. ", "Mr. ", "U.S. ", "<!--", "(", "' . "])
def test_sentences_take_time_in_proportion_to_the_text(piece: str) -> None:
    def seconds(chars: int) -> float:
        start = process_time()
        split_sentences(piece * (chars // len(piece)))
        return process_time() - start

    assert (
        min(seconds(16_000) for _ in range(3)) < 12 * min(seconds(4_000) for _ in range(3)) + 0.01
    )
