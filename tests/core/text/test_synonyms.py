"""What words of German, French and Spanish mean, what they are forms of, and their parts."""

import sys

import pytest

from svc_core.text.synonyms import (
    DICTIONARIES,
    _dictionary,
    compound_parts,
    english_words,
    lemmas,
    related_keys,
)
from svc_core.text.words import fold_case, stop_words, term_of

MEMORY_MAX = 12 * 2**20  # bytes of the dictionary of a language

FORMS = [
    ("de", "starben gestorben", "sterben", "die"),
    ("de", "Lastwagen Lastwagens", "Lastwagen", "truck"),
    ("de", "Werften", "Werft", "shipyard"),
    ("de", "Erdbeben Erdbebens", "Erdbeben", "earthquake"),
    ("de", "Häuser Häusern", "Haus", "house"),
    ("fr", "détecté détectée détectent", "détecter", "detect"),
    ("fr", "navires", "navire", "ship"),
    ("fr", "chevaux", "cheval", "horse"),
    ("es", "condujo conduce conducen", "conducir", "drive"),
    ("es", "murieron muere", "morir", "die"),
    ("es", "terremotos", "terremoto", "earthquake"),
    ("es", "rublos", "rublo", "ruble"),
]
COMPOUNDS = [
    ("Hafenstadt", ("Hafen", "Stadt"), "port"),
    ("Kohlekraftwerk", ("Kohle", "Kraftwerk"), "coal"),
    ("Krankenhausleitung", ("Krankenhaus", "Leitung"), "hospital"),
    ("Waffenstillstandsabkommen", ("Waffenstillstand", "Abkommen"), "armistice"),
]


@pytest.mark.parametrize(("language", "forms", "lemma", "meaning"), FORMS)
def test_a_form_is_of_its_word_and_means_what_that_means(
    language: str, forms: str, lemma: str, meaning: str
) -> None:
    for form in map(fold_case, forms.split()):
        assert fold_case(lemma) in lemmas(form, language)
        assert meaning in english_words(form, language)


@pytest.mark.parametrize("language", sorted(DICTIONARIES))
def test_all_that_a_dictionary_holds_are_folded_whole_words(language: str) -> None:
    for form, rows in sorted(_dictionary(language).items())[::23]:
        assert form not in stop_words(language)
        assert form.isalpha()
        assert fold_case(form) == form
        for head, *meanings in map(str.split, rows.splitlines()):
            assert head[1:] == form or meanings or head[1:] in _dictionary(language)
            assert all(word.isascii() and word.isalpha() for word in meanings)


@pytest.mark.parametrize("language", sorted(DICTIONARIES))
def test_a_word_is_a_form_of_itself(language: str) -> None:
    rows = sorted({row.split()[0] for row in _dictionary(language).values()})[::97]
    assert all(row[1:] in lemmas(row[1:], language) for row in rows)


@pytest.mark.parametrize("language", sorted(DICTIONARIES))
def test_a_dictionary_is_bounded_in_memory(language: str) -> None:
    table = _dictionary(language)
    rows = {id(row): row for row in table.values()}
    strings = [*table, *rows.values()]
    assert sys.getsizeof(table) + sum(map(sys.getsizeof, strings)) < MEMORY_MAX


@pytest.mark.parametrize(("word", "parts", "meaning"), COMPOUNDS)
def test_a_compound_is_of_the_fewest_known_words(
    word: str, parts: tuple[str, ...], meaning: str
) -> None:
    assert compound_parts(fold_case(word), "de") == tuple(map(fold_case, parts))
    assert meaning in english_words(fold_case(word), "de")


def test_the_parts_of_a_compound_are_words_of_the_dictionary() -> None:
    for word in sorted(_dictionary("de"))[::199]:
        assert all(part in _dictionary("de") for part in compound_parts(word, "de"))


def test_a_compound_is_inflected_as_its_last_part() -> None:
    assert lemmas("kohlekraftwerken", "de") == ("kohlekraftwerk",)


@pytest.mark.parametrize("language", ["en", "it", "ja", ""])
def test_nothing_is_known_of_other_languages(language: str) -> None:
    assert lemmas("house", language) == english_words("house", language) == ()
    assert compound_parts("kohlekraftwerk", language) == ()


def test_a_word_that_no_dictionary_has_means_nothing() -> None:
    assert lemmas("xqzw", "de") == english_words("xqzw", "de") == compound_parts("xqzw", "de") == ()


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (("condujo", "es"), ("conduce", "es")),
        (("starben", "de"), ("gestorben", "de")),
        (("lastwagens", "de"), ("trucks", "en")),
        (("navires", "fr"), ("ships", "en")),
        (("driven", "en"), ("drove", "en")),
        (("abrüstungen", "it"), ("abrüstungen", "it")),
    ],
)
def test_words_that_mean_the_same_have_a_key_in_common(
    own: tuple[str, str], other: tuple[str, str]
) -> None:
    (word, language), (other_word, other_language) = own, other
    keys = related_keys(word, term_of(word), language)
    assert keys & related_keys(other_word, term_of(other_word), other_language)


def test_words_of_one_beginning_have_no_more_than_that_in_common() -> None:
    first, second = (
        related_keys(word, term_of(word), "de") for word in ("bundesliga", "bundeskanzler")
    )
    assert first & second <= {"bundes", "~bundes", "~bund"}


@pytest.mark.parametrize("size", [65, 2_000, 30_000])
def test_what_is_too_long_for_a_word_has_no_parts(size: int) -> None:
    run = ("haus" * size)[:size]
    assert compound_parts("haus" * 16, "de") == ("haus",) * 16
    assert compound_parts(run, "de") == ()
    assert max(map(len, related_keys(run, term_of(run), "de"))) < 99
