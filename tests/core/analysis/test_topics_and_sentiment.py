import pytest

from svc_core.analysis.sentiment import sentiment
from svc_core.analysis.topics import TOPIC_IDS, TOPICS, TOPICS_PER_ITEM_MAX, assign

FORTY = """
world politics diplomacy elections conflict terrorism unrest sanctions defense intelligence
cybersecurity vulnerabilities ransomware disinformation economy markets central-banks inflation
trade companies earnings banking crypto commodities energy supply-chain shipping technology ai
semiconductors space telecom science health outbreaks climate disasters migration crime
law-regulation
"""


def test_the_catalogue_is_the_forty_topics_in_order() -> None:
    assert [topic.id for topic in TOPICS] == FORTY.split()
    assert len(TOPIC_IDS) == 40
    assert all(
        topic.name and topic.group and topic.description and topic.keywords for topic in TOPICS
    )


def test_media_topics_are_top_level_codes_or_nothing() -> None:
    codes = {topic.id: topic.media_topic for topic in TOPICS}
    assert codes["conflict"] == "medtop:16000000"
    assert codes["inflation"] is None


@pytest.mark.parametrize(
    ("title", "text", "topic"),
    [
        ("Ransomware halts a port", "", "ransomware"),
        ("Magnitude six earthquake shakes the island", "", "disasters"),
        (
            "Council of ministers meets",
            "The central bank raised its interest rate.",
            "central-banks",
        ),
        ("Selon un sondage", "La présidentielle approche et le candidat hésite.", "elections"),
        ("Wahlkampf in Berlin", "", "elections"),
        ("Cohete lanzado", "A spacecraft and a rocket reached orbit.", "space"),
    ],
)
def test_words_bring_a_topic(title: str, text: str, topic: str) -> None:
    assert topic in assign(title, text)


def test_one_common_word_in_the_text_brings_none() -> None:
    assert assign("A quiet day", "The president walked his dog.") == ()


def test_source_and_categories_bring_theirs_and_unknown_ones_are_ignored() -> None:
    assert assign("", "", ["Central banks", "Gardening"], ["space", "nonsense"]) == (
        "central-banks",
        "space",
    )


def test_an_item_about_everything_gets_a_bounded_number() -> None:
    everything = " ".join(topic.name for topic in TOPICS)
    assert 0 < len(assign(everything, "")) <= TOPICS_PER_ITEM_MAX


@pytest.mark.parametrize(
    ("title", "label"),
    [
        ("Rescuers celebrate miracle as miners are saved", "positive"),
        ("Bombing kills twelve in market", "negative"),
        ("Council publishes its calendar", "neutral"),
        ("This is not good", "negative"),
    ],
)
def test_the_tone_of_a_headline(title: str, label: str) -> None:
    found = sentiment(title)
    assert found is not None
    assert found.label == label
    assert -1 <= found.value <= 1


def test_strengthening_and_weakening_words_count() -> None:
    plain, very, slightly = (
        sentiment(t) for t in ("bad storm", "very bad storm", "slightly bad storm")
    )
    assert plain is not None
    assert very is not None
    assert slightly is not None
    assert very.value < plain.value < slightly.value


@pytest.mark.parametrize("language", [None, "fr", "de-DE"])
def test_other_languages_have_no_tone(language: str | None) -> None:
    assert sentiment("Bombing kills twelve", language=language) is None


def test_regional_english_is_english() -> None:
    assert sentiment("Bombing kills twelve", language="en_GB") is not None
