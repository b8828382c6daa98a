import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.analysis.concepts import concepts, countries, is_askable, is_known, region_members
from svc_core.analysis.tokens import fold, search_text, stem, tokens
from svc_core.text.evidence import read
from svc_core.text.language import guess

SAME = [
    ("attacks", "attacked"),
    ("attack", "attacking"),
    ("elections", "election"),
    ("elecciones", "elección"),
    ("policies", "policy"),
    ("denied", "deny"),
    ("traded", "trade"),
    ("sanctioned", "sanctions"),
    ("running", "run"),
    ("boxes", "box"),
    ("России", "Россия"),
    ("CAFÉ", "café"),
    ("ﬁnance", "finance"),
    ("Straße", "strasse"),
    ("O'Brien", "OBrien"),
    ("U.S.", "USA"),
    ("12,000", "12000"),
    ("l’Europe", "Europe"),
    ("China's", "China"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_forms_of_a_word_are_one_term(left: str, right: str) -> None:
    assert tokens(left) == tokens(right) != []


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("The WHO said who it was", ["whoorg"]),
        ("president-elect", ["presid"]),
        ("CVE-2026-12345 scores 9.8", ["cve-2026-12345", "score", "9.8"]),
        ("東京都知事", ["東京", "京都", "都知", "知事"]),
        ("日本 U.N. talks", ["日本", "unorg", "talk"]),
        ("Über Uber", ["uber"]),
        ("a I 7", ["7"]),
        ("string thing ass bus", ["string", "thing", "ass", "bus"]),
        ("д то лес", ["лес"]),
        ("", []),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert tokens(text) == terms


@given(st.text())
def test_terms_hold_no_space_and_never_grow_without_bound(text: str) -> None:
    assert all(term and not term.isspace() and " " not in term for term in tokens(text))
    assert all(len(term) <= 64 or term.startswith("cve-") for term in tokens(text))


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=40))
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text) or not text.isascii()


@given(st.text(alphabet="abcdeinogsty", min_size=4, max_size=12))
def test_a_stem_keeps_the_beginning_of_its_word(word: str) -> None:
    assert len(stem(word)) >= 2
    assert word.startswith(stem(word)[:-1])


def test_the_index_holds_words_and_what_they_mean_in_any_language() -> None:
    english = set(search_text("Elections in Syria", "").split())
    french = set(search_text("Syrie : élections", "").split())
    assert {"qqcsy", "qqselection"} <= english & french


def test_the_longest_known_phrase_wins() -> None:
    assert concepts(tokens("South Korea")) == ["qqckr"]
    assert concepts(tokens("European Central Bank")) == ["qqsecb"]
    assert is_known(tuple(tokens("Putin")))
    assert not is_askable(tuple(tokens("Putin")))
    assert not is_askable(("nonsense",))


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("Datenschutzuntersuchung", ["qqsprivacy"]),
        ("Riesenerdbeben", ["qqsearthquake"]),
        ("Quasselstrippenkunst", []),
        ("2026-0000000000", []),
    ],
)
def test_a_long_word_means_what_its_first_or_last_part_means(word: str, meant: list[str]) -> None:
    assert concepts(tokens(word)) == meant


def test_a_region_knows_its_countries_and_a_country_its_code() -> None:
    assert "qqcfr" in region_members("qqreu")
    assert region_members("qqsbank") == ()
    assert countries()["FR"].capital == "Paris"
    assert len(countries()) > 190


@pytest.mark.parametrize(
    ("text", "stated", "language"),
    [
        ("anything", "pt-BR", "pt"),
        ("The man and the woman were in the house with them", None, "en"),
        ("Der Mann und die Frau sind nicht im Haus", None, "de"),
        ("Le président a dit que les ministres sont avec lui", None, "fr"),
        ("日本語のテキストです", None, "ja"),
        ("Short words", None, None),
        ("", "", None),
    ],
)
def test_the_language_is_stated_or_guessed(
    text: str, stated: str | None, language: str | None
) -> None:
    assert guess(text, stated) == language


def test_a_reading_keeps_the_words_of_title_lead_and_body_apart(make) -> None:
    reading = read(make("Floods in Spain", "Rain fell on Valencia. Bridges were closed again."))
    assert reading.headline == "Floods in Spain"
    assert "flood" in reading.title_terms
    assert "valencia" in reading.lead_terms
    assert "bridg" not in reading.lead_terms
    assert "bridg" in reading.body_terms
    assert reading.title_concepts == ("qqsflood", "qqces")
    assert read(make("", "")).sentences == ()


def test_an_item_without_a_date_is_as_old_as_its_retrieval(make) -> None:
    item = make("A title", hours=None)
    assert item.at == item.retrieved_at
    assert item.publisher == "alpha.example"
