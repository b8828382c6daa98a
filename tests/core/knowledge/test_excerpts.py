"""An excerpt is a run of the text with what was asked, wherever that stands."""

from hypothesis import given
from hypothesis import strategies as st

from svc_core.knowledge.excerpts import EXCERPT_MAX, excerpt
from svc_core.text.words import spans

FILLER = "Nothing of it stands here at all, and so on. "
WORDS = st.sampled_from(
    ["Port", "strike", "ports", "of", "港口罢工", "a", "é", "x" * 50, "U.S.", ".", "\n", "  ", "😀"]
)


def highlights(text: str, *terms: str) -> list[str]:
    window = excerpt(text, terms)
    return [window.text[mark.start : mark.end] for mark in window.highlights]


def test_the_window_with_most_different_terms_is_shown() -> None:
    text = f"A port. {FILLER * 20}A strike at the port, they say. {FILLER * 20}port port port"
    window = excerpt(text, {"port", "strike"})
    assert window.text.startswith("A strike at the port")
    assert highlights(text, "port", "strike") == ["strike", "port"]
    assert highlights("Ports and PORTS; a Porto", "port") == ["Ports", "PORTS"]


def test_without_a_match_a_text_is_shown_from_its_beginning() -> None:
    window = excerpt(FILLER * 20, {"port"})
    assert window.highlights == ()
    assert (FILLER * 20).startswith(window.text)
    assert EXCERPT_MAX // 2 <= len(window.text) <= EXCERPT_MAX
    assert excerpt("", {"port"}).text == ""


def test_a_window_begins_and_ends_with_a_sentence_where_it_can() -> None:
    sentence = f"The long {'quiet ' * 15}port rests."
    window = excerpt(f"{FILLER * 20}{sentence} {FILLER * 20}", {"port"})
    assert window.text.startswith(sentence)
    assert window.text.endswith("and so on.")
    assert len(excerpt(f"{FILLER * 5}\n{'word ' * 90}", ()).text) == len(FILLER * 5) - 1


def test_of_scripts_without_spaces_pairs_that_overlap_are_one() -> None:
    assert highlights("港口罢工", "港口", "口罢") == ["港口罢"]
    assert highlights("港口", "港口") == ["港口"]


def test_a_word_that_fills_the_window_is_cut() -> None:
    assert len(excerpt("x" * 900, {"x"}).text) == EXCERPT_MAX // 2


@given(st.lists(WORDS, max_size=300), st.sets(st.sampled_from(["port", "strike", "口罢", "e"])))
def test_highlights_are_terms_within_the_excerpt(words: list[str], terms: set[str]) -> None:
    text = " ".join(words)
    window = excerpt(text, terms)
    assert window.text in text
    assert len(window.text) <= EXCERPT_MAX
    ends = 0
    for mark in window.highlights:
        assert ends <= mark.start < mark.end <= len(window.text)
        ends = mark.end
        assert {term for _, _, term in spans(window.text[mark.start : mark.end])} & terms
    if any(term in terms for _, _, term in spans(text)):
        assert window.highlights
