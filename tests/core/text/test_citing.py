"""Sentences of somebody else are said as far as what they cite says them."""

from hypothesis import example, given
from hypothesis import strategies as st

from svc_core.text.citations import SENTENCE_CHARS_MAX, Sieve
from svc_core.text.facts import TextFacts
from tests.core import readings
from tests.core.cited_texts import EVIDENCE, sift


def test_a_sentence_without_end_is_not_said() -> None:
    assert sift("The strike costs euros " * (SENTENCE_CHARS_MAX // 20) + "[1].") == []


def test_sentences_are_judged_one_by_one_and_keep_their_lines() -> None:
    text = (
        "# Strikes\n"
        "Dockworkers at Rotterdam began a strike [1]. It will be won! Mr. Jansen ended it. [1] "
        "No ships were damaged. [1]\n"
        "\n"
        "- CVE-2024-3400 is critical [2]. It has a score of 9.8 [2].\n"
        "2. The strike costs euros [1].\n"
    )
    assert [
        (sentence.line, sentence.item, sentence.text_with_marks) for sentence in sift(text)
    ] == [
        (1, "", "Dockworkers at Rotterdam began a strike [1]."),
        (1, "", "About 1,200 workers of two unions joined it, said Maria Jansen [1]."),
        (1, "", "No ships were damaged [1]."),
        (3, "- ", "CVE-2024-3400 is critical [2]."),
        (3, "- ", "It has a score of 9.8 [2]."),
        (4, "2. ", "The strike costs euros [1]."),
    ]


def test_a_sentence_is_given_as_soon_as_the_next_begins() -> None:
    sieve = Sieve(EVIDENCE)
    assert sieve.feed("The strike costs euros. [1") == []
    assert sieve.feed("] ") == []
    assert [sentence.text_with_marks for sentence in sieve.feed("No s")] == [
        "The strike costs euros [1]."
    ]
    assert [sentence.text_with_marks for sentence in sieve.feed("hips were damaged [1].\n")] == [
        "No ships were damaged [1]."
    ]
    assert sieve.end() == []


def test_a_run_without_end_is_let_go() -> None:
    sieve = Sieve(EVIDENCE)
    for _ in range(30):
        assert sieve.feed("word " * 100) == []
    assert len(sieve._pending) <= 2 * SENTENCE_CHARS_MAX
    assert [
        sentence.text for sentence in [*sieve.feed("\nNo ships were damaged [1]."), *sieve.end()]
    ] == ["No ships were damaged."]


def test_evidence_may_come_while_the_text_goes_on() -> None:
    evidence: dict[int, TextFacts] = {}
    sieve = Sieve(evidence)
    assert sieve.feed("No ships were damaged [1].\n") == []
    evidence[1] = EVIDENCE[1]
    assert len(sieve.feed("No ships were damaged [1].\n")) == 1


CITATIONS = [row[0] for rows in readings.stored("citations").values() for row in rows]
TEXTS = st.lists(
    st.sampled_from([*CITATIONS, "", "- ", "\n", "[1] ", "U.S. "]) | st.text(max_size=20),
    max_size=8,
)


@given(TEXTS, st.lists(st.integers(0, 300), max_size=6), st.sampled_from([" ", "\n"]))
@example(["0\r@", *["Dockworkers at Rotterdam began a strike [1]."] * 2, "\n"], [50], " ")
@example(["The strike costs euros. [1]", "[1] ", "工人星期一开始罢工。[4]"], [24, 26, 27], " ")
def test_how_the_letters_come_makes_no_difference(
    texts: list[str], cuts: list[int], between: str
) -> None:
    text = between.join(texts)
    sieve, pieces, last = Sieve(EVIDENCE), [], 0
    for cut in sorted(cuts):
        pieces += sieve.feed(text[last:cut])
        last = max(cut, last)
    pieces += sieve.feed(text[last:])
    assert [*pieces, *sieve.end()] == sift(text)


@given(TEXTS)
def test_all_that_is_said_was_written_and_is_supported(texts: list[str]) -> None:
    text = "\n".join(texts)
    letters = iter(text)
    for sentence in sift(text):
        assert sentence.citations
        assert TextFacts.union(EVIDENCE[number] for number in sentence.citations).entail(
            sentence.text
        )
        assert "://" not in sentence.text
        assert "[" not in sentence.text
        if sentence.is_quoted:  # verbatim, once, in place of what was written
            (number,) = sentence.citations
            texts = "; ".join(passage.text for passage in EVIDENCE[number].passages).casefold()
            assert all(part in texts for part in sentence.text.rstrip(".").casefold().split("; "))
            continue
        # A subsequence of what was written: nothing is added, and the order is kept.
        assert all(
            letter in letters
            for letter in sentence.text
            if not letter.isspace() and letter not in ".!?…。！？।۔"
        )


@given(st.text(max_size=80))
def test_any_text_has_facts_and_says_itself_unless_it_says_nothing(text: str) -> None:
    facts = TextFacts.of(text)
    assert facts == TextFacts.union([facts])
