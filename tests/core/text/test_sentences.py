"""How a text is parted into sentences that can be quoted."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.text.sentences import headline, sentences

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
    ("One cat sat here. One cat sat here.", ["One cat sat here."]),
    ("ALL CAPITALS ARE SHOUTED HERE", []),
    ("Too short.", []),
    ("The <b>bold</b> court said <!-- no --> it agrees.", ["The bold court said it agrees."]),
    ("x" * 700, []),
    ("", []),
]


@pytest.mark.parametrize(("text", "expected"), SENTENCES)
def test_sentences_of_a_text(text: str, expected: list[str] | None) -> None:
    found = sentences(text)
    assert found == expected if expected is not None else len(found) == 2


@given(st.text(alphabet="abc ABC.!?…'“”()|\n0123456789-", max_size=120))
def test_a_sentence_is_always_a_run_of_its_text(text: str) -> None:
    folded = " ".join(text.split())
    assert all(sentence in folded for sentence in sentences(text))


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
    assert headline(title) == expected


def test_no_sentence_runs_from_one_paragraph_into_the_next() -> None:
    text = "Inquiry opens into the bridge\nFour engineers were questioned on Monday.\nCars wait."
    assert sentences(text) == ["Four engineers were questioned on Monday."]
    assert sentences("Inquiry opens into the bridge\nFour engineers wait for the court") == [
        "Inquiry opens into the bridge",
        "Four engineers wait for the court",
    ]


@pytest.mark.parametrize("piece", ["A. ", "Mr. ", "U.S. ", "<!--", "(", "' . "])
def test_sentences_take_time_in_proportion_to_the_text(piece: str) -> None:
    def seconds(chars: int) -> float:
        begun = process_time()
        sentences(piece * (chars // len(piece)))
        return process_time() - begun

    assert (
        min(seconds(16_000) for _ in range(3)) < 12 * min(seconds(4_000) for _ in range(3)) + 0.01
    )
