"""Sentences are read by meaning: what is far nearer than any other text is told, nothing else."""

from collections.abc import Awaitable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from svc_core.agent import answer_events as events
from svc_core.agent.agent_ports import Turn
from svc_core.agent.passages import Passage
from svc_core.agent.sentence_meaning import (
    CHARS_MAX,
    LEAD,
    LINES_MAX,
    TEXTS_MAX,
    nearest_sentences,
)
from svc_core.base import drive
from svc_core.catalog.tools import CatalogueTools
from svc_core.knowledge.retrieval import TimeLimit
from svc_core.operation.caller import Actor
from svc_core.search.vector_likeness import Embedder, NotEmbedded, pack_vector
from svc_http.outside.embeddings.model import Embeddings
from tests.core.agent.asker import HOST, TENANT, Asker, Rows, answer, page
from tests.meaning import Meaning, vector

NOW = datetime(2026, 1, 31, 3, tzinfo=UTC)
LORRIES = "Some 1,400 lorries are stuck on the road to Lowhaven. Farmers block it with stones."
OTHERS = (LORRIES, "A bakery in Quist sells rye bread.", "The choir of Quist sings in the hall.")
QUESTION = "Wie viele Fahrzeuge warten vor der Sperre?"


def compared(question: str, texts: Sequence[str] = OTHERS) -> Any:
    plan = nearest_sentences(question, [Passage(n, "", text, NOW) for n, text in enumerate(texts)])
    return plan, next(plan, None)


def told(question: str, near: Mapping[str, float], texts: Sequence[str] = OTHERS) -> list[str]:
    """What is told where texts that hold a phrase are so near."""
    plan, comparison = compared(question, texts)
    if comparison is None:
        return []
    values = [sum(n for part, n in near.items() if part in text) for text in comparison.texts]
    with pytest.raises(StopIteration) as stop:
        plan.send(values)
    return [sentence.text for sentence in stop.value.value]


FIRST, SECOND = "1,400 lorries", "block it"
MANY = "Some 1,400 lorries are stuck on the road to Lowhaven."


@pytest.mark.parametrize(
    ("question", "near", "sentences"),
    [
        (QUESTION, {FIRST: LEAD + 0.1}, [MANY]),
        (QUESTION, {FIRST: LEAD}, []),
        (QUESTION, {FIRST: LEAD + 2, "bread": 2.1}, []),
        (QUESTION, {FIRST: LEAD + 2, SECOND: 1, "bread": 1.5}, [MANY]),
        ("Warum geht es da nicht weiter?", {FIRST: 3, SECOND: 2}, OTHERS[0].split(". ", 1)),
        ("Wie viele Fahrzeuge warten 2019 vor der Sperre?", {FIRST: 5}, []),
        ("How many of them wait at Ostmouth?", {FIRST: 5}, []),
        ("How many of them wait near Lowhaven?", {FIRST: 5}, [MANY]),
        ("How many of them wait there?", {SECOND: 5}, []),
    ],
)
def test_only_what_is_far_nearer_and_lacks_nothing_is_told(
    question: str, near: Mapping[str, float], sentences: Sequence[str]
) -> None:
    assert [text.rstrip(".") for text in told(question, near)] == [
        text.rstrip(".") for text in sentences
    ]


@pytest.mark.parametrize(
    "texts", [OTHERS[:2], (LORRIES, "", ""), OTHERS[1:], ()], ids=["two", "empty", "none", "no"]
)
def test_nothing_is_compared_where_too_few_texts_are_or_none_may_answer(
    texts: Sequence[str],
) -> None:
    plan, comparison = compared(QUESTION, texts)
    assert comparison is None
    assert list(plan) == []


def test_a_model_that_gives_nothing_tells_nothing() -> None:
    plan, _ = compared(QUESTION)
    with pytest.raises(StopIteration) as stop:
        plan.send(())
    assert stop.value.value == ()


def test_a_comparison_is_bounded() -> None:
    long = " ".join(f"The {n} carts {'very ' * 80}slowly left." for n in range(20))
    _, comparison = compared(QUESTION, [long] * 9)
    assert len(comparison.texts) == TEXTS_MAX * LINES_MAX
    assert {len(text) <= CHARS_MAX for text in comparison.texts} == {True}


# -- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("near", "is_told"), [({}, False), ({"lorries": 5.0}, True), ({"lorries": 2.0}, False)]
)
def test_an_answer_quotes_what_is_meant(near: Mapping[str, float], is_told: bool) -> None:
    rows = [
        {"id": f"obs_{n}", "name": "A note", "publishedAt": NOW.isoformat(), "summary": text}
        for n, text in enumerate(OTHERS)
    ]
    tools = Rows({"list_news": [page(rows)]}, near=near)
    reply = answer(Turn(QUESTION, NOW), tools)
    assert reply.is_declined is not is_told
    assert ("1,400 lorries" in reply.text) is is_told
    assert [name for name, _ in reply.calls] == ["search_rows"]
    assert sum("texts" in row for row in tools.inputs) == 1
    assert isinstance(reply.events[-1], events.AnswerDone)


# -- the model ---------------------------------------------------------------------------------


class AtOnce(Embeddings):
    """A model that needs no event loop."""

    async def embed_query(self, text: str) -> bytes:
        return pack_vector(vector(text))

    async def embed(self, texts: Sequence[str]) -> Sequence[bytes]:
        if "broken" in texts[0]:
            raise NotEmbedded("It broke.")
        return [pack_vector(vector(text)) for text in texts]


async def impatient(work: Awaitable[Any], seconds: float) -> Any:
    """A time limit that only a question meets."""
    made = await work
    if isinstance(made, list):
        raise TimeoutError
    return made


MODEL: Mapping[type, Any] = {Embedder: AtOnce(Meaning())}


@pytest.mark.parametrize(
    ("providers", "first", "is_near"),
    [
        (MODEL, "Streik im Hafen", True),
        (MODEL, "broken", False),
        ({**MODEL, TimeLimit: impatient}, "Streik im Hafen", False),
        ({}, "Streik im Hafen", False),
    ],
    ids=["near", "broken", "late", "none"],
)
def test_the_tools_of_a_caller_say_how_near_texts_are(
    asker: Asker, providers: Mapping[type, Any], first: str, is_near: bool
) -> None:
    units = attrs.evolve(asker.house.hands, host=attrs.evolve(HOST, providers=providers))
    tools = CatalogueTools(asker.house.site).of(units, Actor(TENANT, TENANT), NOW)
    near = drive.run(tools.nearness("walkout at the harbour", [first, "A bank and its lender"]))
    assert [number > 2 for number in near] == ([True, False] if is_near else [])
