"""Questions about news, asked of the whole agent: what it says is what the news say, cited."""

import re
from collections import Counter

import pytest

from tests import answers
from tests.answers import UNTOLD
from tests.core import demo
from tests.core.agent.asker import CITED, Asker

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
        said = reader.ask(question.text)
        is_untold = question.told == UNTOLD
        counts["unknown" if is_untold else "known"] += 1
        counts["declined"] += is_untold and not said.sources
        counts["right"] += not is_untold and bool(re.search(question.told, said.text))
        assert all(CITED.search(sentence) for sentence in said.sentences) or not said.sources
    right, declined = FLOORS[half]
    assert counts["right"] >= right * counts["known"]
    assert counts["declined"] >= declined * counts["unknown"]


def test_a_pronoun_means_whom_the_user_named_before(reader):
    said = reader.ask("Why did he resign?", "Who is Tomas Wendel?")
    assert "dispute over the budget" in said.text
    assert len(said.sources) == 1


def test_each_citation_leads_to_the_item_that_says_so(reader):
    said = reader.ask("How many containers ... how many ships were waiting off Arvenport?")
    (source,) = said.sources.values()
    assert "23 ships" in said.text
    assert source.title == "Dockworkers in Arvenport walk out over night shifts"
    assert re.fullmatch(r"https://api\.example/api/v1/news/obs_\w+", source.url)
