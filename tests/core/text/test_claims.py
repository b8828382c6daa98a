"""Which sentences rows state: labelled ones of a model, and what turns a meaning."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from svc_core.text.facts import TextFacts
from svc_core.text.quantities import values_of

ANSWERS = Path(__file__).parents[3] / "benchmarks" / "answers"


@pytest.mark.parametrize(
    ("claims", "faithful", "unfaithful"),
    [
        ("claims", 94, 89),
        ("claims_second", 94, 90),
        ("claims_shapes", 29, 24),
        ("claims_members", 17, 17),
        ("claims_third", 63, 81),
        ("claims_fourth", 18, 26),
    ],
)
def test_labelled_sentences_are_kept_and_caught(
    claims: str, faithful: int, unfaithful: int
) -> None:
    """The sentences were looked at: `benchmarks/README.md` has figures of others."""
    paths = (ANSWERS / f"{name}.json" for name in ("rows", "rows_second", "rows_third"))
    rows = {id_: row for path in paths for id_, row in json.loads(path.read_text()).items()}
    facts: dict[str, TextFacts] = {}
    right = {"faithful": 0, "unfaithful": 0}
    lines = (ANSWERS / f"{claims}.tsv").read_text().splitlines()
    for claim in csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE):
        sources = tuple(rows[id_] for id_ in claim["rows"].split())
        held = facts.setdefault(claim["rows"], TextFacts(sources))
        right[claim["label"]] += held.entail(claim["sentence"]) == (claim["label"] == "faithful")
    assert right["faithful"] >= faithful
    assert right["unfaithful"] >= unfaithful


BREACH = {
    "title": "Data breach",
    "entities": [
        {"name": "Gravel Lynx", "role": "actor"},
        {"name": "Heron Port Authority", "role": "target"},
    ],
}
RAID = {
    "title": "Villagers killed",
    "actors": [
        {"name": "Gravel Front", "role": "actor"},
        {"name": "Villagers", "role": "victim"},
        {"name": "Members of the press", "role": "mentioned"},
    ],
}
DEPTH = {"name": "Depth of the basin", "value": 38, "unit": "km"}
MARKET = (
    "Heron Lines bought Tern Shipping. Tern Shipping owes Petrel Bank two hundred and five euros."
)
INQUIRY = "A painting was stolen at Hull in 1987. The inquiry did not name the thief of Hull."
MARCH = "Police said 260 people were held at Hull after the march. Almost 400 people were hurt."
TAIWAN = {"name": "Taiwan", "unMember": False, "capital": "Taipei"}
SWEDEN = {
    "name": "Sweden",
    "gdp": {"value": 600, "unit": "USD"},
    "debt": {"value": 200, "unit": "USD"},
}
COUNTRIES = {"name": "Gravel Front", "targetCountries": ["US", "GB"]}
SHIPS = "A third of the ships came late. Crews who missed the drill fell ill."
STRIKE = "Pilots of Hull began a strike on Monday, 27 July 2026."
STREIK = "Die Lotsen streikten ab Montag, den 27. Juli 2026."
QUARREL = "Petrel Bank denied the theft. Heron Lines blamed the bank."
OUVERTURE = "La ville devrait ouvrir le port en mai."
VERBOT = "Das Kartellamt hat den Kauf von Pirna untersagt."
HACKED = "Acme was not hacked. Beta was hacked on Monday."
COURT = "The court rejected the appeal on Monday. A third judge of the court did not vote."
RICE = "The harvest of rice was a fifth lower than in 2024."
WATER = (
    "The lake held 41 percent on 19 October, down from 58 percent on 2 October. Rain fell in May."
)
PRICES = "A kilogram rose from 118 to 139 rupees. The World Health Organization counts 35 deaths."
LEAK = "The port closed after a leak of chlorine, caused by a valve. A strike ended on Friday."
CLAIMS = [
    (WATER, "The lake lost 17 percentage points in 17 days.", None),
    (WATER, "The lake lost 18 percentage points.", "value"),
    ("The port lost 3 ships and the bay 3 ships.", "The port lost 0 ships.", "value"),
    ("The port opened in May 2024 and closed on 3/4/2024.", "It was closed for 30 days.", "value"),
    ("It opened on 3 May and closed on 5 May 2024.", "It was open for 8768 days.", "value"),
    ("It opened on 3 May 2024 and closed on 5 May 2024.", "It was open for 2 days.", None),
    (PRICES, "A kilogram rose by 21 rupees to 139 rupees.", None),
    (PRICES, "The WHO counts 35 deaths.", None),
    (PRICES, "The WTO counts 35 deaths.", "name"),
    (LEAK, "The port closed because of a leak of chlorine.", None),
    (LEAK, "The port closed because of a fire.", "bound"),
    (LEAK, "The whole port closed after a leak of chlorine.", "bound"),
    ("Every ship of the port came late on Monday.", "All ships of the port came late.", None),
    ("The border closed for eight weeks.", "The border closed for two months.", None),
    (
        {"name": "Heron", "birth dates": "1951/1953"},
        "The birth dates of Heron are 1951 and 1953.",
        None,
    ),
    (HACKED, "Acme was hacked.", "denial"),
    (HACKED, "Beta was hacked on Monday.", None),
    (COURT, "The court did not reject the appeal on Monday.", "denial"),
    (COURT, "The court did not allow the appeal on Monday.", None),
    (COURT, "The third judge of the court did not vote.", None),
    (COURT, "33 percent of the judges of the court did not vote.", "value"),
    (RICE, "The harvest of rice was 20 percent lower than in 2024.", None),
    (RICE, "The harvest of rice was lower than in 2024 by a quarter.", "value"),
    (SHIPS, "33 percent of the ships came late.", None),
    (SHIPS, "Two thirds of the ships came late.", "value"),
    (SHIPS, "Crews who did not take part in the drill fell ill.", None),
    ("In 2024 a dozen ships came late.", "12 ships came late in 2024.", None),
    ("A dam will be built in 20 years.", "A dam will be built in two decades.", None),
    (OUVERTURE, "La ville ouvre le port en mai.", "hedge"),
    (VERBOT, "Das Kartellamt hat den Kauf von Pirna erlaubt.", "opposite"),
    (BREACH, "Gravel Lynx breached the Heron Port Authority.", None),
    (BREACH, "The Heron Port Authority breached Gravel Lynx.", "role"),
    (RAID, "Villagers killed members of the Gravel Front.", "role"),
    (RAID, "Villagers were killed by the Gravel Front.", None),
    (DEPTH, "The depth of the basin is 38 km.", None),
    (DEPTH, "The depth of the basin is 38,000 m.", None),
    (DEPTH, "The depth of the basin is 38 kg.", "value"),
    (DEPTH, "38.", None),
    (MARKET, "Tern Shipping owes Petrel Bank 205 euros.", None),
    (MARKET, "Tern Shipping owes Petrel Bank 250 euros.", "value"),
    (MARKET, "Tern Shipping bought Heron Lines.", "role"),
    (
        INQUIRY,
        "The inquiry named the thief of the painting that was stolen at Hull in 1987.",
        "denial",
    ),
    (MARCH, "More than 200 people were held at Hull after the march.", None),
    (MARCH, "About 300 people were held at Hull after the march.", None),
    (MARCH, "More than 300 people were held at Hull after the march.", "value"),
    (MARCH, "At least 300 people were held at Hull after the march.", "value"),
    (MARCH, "More than 400 people were hurt.", "value"),
    (MARCH.replace("260", "about " + "9" * 309), "At Hull 5 people were held.", "value"),
    ("It took place around 3 May 2024 at Hull.", "It took place on 3 May 2024 at Hull.", None),
    ("It took place around 3 May 2024 at Hull.", "It took place on 3 June 2024 at Hull.", "value"),
    (STRIKE, "Pilots began a strike on 27 July.", None),
    (STRIKE, "Pilots began a strike on Monday.", None),
    (STRIKE, "Pilots began a strike on Monday, 27 July.", None),
    (STRIKE, "Pilots began a strike on Tuesday, 27 July.", "value"),
    (STREIK, "Die Lotsen streikten ab 27. Juli.", None),
    (QUARREL, "Petrel Bank denied the theft.", None),
    (QUARREL, "Heron Lines denied the theft.", "name"),
    (TAIWAN, "Taiwan is a UN member.", "denial"),
    (TAIWAN, "Taiwan is not a UN member.", None),
    (SWEDEN, "The GDP of Sweden is 600 USD.", None),
    (SWEDEN, "The GDP of Sweden is 200 USD.", "place"),
    (COUNTRIES, "Gravel Front targets the United States.", None),
    (COUNTRIES, "Gravel Front targets the United Arab Emirates.", "name"),
]


@pytest.mark.parametrize(("row", "sentence", "fault"), CLAIMS)
def test_what_turns_a_meaning_is_a_fault(
    row: str | Mapping[str, Any], sentence: str, fault: str | None
) -> None:
    assert TextFacts.of(row).fault(sentence) == fault


@pytest.mark.parametrize(
    ("language", "text", "amounts"),
    [
        ("en", "Twelve hundred people and a quarter of them", [1_200, 25]),
        ("en", "half a million, one and a half million, a million and a half", [5e5, 1.5e6, 1.5e6]),
        ("en", "two and a half, a hundred, six thousand four hundred", [2.5, 100, 6_400]),
        ("en", "one million two hundred thousand, two thousand million", [1.2e6, 2e9]),
        ("en", "two hundred and twenty three, $3.5m, 40k and 19 cents", [220, 3, 3.5e6, 4e4, 19]),
        ("en", "tens of thousands, several hundred", []),
        ("de", "zwölfhundert, anderthalb Millionen, zweieinhalb", [1_200, 1.5e6, 2.5]),
        ("de", "eine halbe Million, dreihundertachtzehn, mehrere hundert", [5e5, 318]),
        ("fr", "mille deux cents, un million et demi, 20 pour cent", [1_200, 1.5e6, 20]),
        (
            "es",
            "doscientas, ciento veinte, medio millón, dos mil quinientos",
            [200, 120, 5e5, 2_500],
        ),
    ],
)
def test_numerals_have_the_value_of_digits(language: str, text: str, amounts: list[float]) -> None:
    numbers = values_of(text, language)[1]
    assert [number.amount for number in numbers] == amounts


def test_a_day_that_no_calendar_has_is_no_date() -> None:
    assert not TextFacts.of("The port opened.").entail("The port opened on 31 February 2025.")
