"""Terms: what a text becomes that is searched, weighed and compared."""

from hypothesis import given
from hypothesis import strategies as st

from svc_core.text.words import (
    fold_case,
    split_words,
    stop_words,
    term_of,
    terms,
    word_parts,
)


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


def test_words_within_a_word_are_those_that_its_writing_parts() -> None:
    table = {
        "Log4j2": ["log4j"], "APT28": ["apt"], "Windows11": ["windows"],
        "ÉcoleMuet2": ["ecolemuet"], "École": [], "Malmö": [], "Türkiye": [], "Łódź": [],
        "MuddyWater": ["muddy", "water"], "IBMCloud": ["ibm", "cloud"], "MSFT": [], "water": [],
        "T1566": [], "x64": [], "2021": [], "CVE-2021-44228": [], "d41d8cd98f00b204e980": [],
    }  # fmt: skip
    assert {word: word_parts(word) for word in table} == table
