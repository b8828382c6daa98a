"""Lists that are asked for by words: what is found, in which order, and why."""

import json
from itertools import count
from typing import Any
from urllib.parse import quote

import pytest

from tests.core import demo
from tests.core.intel.incident_documents import fold

NAMES = (
    "Microsoft Corp",
    "MicroStrategy Inc",
    "Meridian Harbour Holdings plc",
    "Harbour Cafe Ltd",
    "Nestlé S.A.",
    "北京银行",
    "Газпром нефть",
    "Okta, Inc.",
    "Who Holdings",
    "AT&T Inc.",
)


@pytest.fixture(scope="module")
def directory(house_factory: Any) -> Any:
    """A house with companies of these names."""
    house = house_factory()
    lines = [
        json.dumps(
            {"id": f"c-{at}", "schema": "Company", "properties": {"name": [name]}},
            ensure_ascii=False,
        )
        for at, name in enumerate(NAMES)
    ]
    demo.take(house, "companies.ftm.json", "\n".join(lines).encode())
    return house


def names(house: Any, q: str, suffix: str = "") -> list[str]:
    return [row["name"] for row in house.rows("listEntities", f"q={quote(q)}&limit=100{suffix}")]


@pytest.mark.parametrize(
    ("question", "matches"),
    [
        ("Microsoft", ["Microsoft Corp"]),
        ("microsoft corporation", ["Microsoft Corp"]),
        ("Micros", []),
        ("Microsfot", []),
        ("nestle", ["Nestlé S.A."]),
        ("NESTLÉ SA", ["Nestlé S.A."]),
        ("北京银行", ["北京银行"]),
        ("北京", ["北京银行"]),
        ("газпром", ["Газпром нефть"]),
        ("okta", ["Okta, Inc."]),
        ("who", ["Who Holdings"]),
        ("at&t", ["AT&T Inc."]),
        ("Meridian Harbour", ["Meridian Harbour Holdings plc"]),
        ("harbour", ["Harbour Cafe Ltd", "Meridian Harbour Holdings plc"]),
        ("harbour -cafe", ["Meridian Harbour Holdings plc"]),
        ('"meridian harbour"', ["Meridian Harbour Holdings plc"]),
        ('"harbour meridian"', []),
        ("zzz", []),
        ("...", []),
    ],
)
def test_names_are_found_by_whole_words_and_nothing_is_guessed(
    directory: Any, question: str, matches: list[str]
) -> None:
    assert sorted(names(directory, question)) == sorted(matches)


def test_a_match_says_what_it_was_found_by(directory: Any) -> None:
    [row] = directory.rows("listEntities", "q=meridian%20wharf%20harbour&include=match")
    match = row["match"]
    assert 0.5 < match["score"] < 1
    assert [term["term"] for term in match["terms"]] == ["meridian", "harbour"]
    assert match["terms"][0]["weight"] > match["terms"][1]["weight"] > 0
    assert match["fields"] == ["name"]
    [whole] = directory.rows("listEntities", "q=okta&include=match")
    assert whole["match"]["score"] == 1
    plain = directory.rows("listEntities", "include=match&limit=1")
    assert plain[0]["match"] is None
    assert "match" not in directory.rows("listEntities", "q=okta")[0]


def test_a_cve_is_found_by_its_id_and_by_its_words(house: Any) -> None:
    demo.take_all(house)
    for id_ in ("CVE-2021-44228", "cve-2021-44228"):
        assert [row["name"] for row in house.rows("listEntities", f"q={id_}")] == [id_.upper()]
        assert house.rows("listCves", f"q={id_}")[0]["cveId"] == id_.upper()
    assert house.rows("listEntities", "q=CVE-2021-4422") == []
    fold(house)
    rows = {name: house.rows(name, "limit=100") for name in LISTS}
    for name, (words, field) in LISTS.items():
        matches = house.rows(name, f"limit=100&q={words}&include=match")
        assert 0 < len(matches) < len(rows[name]), name
        assert all(field in row["match"]["fields"] for row in matches[:1])
        scores = [row["match"]["score"] for row in matches]
        assert scores == sorted(scores, reverse=True)


LISTS = {
    "listCves": ("apache%20log4j2", "affected"),
    "listActors": ("fancy%20bear", "aliases"),
    "listIncidents": ("earthquake%20esmeraldas", "title"),
    "listMarkets": ("harbour%20vote", "question"),
    "listEntities": ("meridian%20harbour", "name"),
}


def test_pages_join_and_other_filters_still_apply(house: Any) -> None:
    lines = [
        {"id": f"c-{at}", "schema": "Company" if at % 2 else "Person",
         "properties": {"name": [f"Gable {'Quay ' * (at % 3)}{at}"]}}
        for at in range(30)
    ]  # fmt: skip
    demo.take(house, "c.ftm.json", "\n".join(map(json.dumps, lines)).encode())
    numbers = count()

    def a_new_one_comes() -> None:
        demo.take(house, f"{next(numbers)}.json", NEW_ONE)

    for query, expected in (("q=gable%20quay", 20), ("q=gable%20quay&type=company", 10),
                            ("q=gable&sort=updatedAt", 30)):  # fmt: skip
        rows = house.every(
            "listEntities", f"{query}&include=match&limit=7", meanwhile=a_new_one_comes
        )
        ids = [(row["id"], row["match"]["score"]) for row in rows]
        assert len({id_ for id_, _ in ids}) == len(ids)
        assert len(ids) >= expected, query
        if "sort" not in query:
            scores = [score for _, score in ids]
            assert scores == sorted(scores, reverse=True)
            assert scores[expected - 1] > 0.5


NEW_ONE = b'{"id": "n-1", "schema": "Company", "properties": {"name": ["Quay of Elsewhere"]}}'


def test_a_long_question_has_a_cursor_that_goes_on(house: Any) -> None:
    words = "Germany France Italy Spain Japan China India Brazil Poland Greece Norway Sweden ports"
    rows = [
        {"id": f"m{at}", "question": f"Will {words} agree {at} times?", "conditionId": f"0x{at}",
         "slug": f"m{at}", "outcomes": None, "active": True, "closed": False}
        for at in range(3)
    ]  # fmt: skip
    demo.take(house, "markets.json", rows)
    query = f"q={quote((words + ' ' + words.lower()).ljust(290, 'x')[:300])}&limit=1"
    bodies = house.pages("listMarkets", query)
    assert len({row["id"] for body in bodies for row in body["data"]}) == len(bodies) == len(rows)


def test_a_cve_is_found_by_the_name_that_the_catalogue_gives_it(house: Any) -> None:
    texts = ("It is known under the moniker of Piershell.", "It exploits Pier chains.")
    entries = [
        {"cveID": f"CVE-2025-100{at}", "vendorProject": "Pier", "product": "PierCrane2",
         "vulnerabilityName": "Pier Crane Flaw", "dateAdded": "2025-03-01",
         "shortDescription": text, "requiredAction": "Patch.", "dueDate": "2025-04-01",
         "knownRansomwareCampaignUse": "Unknown", "notes": "", "cwes": []}
        for at, text in enumerate(texts)
    ]  # fmt: skip
    catalogue = {"title": "CISA Catalog of Known Exploited Vulnerabilities", "count": 2,
                 "catalogVersion": "2025.03.01", "dateReleased": "2025-03-01T00:00:00.0Z",
                 "vulnerabilities": entries}  # fmt: skip
    demo.take(house, "kev.json", catalogue)
    for question, ids in (("piershell", "0"), ("pier chains", "1"), ("piercrane", "01")):
        rows = house.rows("listCves", f"q={quote(question)}&include=match")
        assert "".join(sorted(row["cveId"][-1] for row in rows)) == ids, question
    assert rows[0]["match"]["fields"] == ["affected"]
    [row] = house.rows("listCves", "q=cve-2025-1001&include=match")
    assert (row["match"]["score"], row["match"]["fields"]) == (1.0, ["title"])


TITLED = {
    "listEntities": "name",
    "listActors": "name",
    "listCves": "cveId",
    "listIncidents": "title",
    "listMarkets": "question",
}


@pytest.mark.parametrize(("name", "title"), TITLED.items())
def test_every_row_is_first_under_its_very_name_and_under_each_code(
    folded_house: Any, name: str, title: str
) -> None:
    rows = folded_house.rows(name, "limit=100")
    if name == "listEntities":  # which finds a vulnerability by its CVE id alone
        rows = [row for row in rows if row["type"] != "vulnerability"]
    assert len(rows) > 2
    for row in rows:
        codes = [item["value"] for item in row.get("designators", ()) if item["scheme"] != "domain"]
        for question in [row[title], row[title].upper(), *codes]:
            first = folded_house.rows(name, f"limit=1&q={quote(question[:300])}")
            assert [hit[title] for hit in first] == [row[title]], question
