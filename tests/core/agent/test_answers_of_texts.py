"""Questions about news, asked of the whole agent: what it says is what the news say, cited."""

import re
from collections import Counter

import pytest

from tests import answers
from tests.answers import UNTOLD
from tests.core import demo
from tests.core.agent.asker import CITATION, Asker

FLOORS = {"dev": (0.95, 0.9), "report": (0.88, 0.8)}


@pytest.fixture(scope="module")
def reader(house_factory) -> Asker:
    """Somebody whose house has read the documents, and nothing else."""
    house = house_factory()
    house.clock.advance(100 * 86_400)
    demo.take(house, "told.json", answers.feed())
    return Asker(house)


@pytest.mark.parametrize("half", FLOORS)
def test_questions_are_answered_rightly_or_not_at_all(reader, half):
    counts: Counter[str] = Counter()
    for question in answers.questions(half)[:: 4 if half == "dev" else 1]:
        reply = reader.ask(question.text)
        is_untold = question.grounds == UNTOLD
        counts["unknown" if is_untold else "known"] += 1
        counts["declined"] += is_untold and reply.is_declined
        counts["right"] += not is_untold and bool(re.search(question.grounds, reply.text))
        cited = reply.sentences[reply.is_declined :]
        assert all(CITATION.search(sentence) for sentence in cited)
    right, silences = FLOORS[half]
    assert counts["right"] >= right * counts["known"]
    assert counts["declined"] >= silences * counts["unknown"]


def test_what_is_not_answered_says_what_the_closest_text_says(reader):
    reply = reader.ask("How many cranes of Arvenport did the dockworkers paint?")
    assert reply.is_declined
    closest, quote = reply.sentences[1:]
    assert closest.lstrip().startswith("Closest, not an answer")
    assert quote.lstrip().startswith("The first says: ")
    assert "Arvenport" in quote


def test_a_pronoun_means_whom_the_user_named_before(reader):
    reply = reader.ask("Why did he resign?", "Who is Tomas Wendel?")
    assert "dispute over the budget" in reply.text
    assert len(reply.sources) == 1


def test_each_citation_leads_to_the_item_that_says_so(reader):
    reply = reader.ask("How many containers ... how many ships were waiting off Arvenport?")
    (source,) = reply.sources.values()
    assert "23 ships" in reply.text
    assert source.title == "Dockworkers in Arvenport walk out over night shifts"
    assert re.fullmatch(r"https://api\.example/api/v1/news/obs_\w+", source.url)
