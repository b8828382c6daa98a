"""What is said of the row that is the most of a list: every provider's number counts."""

from datetime import UTC, datetime
from typing import Any

import pytest

from svc_core.agent.agent_ports import Turn
from tests.core.agent.asker import Reply, Rows, answer, page

NOW = datetime(2026, 1, 31, 3, tzinfo=UTC)


def event(
    name: str, incident: str | None = None, category: str = "conflict", **numbers: float
) -> dict[str, Any]:
    measurements = [
        {"metric": metric, "value": number, "provider": "Tern"}
        for metric, number in numbers.items()
    ]
    return {
        "id": name, "name": name, "title": name, "type": "battle", "category": category,
        "incidentId": incident, "occurredAt": "2026-01-05T00:00:00Z", "measurements": measurements,
        "place": {"countryCode": "MZ"},
    }  # fmt: skip


def ask(question: str, rows: list[dict[str, Any]]) -> Reply:
    return answer(Turn(question, NOW), Rows({"list_osint_events": [page(rows)]}))


DEADLY = [event("Heron", fatalities=4), event("Petrel", deathsBest=31), event("Plover")]
SAME = [event("Heron", "inc_1", fatalities=31), event("Petrel", "inc_1", deathsBest=25)]
AGREED = [event("Heron", "inc_1", fatalities=31), event("Petrel", "inc_1", deathsBest=31)]
BOTH = [event("Heron", fatalities=4, deathsBest=6), event("Petrel", deathsBest=5)]
FLOOD = event("Flood", category="disaster", deathsBest=90)

EXTREMES = [
    ("Which battle killed the most people?", DEADLY, ["highest of 2", "31 deaths"], ["4 deaths"]),
    ("Which battle killed the fewest people?", DEADLY, ["The lowest of 2", "4 deaths"], ["31"]),
    ("Which battle killed the most people?", [*SAME, *DEADLY[:1]],
     ["31 deaths of “Heron”", "But also: Tern estimates 25 deaths in “Petrel”"], ["4 deaths"]),
    ("Which battle killed the most people?", AGREED, ["31 deaths"], ["But also"]),
    ("Which battle killed the most people?", BOTH,
     ["The highest of 2", ": Tern estimates 6 deaths", "But also: Tern counts 4"], []),
    ("Which battle killed the most people?", DEADLY[:1], ["4 deaths of “Heron”"], ["highest"]),
    ("Which battle killed the most people?", DEADLY[2:], ["know the deaths of"], ["highest"]),
    ("Which battle killed the most people?", [*DEADLY, event("People", fatalities=1)],
     ["The highest of 3", "31 deaths"], []),
    ("Which battles killed more than 20 people?", DEADLY, ["31 deaths"], ["4 deaths"]),
    ("Which attack killed the most people?", [*DEADLY, FLOOD],
     ["The highest of 2 events (category conflict)", "31 deaths"], ["90"]),
    ("Welcher Angriff tötete die meisten Menschen?", [*DEADLY, FLOOD], ["31 deaths"], ["90"]),
    ("deadliest attack in Mozambique", [*DEADLY, FLOOD], ["31 deaths"], ["90"]),
    ("deadliest attack in Ecuador", [*DEADLY, FLOOD], [], ["deaths in", "deaths of"]),
    ("Which doctor killed the most people?", DEADLY, [], ["deaths in", "deaths of"]),
    ("Which attack did not kill the most people?", DEADLY, [], ["deaths in", "deaths of"]),
]  # fmt: skip


@pytest.mark.parametrize(("question", "rows", "parts", "others"), EXTREMES)
def test_the_extreme_is_that_of_every_provider(
    question: str, rows: list[dict[str, Any]], parts: list[str], others: list[str]
) -> None:
    text = ask(question, rows).text
    assert [part for part in parts if part not in text] == []
    assert [part for part in others if part in text] == []
