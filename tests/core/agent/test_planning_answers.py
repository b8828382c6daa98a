"""How questions are read and planned, and what is said of rows that were made for it."""

from datetime import UTC, datetime
from typing import Any

import pytest
from attrs import evolve

from svc_core.agent import answer_events as events
from svc_core.agent.agent_ports import Message, ToolHit, Turn
from svc_core.agent.answer_events import SOURCES_MAX
from svc_core.agent.figures import figure_differences
from svc_core.agent.planner import CALLS_MAX
from svc_core.agent.question import Threshold
from svc_core.agent.row_facts import Fact, count_noun, english_list, facts_of, figure, quote_text
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from tests.core.agent.asker import Reply, Rows, answer, page

NOW = datetime(2026, 1, 31, 3, tzinfo=UTC)


def ask(question: str, **rows: Any) -> tuple[Reply, Rows]:
    """The answer of a toolbox with these pages of rows."""
    tools = Rows(
        {name: answer if isinstance(answer, list) else [answer] for name, answer in rows.items()}
    )
    return answer(Turn(question, NOW), tools), tools


# -- reading -----------------------------------------------------------------------------------


def test_a_bound_tells_its_side() -> None:
    sides = [Threshold(6, least, strict) for least in (True, False) for strict in (True, False)]
    assert [side.side for side in sides] == ["above", "at least", "below", "at most"]
    assert [side.admits(6) for side in sides] == [False, True, False, True]
    assert [side.admits(7) for side in sides] == [True, True, False, False]


# -- telling -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (2.0, "2"),
        (0.94464, "0.94464"),
        (1e300, "1"),
        (8.65813724626272, "8.66"),
        (0.00012345678, "0.000123"),
    ],
)
def test_figures_part_their_thousands(value: float, text: str) -> None:
    assert figure(value).startswith(text)


def test_long_lists_and_texts_are_cut_short() -> None:
    assert english_list([str(number) for number in range(19)]).endswith("15 and 3 others")
    with pytest.raises(LookupError):
        english_list([])
    assert len(quote_text("word " * 200)) < 410


def fact(kind: str, name: str) -> Fact:
    return next(item for item in facts_of(kind) if item.name == name)


SENTENCES = [
    ("cve", "affected versions", {"affected": [{"versions": [
        {"version": "1", "status": "affected", "lessThanOrEqual": "2"},
        {"version": "3", "status": "unaffected"},
        {"version": "4", "status": "affected"},
    ]}]}, "1 up to 2 and 4"),
    ("cve", "affected products", {"affected": []}, None),
    ("incident", "coordinates",
     {"place": {"geometry": {"type": "Point", "coordinates": [1, 2]}}}, "2 (latitude)"),
    ("incident", "coordinates", {"place": {"geometry": {"type": "Polygon"}}}, None),
    ("incident", "place", {"place": {"name": "Suva in Fiji", "countryCode": "FJ"}}, "in Fiji"),
    ("incident", "place", {"place": {"name": "Suva", "countryCode": "FJ"}}, "in Suva, Fiji"),
    ("incident", "place", {"place": {"name": None, "countryCode": "FJ"}}, None),
    ("incident", "depth", {"measurements": []}, None),
    ("entity", "type", {"type": "organization"}, "an organization"),
    ("entity", "status", {"status": "unknown"}, None),
    ("entity", "status", {"status": "active"}, "active"),
    ("entity", "sanctions", {"sanctions": "none"}, None),
    ("entity", "country", {"countryCodes": ["XQ"]}, "XQ"),
    ("indicator", "value", {"name": "N", "value": 1, "unitMultiplier": 0, "period": "2024",
                         "provider": "p"}, "N was 1 for 2024"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name", "row", "part"), SENTENCES)
def test_a_row_tells_what_it_has(
    kind: str, name: str, row: dict[str, Any], part: str | None
) -> None:
    plain = {"cveId": "CVE-2024-0001", "title": "T", "name": "N"}
    sentence = fact(kind, name).sentence(plain | row)
    assert sentence is None if part is None else part in str(sentence)


# -- made rows ---------------------------------------------------------------------------------


def cve(number: int, score: float | None = 5.0) -> dict[str, Any]:
    id_ = f"CVE-2024-{number:04}"
    score_row = {"version": "3.1", "baseScore": score, "severity": "medium", "provider": "nvd"}
    return {"id": f"ent_{number}", "name": id_, "cveId": id_, "score": score_row, "title": None}


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "vulnerability", "1 vulnerability"),
        (1304, "vulnerability", "1,304 vulnerabilities"),
        (0, "news item", "no news items"),
        (2, "subject of the ledger", "2 subjects of the ledger"),
    ],
)
def test_a_noun_stands_in_the_number_of_its_things(number: int, noun: str, text: str) -> None:
    assert count_noun(number, noun) == text


def test_what_is_listed_to_its_end_and_empty_is_told_to_be_none() -> None:
    reply, _ = ask("Which vulnerabilities are rejected?", list_cves=page([]))
    assert reply.text == "Of no vulnerabilities that were looked at none is (state rejected).\n"
    assert not reply.sources


def test_nothing_to_look_up_is_told_so() -> None:
    reply, tools = ask("What can you do?", list_cves=page([]))
    assert reply.text.startswith("Ask about news")
    assert not tools.inputs


def test_a_list_is_read_page_by_page_and_counted_whole() -> None:
    pages = [page([cve(n) for n in range(100)], "1"), page([cve(100)])]
    reply, tools = ask("How many vulnerabilities are there?", list_cves=pages)
    assert "101 vulnerabilities [1]" in reply.text
    assert reply.sources[1].url == "https://api.example/api/rows?limit=100"
    assert [item.get("cursor") for item in tools.inputs] == [None, "1"]


def test_a_list_without_an_end_is_counted_as_at_least_so_many() -> None:
    pages = [page([cve(number)], str(number + 1)) for number in range(40)]
    reply, tools = ask("How many vulnerabilities are there?", list_cves=pages)
    assert "at least 16 vulnerabilities" in reply.text
    assert len(tools.inputs) < CALLS_MAX


def test_what_no_call_is_left_for_is_not_said_to_have_no_answer() -> None:
    pages = [page([cve(number)], str(number + 1)) for number in range(40)]
    parts = "How many vulnerabilities are there and how many incidents are there and who is Heron?"
    reply, tools = ask(parts, list_cves=pages, list_incidents=pages)
    assert len(tools.inputs) <= CALLS_MAX
    assert "at least 16 vulnerabilities" in reply.text
    assert f"about “Heron” within {CALLS_MAX} look-ups" in reply.text


def test_a_list_is_no_answer_where_a_fact_is_asked_that_its_rows_lack() -> None:
    rows = [{"id": n, "name": f"EP-MN{n}", "type": "aircraft"} for n in "FG"]
    for count in (1, 2):
        reply, _ = ask("What is the IMO number of the aircraft?", list_entities=page(rows[:count]))
        assert reply.text.startswith("The service does not know the IMO number of ")
    listing, _ = ask("Which aircraft are there?", list_entities=page(rows))
    assert listing.sources


def test_the_highest_are_all_named_and_what_has_no_number_is_none() -> None:
    rows = page([cve(1, 9.1), cve(2), cve(3, 9.1), cve(4, None)])
    reply, _ = ask("Which vulnerability has the highest CVSS score?", list_cves=rows)
    assert [f"CVE-2024-000{n}" in reply.text for n in (1, 2, 3, 4)] == [True, False, True, False]
    empty, _ = ask("Which vulnerability has the highest EPSS score?", list_cves=rows)
    assert not empty.sources


def test_values_of_two_series_are_not_ordered() -> None:
    def observation(name: str, number: float, year: str) -> dict[str, Any]:
        area = {"countryCode": "DE", "label": "Germany"}
        series = {
            "id": f"{name} {year}",
            "name": name,
            "value": number,
            "period": year,
            "area": area,
        }
        return {**series, "indicatorCode": "x", "provider": "Heron"}

    rates = [observation("Unemployment (%)", number, f"202{number}") for number in (3, 2)]
    question = "What was the highest unemployment rate in Germany?"
    reply, _ = ask(question, list_finint=page(rates))
    assert "The highest of 2 values: Unemployment (%), Germany, was 3" in reply.text
    counts = [observation("Unemployment (thousands)", 90, "2024")]
    reply, _ = ask(question, list_finint=page([*rates, *counts]))
    assert "highest" not in reply.text
    assert "was 3" in reply.text


def test_equal_numbers_are_told_to_be_equal() -> None:
    rows = page([cve(1), cve(2)])
    reply, _ = ask("Compare the CVSS score of CVE-2024-0001 and CVE-2024-0002", get_cve=rows)
    assert "they are equal [1][2]" in reply.text


def test_no_more_sources_than_clients_take() -> None:
    rows = page([cve(number) for number in range(1, 30)])
    ids = " ".join(f"CVE-2024-{number:04}" for number in range(1, 30))
    reply, _ = ask(f"What is the CVSS score of {ids}?", get_cve=rows)
    assert len(reply.sources) == SOURCES_MAX
    assert len(reply.sentences) == SOURCES_MAX


def test_a_refused_tool_is_told_and_the_answer_ends_whole() -> None:
    refusal = Problem(problem.SERVICE_UNAVAILABLE)
    reply, _ = ask("What is the CVSS score of CVE-2024-0001?", get_cve=[refusal])
    failures = [event.text for event in reply.events if isinstance(event, events.ToolFailure)]
    assert failures == [f"{refusal.type.title} (SERVICE_UNAVAILABLE)"]
    assert isinstance(reply.events[-1], events.AnswerDone)
    assert not reply.sources


def test_a_question_calls_no_more_tools_than_are_allowed() -> None:
    pages = {name: page([]) for name in ("list_entities", "list_news", "list_incidents",
            "list_osint_events", "retrieve_knowledge", "search_reports", "list_markets",
            "search_ledger_subjects", "list_actors")}  # fmt: skip
    reply, tools = ask("Which actors did Heron, Tern and Petrel meet at Quay 4?", **pages)
    assert len(tools.inputs) <= CALLS_MAX
    assert not reply.sources


# -- companies ---------------------------------------------------------------------------------

APPLE = {"id": "ent_a", "name": "Heron Ltd", "type": "company"}


def fiscal(year: int, value: float, period: str = "FY", months: int | None = 12) -> dict[str, Any]:
    end = {"FY": "09-30", "Q1": "12-31"}[period]
    return {
        "id": f"obs_{year}{period}", "name": "", "metric": "revenue", "value": value,
        "unit": None, "currency": "USD", "fiscalYear": year, "fiscalPeriod": period,
        "periodMonths": months, "periodStart": None,
        "periodEnd": f"{year - (period == 'Q1')}-{end}",
        "filing": {"form": "10-K", "filedDate": f"{year}-11-01"},
        "concept": {"name": "SalesRevenueNet", "label": None},
    }  # fmt: skip


ROWS = [fiscal(2024, 30), fiscal(2024, 7, "Q1", 3), fiscal(2023, 50), fiscal(2022, 10)]
FIGURES = [
    ("What was the revenue of Heron?", [30]),
    ("What was the revenue of Heron in fiscal year 2023?", [50]),
    ("What was the revenue of Heron in Q1 2024?", [7]),
    ("What was the highest revenue of Heron?", [50]),
    ("What was the lowest revenue of Heron?", [10]),
    ("How did the revenue of Heron change between 2022 and 2023?", [10, 50]),
    ("What was the revenue of Heron on 2023-09-30?", [50]),
    ("What was the revenue of Heron in 2011?", []),
]


@pytest.mark.parametrize(("question", "values"), FIGURES)
def test_a_figure_is_that_of_the_time_that_is_asked_for(question: str, values: list[int]) -> None:
    reply, _ = ask(question, list_entities=page([APPLE]), list_financial_observations=page(ROWS))
    figures = [value for value in (7, 10, 30, 50) if f" {value} USD" in reply.text]
    assert figures == values
    assert bool(reply.sources) == bool(values)
    assert ("40 USD less" in reply.text) == (len(values) == 2)


FILINGS = [
    ("When did Heron file its 10-K?", [2024]),
    ("When did Heron file its 10-K for fiscal year 2023?", [2023]),
    ("When did Heron file its 10-K for 2022?", [2022]),
    ("When did Heron file its 10-K for 2011?", []),
    ("When did Heron file its 10-Q?", []),
]


@pytest.mark.parametrize(("question", "years"), FILINGS)
def test_a_filing_is_that_of_the_period_that_is_asked_for(question: str, years: list[int]) -> None:
    reply, _ = ask(question, list_entities=page([APPLE]), list_financial_observations=page(ROWS))
    assert [year for year in range(2020, 2026) if f"on {year}-11-01" in reply.text] == years


def concept(name: str, amount: float, year: int = 2024, **members: Any) -> dict[str, Any]:
    row = fiscal(year, amount) | {"concept": {"name": name, "label": None}, "metric": None}
    return row | {"id": f"obs_{name}{year}"} | members


CONCEPTS = [
    concept("OtherRentalIncome", 5),
    concept("RentalIncome", 21),
    concept("RentalIncome", 22, 2023),
    concept("CommonStockSharesOutstanding", 8, metric="sharesOutstanding", currency=None),
    concept("EffectiveIncomeTaxRate", 0.25, unit="1", currency=None),
    concept("LongtermDebt", 31),
]
REPORTED = [
    ("What was the rental income of Heron?", ["Heron Ltd: rental income of 21 USD"]),
    ("Heron rental income 2023", ["rental income of 22 USD"]),
    ("How many Heron shares were outstanding?", ["shares outstanding of 8 for"]),
    ("What is the effective tax rate of Heron?", ["income tax rate of 0.25 for"]),
    ("What was the longterm debt of Heron?", ["longterm debt of 31 USD"]),
    ("What was the rental income of Heron from Quebracho warehouses?", []),
    ("What was the Quebracho Zuberbuhler revenue of Heron?", []),
    ("What were the Mieteinnahmen of Heron?", []),
]


@pytest.mark.parametrize(("question", "parts"), REPORTED)
def test_what_a_company_reports_is_asked_for_in_the_words_of_its_concept(
    question: str, parts: list[str]
) -> None:
    rows = page(CONCEPTS)
    reply, _ = ask(question, list_entities=page([APPLE]), list_financial_observations=rows)
    assert len(reply.sources) == len(parts)
    assert all(part in reply.text for part in parts)


def test_a_subject_whose_ledger_is_not_read_has_no_answer() -> None:
    subject = {"id": "sbj_1", "name": "Kestrel Exchange"}
    reply, _ = ask(
        "What is the status of Kestrel Exchange?", search_ledger_subjects=page([subject])
    )
    assert reply.is_declined
    assert "Kestrel Exchange" in reply.text


# -- names -------------------------------------------------------------------------------------


def entity(number: int, name: str, **members: Any) -> dict[str, Any]:
    return {"id": f"ent_{number}", "name": name, "type": "company", "status": "active"} | members


ENTITY_QUESTIONS = [
    ("What is the status of Heron Quay Lines?", ["Heron Quay Lines"]),
    ("What is the status of Heron Quay?", ["Heron Quay Lines"]),
    ("What is the status of Tern?", ["Tern Ltd", "Tern SA"]),
    ("What is the status of Tern Ltd?", ["Tern Ltd"]),
    ("What is the status of Grey Petrel Tankers?", ["Petrel"]),
    ("What is the status of Stork?", []),
    ("What is the status of Gull?", []),
]
ENTITIES = [
    entity(1, "Heron Quay Lines"),
    entity(2, "Tern Ltd"),
    entity(3, "Tern SA", type="vessel"),
    entity(4, "Petrel", aliases=[{"name": "Grey Petrel"}], designators=[{"value": "X"}]),
    entity(5, "Gull One"),
    entity(6, "Gull Two"),
]


@pytest.mark.parametrize(("question", "names"), ENTITY_QUESTIONS)
def test_a_name_means_who_has_it_and_nobody_is_guessed(question: str, names: list[str]) -> None:
    reply, _ = ask(question, list_entities=page(ENTITIES))
    assert sorted(source.title for source in reply.sources.values()) == names
    assert ("kept apart" in reply.text) == (len(names) > 1)


@pytest.mark.parametrize(("text", "reply"), [("Thank you", "You are welcome."), ("Help", "Ask")])
def test_small_talk_within_a_conversation_asks_for_no_rows(text: str, reply: str) -> None:
    turn = Turn(text, NOW, (Message("user", "What happened in Chile?"),))
    assert answer(turn, Rows({})).text.startswith(reply)


def test_rows_of_the_same_name_are_not_compared() -> None:
    rows = [ToolHit(str(n), name, None, {"aliases": n}) for n, name in enumerate(["A", "B", "B"])]
    measure = [evolve(facts_of("actor")[0], number="aliases")]
    assert "B has the most and A the least" in figure_differences(measure, rows[:2])[0].text
    assert figure_differences(measure, rows) == []


COMMON_NAMES = [
    entity(1, "KIM, Yo Jong", type="person", description="Vice Director"),
    entity(2, "Post Inc."),
    entity(3, "Frau Susanne Klatten", type="person"),
]
BESIDE = [
    ("What post does Kim Yo Jong hold?", ["KIM, Yo Jong"]),
    ("Where is Post based?", ["Post Inc."]),
    ("What kind is Susanne Klatten?", ["Frau Susanne Klatten"]),
]


@pytest.mark.parametrize(("question", "names"), BESIDE)
def test_a_common_word_is_no_name_beside_a_full_one(question: str, names: list[str]) -> None:
    rows = [row | {"countryCodes": ["US"]} for row in COMMON_NAMES]
    reply, _ = ask(question, list_entities=page(rows))
    assert sorted(source.title for source in reply.sources.values()) == names


def test_what_is_not_said_of_rows_lists_none() -> None:
    rows = page([cve(1)])
    reply, _ = ask("Which vulnerabilities without a patch are there?", list_cves=rows)
    assert not reply.sources
    negation, tools = ask("Which vulnerabilities are not exploited?", list_cves=rows)
    assert tools.inputs[0]["kev"] == "false"
    assert negation.sources


def edge(source: str, target: str, kind: str, *dates: str | None, **attributes: Any) -> Any:
    """An edge of a graph, with its period."""
    ends = {"sourceId": source, "targetId": target, "type": kind, "attributes": attributes}
    return ends | dict(zip(("validFrom", "validTo"), (*dates, None, None), strict=False))


GRAPH = {
    "nodes": [{"id": "ent_1", "label": "Heron Quay Lines"}, {"id": "ent_2", "label": "Tern"}],
    "edges": [
        edge("ent_1", "ent_2", "owns", "2006", percentage=51),
        edge("ent_2", "ent_1", "ownsPart", None, "2020-02"),
        edge("ent_2", "ent_9", "owns"),
        edge("ent_1", "ent_2", "paid", "2021-05-03", amount=7000, currency="EUR"),
        edge("ent_1", "ent_2", "paid", "2022-07-01", amount=9000, currency="EUR"),
    ],
}
PAID_2021 = "Heron Quay Lines – paid – Tern (amount 7,000, currency EUR, from 2021-05-03)"
RELATION_QUESTIONS = [
    (
        "Is Heron Quay Lines related to Stork?",
        ["owns – Tern", "owns part – Heron", "7,000", "9,000"],
    ),
    ("How are Heron Quay Lines and Petrel linked to each other?", []),
    ("Who owns Heron Quay Lines?", ["Tern – owns part – Heron Quay Lines (to 2020-02)"]),
    (
        "What are the subsidiaries of Heron Quay Lines?",
        ["– owns – Tern (percentage 51, from 2006)"],
    ),
    ("Who is linked to Heron Quay Lines?", ["owns – Tern", "owns part – Heron", "7,000", "9,000"]),
    ("What did Heron Quay Lines own in 2015?", ["Heron Quay Lines – owns – Tern"]),
    ("What did Heron Quay Lines own in 2005?", []),
    ("What did Heron Quay Lines donate in May 2021?", [PAID_2021]),
    ("Welche Parteispenden kamen 2021 von Heron Quay Lines?", [PAID_2021]),
    ("What did Heron Quay Lines donate in 2020?", []),
    ("Heron Quay Lines donation Quebracho Dynamics Zuberbuhler", []),
]


@pytest.mark.parametrize(("question", "parts"), RELATION_QUESTIONS)
def test_relations_lead_the_way_that_is_asked_for(question: str, parts: list[str]) -> None:
    graph = page([])
    body = {"data": GRAPH}
    graph = type(graph)((), False, body, "/api/graph")
    reply, _ = ask(question, list_entities=page(ENTITIES), entity_graph=graph)
    assert len(reply.sentences) == max(1, len(parts))
    assert all(part in reply.text for part in parts)
    urls = {source.url for source in reply.sources.values()}
    assert urls == ({"https://api.example/api/graph"} if parts else set())


def test_a_country_has_no_relations_and_is_no_currency() -> None:
    country = {"id": "BO", "name": "Bolivia", "countryCode": "BO", "alpha3": "BOL", "tld": [".bo"]}
    question = "Which internet ending belongs to Bolivia?"
    reply, _ = ask(question, list_countries=page([country]))
    assert "domain of Bolivia is .bo [1]" in reply.text


GIFTS = [
    edge("ent_1", "ent_2", "paid", f"202{year}-05-03", amount=year * 1000, currency="EUR")
    for year in range(1, 8)
]
MANY_GIFTS = [
    ("What did Heron Quay Lines donate?", GIFTS, {}, "knows 7 such relations", 6),
    ("What did Heron Quay Lines donate?", GIFTS, {"truncated": True}, "knows at least 7 such", 6),
    ("How many donations did Heron Quay Lines make?", GIFTS[:1], {}, "knows 1 such relation", 2),
    ("largest donation of Heron Quay Lines", GIFTS, {}, "The highest of 7: Heron Quay Lines", 1),
    ("smallest donation of Heron Quay Lines", GIFTS, {}, "The lowest of 7: Heron Quay Lines", 1),
    ("latest donation of Heron Quay Lines", GIFTS, {}, "The latest of 7: Heron Quay Lines", 1),
    ("largest donation of Heron Quay Lines", GIFTS[:1], {}, "Heron Quay Lines – paid", 1),
    ("donations of Heron Quay Lines above 5500", GIFTS, {}, "amount 6,000", 2),
    (
        "largest donation of Heron Quay Lines",
        [*GIFTS, edge("ent_1", "ent_2", "paid", "2028", amount=9, currency="USD")],
        {}, "does not know any relation", 1,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("question", "edges", "members", "part", "count"), MANY_GIFTS)
def test_of_many_relations_it_is_said_how_many_and_which_is_the_most(
    question: str, edges: list[Any], members: dict[str, Any], part: str, count: int
) -> None:
    body = {"data": {**GRAPH, "edges": edges, **members}}
    graph = type(page([]))((), False, body, "/api/graph")
    reply, _ = ask(question, list_entities=page(ENTITIES[:1]), entity_graph=graph)
    assert part in reply.text
    assert len(reply.sentences) == count


# -- reports -----------------------------------------------------------------------------------

REPORTS = [
    {"id": "rpt_2", "name": "Ports: 2 January", "title": "Ports: 2 January", "summary": "Quays."},
    {"id": "rpt_1", "name": "Cables: 1 January", "title": "Cables: 1 January", "summary": "Wires."},
]
POINTS = ["Dockers left the cranes of two ports.", "A cable broke off Gotland on 1 January."]
SAYS = [
    ("What does the latest report say?", "rpt_2", POINTS),
    ("What are the key points of the report on cables?", "rpt_1", POINTS),
    ("What does the report on cables say about Gotland?", "rpt_1", POINTS[1:]),
    ("What does the report on herons say?", None, []),
]


@pytest.mark.parametrize(("question", "id_", "points"), SAYS)
def test_a_report_says_what_its_points_are(
    question: str, id_: str | None, points: list[str]
) -> None:
    whole = page([REPORTS[0] | {"keyPoints": [{"text": text} for text in POINTS]}])
    reply, _ = ask(question, search_reports=page(REPORTS), get_report=whole)
    assert [source.id for source in reply.sources.values()] == ([id_] if id_ else [])
    assert [text in reply.text for text in (point.rstrip(".") for point in points)] == [
        True for _ in points
    ]


def test_the_latest_news_are_listed_from_the_latest_on() -> None:
    rows = [
        {"id": f"obs_{day}", "name": f"Quay {day}", "title": f"Quay {day}",
         "publishedAt": f"2026-01-0{day}T00:00:00Z", "source": {"name": "Wire"}}
        for day in (2, 3, 1)
    ]  # fmt: skip
    reply, _ = ask("What is the latest news about quays?", list_news=page(rows))
    assert [source.id for source in reply.sources.values()] == ["obs_3", "obs_2", "obs_1"]


def test_an_actor_tells_what_every_entity_tells() -> None:
    actor = entity(7, "Reed Warbler", type="threatActor", topics=["Espionage"])
    reply, _ = ask(
        "Under which topics is Reed Warbler filed?",
        list_entities=page([actor]),
        get_actor=page([actor]),
    )
    assert "Espionage [1]" in reply.text


DAYS = [("2025-03-01", "2025-03-13", "12 days later"), ("2025-03-01", "2025", None)]


@pytest.mark.parametrize(("first", "last", "part"), DAYS)
def test_rows_are_compared_by_the_days_that_they_state(
    first: str, last: str, part: str | None
) -> None:
    measures = [fact("incident", "date")]
    rows = page([{"id": day, "name": day, "startedAt": day} for day in (first, last)]).hits
    texts = [line.text for line in figure_differences(measures, rows)]
    assert texts == (
        [f"By the date, {first} is the first and {last} the last, {part}"] * bool(part)
    )


def test_what_a_row_is_relates_it_to_nothing() -> None:
    stork = entity(1, "Stork", type="malware", aliases=["Wood Stork"])
    reply, _ = ask("Under which other names does the Stork malware go?",
                   list_entities=page([stork]), entity_graph=page([]))  # fmt: skip
    assert "Stork is also known as Wood Stork [1]" in reply.text


def test_what_a_tool_uses_stands_in_its_graph() -> None:
    body = {"data": GRAPH | {"edges": [edge("ent_1", "ent_2", "uses")]}}
    graph = type(page([]))((), False, body, "/api/graph")
    stork = entity(1, "Stork", type="malware")
    reply, _ = ask(
        "Which techniques does Stork use?", list_entities=page([stork]), entity_graph=graph
    )
    assert "Heron Quay Lines – uses – Tern [1]" in reply.text
