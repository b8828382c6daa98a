"""Terms: what a text becomes that is searched, weighed and compared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.text.words import fold_case, split_words, stop_words, term_of, terms

WORD_FORMS = [
    ("elections", "election"),
    ("ports", "port"),
    ("governmental", "government"),
    ("sanctioned", "sanctions"),
    ("CAFÉ", "café"),
    ("ﬁnance", "finance"),
    ("Straße", "strasse"),
    ("l’Europe", "Europe"),
    ("China's", "China"),
    ("China’s", "China"),
    ("isn't Rotterdam", "Rotterdam"),
    ("U.S. Senate", "US Senate"),
    ("U.N.", "UN"),
    ("12,000", "12000"),
    ("Ｔｏｋｙｏ", "Tokyo"),
]


@pytest.mark.parametrize(("left", "right"), WORD_FORMS)
def test_forms_of_a_word_are_one_term(left: str, right: str) -> None:
    assert terms(left) == terms(right) != []


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("The WHO said who it was", "en", ["who"]),
        ("CES 2017 à Las Vegas, et ces autres", "fr", ["ces", "2017", "las", "vega"]),
        ("WHO IS THE MAN", "en", []),
        ("president-elect", "en", ["presid", "elect"]),
        ("CVE-2026-12345 scores 9.8", "en", ["cve-2026-12345", "score", "9.8"]),
        ("a I 7", None, ["7"]),
        ("東京都知事", "ja", ["東京", "京都", "都知", "知事"]),
        ("ข่าวไทย", "th", ["ข่", "่า", "าว", "วไ", "ไท", "ทย"]),
        ("港 Hong", None, ["港", "hong"]),
        ("اور پاکستان کے وزیراعظم", "ur", ["پاکستا", "وزیراع"]),
        ("نئی دہلی میں احتجاج", "ar", ["نيی", "دہلی", "میں", "احتجاج"[:6]]),
        ("Москва и Россия", "ru", ["москва", "россия"]),
        ("सरकार और बजट", "hi", ["सरकार", "बजट"]),
        ("Die Wahl in der Türkei", "de-DE", ["wahl", "turkei"]),
        ("the house of an unknown tongue", "xx", ["house", "unknow", "tongue"]),
        ("", None, []),
    ],
)
def test_terms_of_a_text(text: str, language: str | None, expected: list[str]) -> None:
    assert terms(text, language) == expected


def test_words_are_whole_and_terms_are_their_beginnings() -> None:
    assert split_words("Parliaments don't vote") == ["parliaments", "do", "vote"]
    assert term_of("parliaments") == "parlia"
    assert term_of("cve-2026-12345678") == "cve-2026-12345678"
    assert len(term_of("a1" * 100)) == 64


def test_a_subject_is_no_stop_word() -> None:
    for subject in ("war", "oil", "court", "water", "health", "bank", "euro"):
        assert subject not in stop_words("en")
    assert {"the", "of", "and"} <= stop_words("en-GB")
    assert {"der", "und"} <= stop_words("de")
    assert stop_words(None) == stop_words("en")


@given(st.text())
def test_terms_hold_no_space_and_never_grow_without_bound(text: str) -> None:
    assert all(term and not term.isspace() and " " not in term for term in terms(text))
    assert all(len(term) <= 64 for term in terms(text))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold_case(fold_case(text)) == fold_case(text) or not text.isascii()
