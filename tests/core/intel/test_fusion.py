"""The fusion of a company: a story told by nine documents, and the laws of its rules."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base import drive
from svc_core.base.instants import Interval
from svc_core.contract import problem
from svc_core.intel.fusion import rules
from svc_core.intel.incidents.fold_passes import fold_new
from svc_core.intel.incidents.story_grouping import group_new
from svc_core.intel.linking.references import id_of
from tests.core import demo
from tests.core.cves import catalogue, epss, kev_entry, metric
from tests.core.cves import nvd as page_of_nvd
from tests.core.intel.news.test_grouping import Work

CIK = "0001999001"
YEAR = "datetime=2025-01-01T00:00:00Z/2025-12-31T23:59:59Z"

SUBMISSIONS = {
    "cik": CIK, "entityType": "operating", "sic": "7372",
    "sicDescription": "Services-Prepackaged Software", "name": "Tessmark Systems Inc",
    "tickers": ["TSMK"], "exchanges": ["Nasdaq"], "lei": None, "fiscalYearEnd": "1231",
    "stateOfIncorporation": "DE", "description": "", "category": "",
    "formerNames": [{"name": "Quillard Networks Inc", "from": "2011-01-03T05:00:00.000Z",
                     "to": "2024-06-28T04:00:00.000Z"}],
    "filings": {"recent": {
        "accessionNumber": [f"0001999001-25-00000{n}" for n in range(1, 6)],
        "filingDate": ["2025-03-20", "2025-03-28", "2025-05-01", "2024-02-01", "2025-06-01"],
        "reportDate": ["2025-03-18", "2025-03-27", "2025-04-30", "", ""],
        "acceptanceDateTime": ["2025-03-20T21:30:00.000Z", "2025-03-28T21:30:00.000Z", "", "", ""],
        "form": ["8-K", "8-K", "8-K", "8-K", "10-Q"],
        "items": ["1.05,9.01", "8.01", "2.02,9.01", "1.05", ""],
        "primaryDocument": ["a.htm", "b.htm", "c.htm", "d.htm", "e.htm"],
        "primaryDocDescription": ["8-K", "CYBERSECURITY INCIDENT UPDATE", "8-K", "8-K", "10-Q"],
    }, "files": []},
}  # fmt: skip


def fact(start: str | None, end: str, val: int, accession: str, filing_day: str) -> dict[str, Any]:
    members = {"end": end, "val": val, "accn": accession, "fy": 2025, "fp": "FY", "form": "10-K",
            "filed": filing_day}  # fmt: skip
    return members if start is None else {"start": start, **members}


FACTS = {
    "cik": int(CIK), "entityName": "Tessmark Systems Inc",
    "facts": {"us-gaap": {
        "Revenues": {"label": "Revenues", "description": None, "units": {"USD": [
            fact("2023-01-01", "2023-12-31", 700_000_001, "0001999001-24-000010", "2024-02-20"),
            fact("2024-01-01", "2024-12-31", 812_345_679, "0001999001-25-000010", "2025-02-20"),
            fact("2024-10-01", "2024-12-31", 212_345_679, "0001999001-25-000010", "2025-02-20"),
        ]}},
        "Assets": {"label": "Assets", "description": None, "units": {"USD": [
            fact(None, "2024-12-31", 99_000_000, "0001999001-25-000010", "2025-02-20"),
            fact(None, "2025-12-31", 88_000_000, "0001999001-26-000010", "2026-02-20"),
        ]}},
    }},
}  # fmt: skip

KEV = catalogue(
    "2025-12-30",
    *(
        kev_entry(id_, vendorProject=vendor, product="Gate", vulnerabilityName=name, dateAdded=day,
                  dueDate=day, knownRansomwareCampaignUse=use)
        for id_, vendor, name, day, use in (
            ("CVE-2024-90001", "Quillard Networks", "Gate injection", "2025-03-03", "Known"),
            ("CVE-2024-90002", "Quillard Foods", "Oven flaw", "2025-03-04", "Unknown"),
            ("CVE-2023-90003", "Quillard Networks", "Old flaw", "2023-09-09", "Unknown"),
        )
    ),
)  # fmt: skip


def nvd(*rows: tuple[str, str, str, float, str]) -> dict[str, Any]:
    pages = [
        page_of_nvd(
            id_, day, published=f"{day}T10:00:00.000",
            metrics={"cvssMetricV31": [metric(score, word=severity)]},
            configurations=[{"nodes": [{"operator": "OR", "negate": False, "cpeMatch": [{
                "vulnerable": True, "matchCriteriaId": "00000000-0000-4000-8000-000000000000",
                "criteria": f"cpe:2.3:a:{vendor}:gate:*:*:*:*:*:*:*:*"}]}]}],
        )
        for id_, vendor, day, score, severity in rows
    ]  # fmt: skip
    records = [page["vulnerabilities"][0] for page in pages]
    size = {"resultsPerPage": len(records), "totalResults": len(records)}
    return pages[0] | size | {"vulnerabilities": records}


NVD = nvd(
    ("CVE-2024-90001", "quillard_networks", "2025-02-10", 9.8, "CRITICAL"),
    ("CVE-2025-90004", "tessmark_systems", "2025-07-01", 7.5, "HIGH"),
    ("CVE-2025-90005", "quillard_foods", "2025-07-02", 9.8, "CRITICAL"),
    ("CVE-2023-90003", "quillard_networks", "2023-05-05", 5.0, "MEDIUM"),
)
EPSS = epss(
    "2025-12-26",
    CVE_2024_90001=(0.91, 0.99), CVE_2025_90004=(0.02, 0.5), CVE_2025_90005=(0.97, 0.99),
)  # fmt: skip
TICKERS = {
    "0": {"cik_str": int(CIK), "ticker": "TSMK", "title": "Tessmark Systems Inc"},
    "1": {"cik_str": 1999002, "ticker": "QFDS", "title": "Quillard Foods Inc"},
}
MARKETS = [
    {"id": f"m{at}", "question": question, "conditionId": f"0x{at}", "slug": f"m{at}",
     "outcomes": '["Yes", "No"]', "outcomePrices": '["0.25", "0.75"]', "volume": "10",
     "active": True, "closed": False, "startDate": "2025-04-02T00:00:00Z",
     "endDate": "2025-11-30T00:00:00Z", "updatedAt": "2025-05-01T00:00:00Z"}
    for at, question in enumerate(
        ("Will Tessmark Systems be fined by November?", "Will Quillard Foods open a shop?")
    )
]  # fmt: skip
NEWS = (
    b'<rss version="2.0"><channel><title>Wire</title><link>https://wire.example/</link>'
    b"<description>d</description>"
    b"<item><title>Tessmark Systems tells of a breach at its gateways</title>"
    b"<link>https://wire.example/1</link><description>Customers were told.</description>"
    b"<pubDate>Fri, 21 Mar 2025 08:00:00 GMT</pubDate></item>"
    b"<item><title>Quillard Foods bakes again</title><link>https://wire.example/2</link>"
    b"<description>Bread.</description><pubDate>Fri, 21 Mar 2025 09:00:00 GMT</pubDate></item>"
    b"</channel></rss>"
)
DOCUMENTS = {
    "tickers.json": TICKERS, "submissions.json": SUBMISSIONS, "facts.json": FACTS,
    "kev.json": KEV, "nvd.json": NVD, "epss.csv": EPSS, "markets.json": MARKETS,
    "wire.xml": NEWS,
}  # fmt: skip
ID = id_of(f"cik:{CIK}")


def fusion(house: Any, query: str = YEAR, id_: str = ID) -> Any:
    return house.body("getFusion", query, path={"entityId": id_})["data"]


def take_all(house: Any, *names: str) -> None:
    for name in names:
        demo.take(house, name, DOCUMENTS[name])


@pytest.fixture(scope="module", params=[1, -1])
def story(request: Any, house_factory: Any) -> Any:
    """A house that read the documents, in either order."""
    house = house_factory()
    take_all(house, *list(DOCUMENTS)[:: request.param])
    return house


# -- pages ---------------------------------------------------------------------------------------


def fusion_pages(house: Any, query: str, between: Any = lambda: None) -> list[Any]:
    bodies = house.pages("getFusion", query, path={"entityId": ID}, meanwhile=between)
    pages = [[*body["data"]["timeline"], *body["data"]["links"]] for body in bodies]
    assert [body["meta"]["pageCount"] for body in bodies] == list(map(len, pages))
    return pages


def test_pages_have_each_row_of_the_timeline_and_each_link_once(story: Any) -> None:
    whole = fusion(story)
    rows = [*whole["timeline"], *whole["links"]]
    assert len(rows) > 10
    assert whole["links"]
    for limit in (1, 2, 7, 100):
        pages = fusion_pages(story, f"{YEAR}&limit={limit}")
        assert [len(page) for page in pages[:-1]] == [limit] * (len(pages) - 1)
        entries = [row for page in pages for row in page]
        assert sorted(map(repr, entries)) == sorted(map(repr, rows))
        times = [row["at"] for row in entries if "at" in row]
        assert times == sorted(times)
    body = story.body("getFusion", f"{YEAR}&limit=1", path={"entityId": ID})
    token = body["meta"]["page"]["nextCursor"]
    assert len(fusion_pages(story, f"{YEAR}&cursor={token}")[0]) == len(rows) - 1
    for tenant, query in (("wsp_a", ""), ("wsp_b", f"{YEAR}&"), ("wsp_a", "from=2025-01-01&")):
        refusal = story.refusal(
            "getFusion", tenant=tenant, path={"entityId": ID}, query=f"{query}cursor={token}"
        )
        assert refusal.type is problem.INVALID_CURSOR


def test_pages_are_gone_on_from_while_rows_come(house_factory: Any) -> None:
    house = house_factory()
    take_all(house, "tickers.json", "submissions.json", "kev.json", "nvd.json")
    before = fusion(house)
    coming = iter(["facts.json", "markets.json", "wire.xml"])
    rows = [row for page in fusion_pages(
        house, f"{YEAR}&limit=2", lambda: take_all(house, *filter(None, [next(coming, None)]))
    ) for row in page]  # fmt: skip
    keys = [_key(row) for row in rows]
    assert len(set(keys)) == len(keys)
    assert {_key(row) for row in (*before["timeline"], *before["links"])} <= set(keys)


def _key(row: Any) -> tuple[str, ...]:
    names = ("at", "kind", "refId") if "at" in row else ("fromId", "toId", "type", "basis")
    return tuple(row[name] for name in names)


# -- the story ---------------------------------------------------------------------------------


def test_a_renamed_company_has_what_its_old_and_new_names_were_told_of(story: Any) -> None:
    answer = fusion(story)
    assert answer["entity"]["name"] == "Tessmark Systems Inc"
    assert set(answer["coverage"].values()) == {"loaded"}
    cyber = answer["cyber"]
    assert [row["cveId"] for row in cyber["cves"]] == ["CVE-2024-90001", "CVE-2025-90004"]
    assert (cyber["cveCount"], cyber["kevCount"], cyber["ransomwareCount"]) == (2, 1, 1)
    assert cyber["maxEpss"] == 0.91
    assert {name: n for name, n in cyber["bySeverity"].items() if n} == {"critical": 1, "high": 1}
    market = answer["market"]
    assert {row["metric"]: row["value"] for row in market["financials"]} == {
        "revenue": 812_345_679,
        "assets": 99_000_000,
    }
    assert [row["items"] for row in market["filings"]] == [
        ["2.02", "9.01"], ["8.01"], ["1.05", "9.01"],
    ]  # fmt: skip
    assert [row["question"] for row in market["markets"]] == [MARKETS[0]["question"]]
    assert {row["entityId"] for row in market["filings"]} == {ID}


def test_a_vendor_that_shares_a_word_is_not_attached(story: Any) -> None:
    foods = fusion(story, id_=id_of("cik:0001999002"))
    assert [row["cveId"] for row in foods["cyber"]["cves"]] == ["CVE-2024-90002", "CVE-2025-90005"]
    assert foods["coverage"]["filings"] == "empty"
    assert [row["question"] for row in foods["market"]["markets"]] == [MARKETS[1]["question"]]
    text = json.dumps(fusion(story))
    assert "Foods" not in text
    assert "90005" not in text


def test_the_timeline_tells_it_in_order(story: Any) -> None:
    entries = fusion(story)["timeline"]
    assert [(event["at"][:10], event["kind"]) for event in entries] == [
        ("2025-02-10", "cvePublished"),
        ("2025-02-20", "financial"),
        ("2025-02-20", "financial"),
        ("2025-03-03", "kevAdded"),
        ("2025-03-20", "filing"),
        ("2025-03-21", "news"),
        ("2025-03-28", "filing"),
        ("2025-04-02", "marketOpened"),
        ("2025-05-01", "filing"),
        ("2025-07-01", "cvePublished"),
        ("2025-11-30", "marketCloses"),
    ]
    assert all(event["sourceIds"] for event in entries)


def test_links_join_rows_of_the_answer_and_time_is_no_cause(story: Any) -> None:
    answer = fusion(story)
    rows = {answer["entity"]["id"], *answer["entity"]["mergedIds"]}
    parts = [*answer["cyber"].values(), *answer["market"].values()]
    rows |= {row["id"] for part in parts if isinstance(part, list) for row in part}
    assert all({link["fromId"], link["toId"]} <= rows for link in answer["links"])
    days = {
        (link["toId"], link["lagDays"]) for link in answer["links"] if link["type"] == "temporal"
    }
    dates = {row["id"]: row for row in answer["market"]["filings"]}
    by_date = {dates[id_]["filedDate"]: lag for id_, lag in days if id_ in dates}
    assert by_date == {"2025-03-20": 17, "2025-03-28": 25}
    assert (answer["market"]["markets"][0]["id"], 30) in days
    temporal = [link for link in answer["links"] if link["type"] == "disclosedIn"]
    assert {(dates[link["toId"]]["filedDate"], link["confidence"]) for link in temporal} == {
        ("2025-03-20", 1.0), ("2025-03-28", 0.5),
    }  # fmt: skip
    makers = [link for link in answer["links"] if link["type"] == "vendorOf"]
    assert len(makers) == 2
    assert all(
        "no cause" in link["basis"] for link in answer["links"] if link["lagDays"] is not None
    )


@pytest.mark.parametrize(
    ("query", "lags", "bound"),
    [("", {17, 25, 30}, 120), ("&maxLag=25", {17, 25}, 25), ("&maxLag=0", set(), 0)],
)
def test_dates_further_apart_than_the_bound_are_not_linked(
    story: Any, query: str, lags: set[int], bound: int
) -> None:
    links = fusion(story, f"{YEAR}{query}")["links"]
    temporal = [link for link in links if link["type"] == "temporal"]
    assert {link["lagDays"] for link in temporal} == lags
    assert {link["maxLagDays"] for link in temporal} == ({bound} if lags else set())
    assert all(link["maxLagDays"] is None for link in links if link["type"] != "temporal")


def test_dates_of_years_apart_are_linked_only_where_asked(story: Any) -> None:
    def lags(query: str) -> list[int]:
        links = fusion(story, query)["links"]
        return sorted(abs(link["lagDays"]) for link in links if link["type"] == "temporal")

    assert max(lags("")) <= 120 < max(lags("maxLag=3650"))
    assert len(lags("")) < len(lags("maxLag=3650"))


TITLES = (
    "Ransomware gang steals data of Tessmark Systems in a cyberattack",
    "Hackers breach Tessmark Systems with malware, ransomware spreads",
    "Tessmark Systems opens a bakery with a new oven",
    "Tessmark Systems opens a bakery and a new oven is lit",
    "Tessmark Systems mends the flaw CVE-2024-90001 in its gate",
    "Tessmark Systems has mended the flaw CVE-2024-90001 of its gate",
)


def feed(titles: Sequence[str], *, is_dated: bool = True) -> bytes:
    items = "".join(
        f"<item><title>{title}</title><link>https://{at % 2}.example/{at}</link>"
        + ("<pubDate>Fri, 21 Mar 2025 08:00:00 GMT</pubDate>" if is_dated else "")
        + "</item>"
        for at, title in enumerate(titles)
    )
    return f"<rss version='2.0'><channel><title>Wire</title>{items}</channel></rss>".encode()


def test_its_cyber_incidents_are_those_of_cyber(house: Any) -> None:
    take_all(house, "tickers.json")
    demo.take(house, "wire.xml", feed(TITLES))
    drive.run(group_new(Work(house)))
    drive.run(fold_new(Work(house)))
    stories = house.rows("listIncidents", f"entityId={ID}")
    assert len(stories) == 3
    rows = fusion(house)["cyber"]["incidents"]
    assert len(rows) == 2
    assert not any("bakery" in row["title"] for row in rows)
    assert rows == sorted(rows, key=lambda row: (row["startedAt"], row["id"]), reverse=True)


def test_what_has_no_date_of_its_own_is_at_no_time(house: Any) -> None:
    take_all(house, "tickers.json")
    demo.take(house, "wire.xml", feed(TITLES, is_dated=False))
    drive.run(group_new(Work(house)))
    drive.run(fold_new(Work(house)))
    answer = fusion(house, query="")
    starts = {row["id"]: row["startedAt"] for row in answer["cyber"]["incidents"]}
    assert {row["refId"]: row["at"] for row in answer["timeline"]} == {
        id_: start for id_, start in starts.items() if start
    }


@pytest.mark.parametrize("name", ["startedAt", "publishedAt"])
def test_a_time_of_reading_is_on_no_timeline(name: str) -> None:
    moment = "2025-01-01T00:00:00Z"
    row = {"id": "a", "title": "t", "sources": [], "retrievedAt": moment, "firstSeenAt": moment,
           "lastSeenAt": moment, "createdAt": moment, "updatedAt": None, "startedAt": None,
           "publishedAt": None}  # fmt: skip
    market = {"markets": [], "filings": [], "financials": []}

    def entries(row: Any) -> list[Any]:
        cyber = {"cves": [], "incidents": [row]}
        return rules.timeline(
            rules.FusionRows({"id": "e"}, Interval(None, None), cyber, market, [row])
        )

    assert entries(row) == []
    assert [entry["at"] for entry in entries(row | {name: moment})] == [moment]


def test_the_window_leaves_out_what_lies_outside(story: Any) -> None:
    spring = fusion(story, "from=2025-03-01&to=2025-03-25")
    assert spring["cyber"]["cveCount"] == 1  # listed then, though published before
    assert [row["filedDate"] for row in spring["market"]["filings"]] == ["2025-03-20"]
    past = fusion(story, "from=2023-01-01&to=2024-02-28")
    assert [row["cveId"] for row in past["cyber"]["cves"]] == ["CVE-2023-90003"]
    assert [row["value"] for row in past["market"]["financials"]] == [700_000_001]
    assert past["coverage"]["news"] == "empty"
    assert fusion(story, "datetime=2025-03-01T00:00:00Z/..")["cyber"]["cveCount"] == 2


def test_without_a_window_all_is_told_up_to_today(story: Any) -> None:
    answer = fusion(story, query="")
    assert answer["window"]["start"] is None
    assert (answer["cyber"]["cveCount"], answer["cyber"]["kevCount"]) == (3, 2)
    assert len(answer["market"]["filings"]) == 4
    assert [row["at"][:10] for row in answer["timeline"][:2]] == ["2023-05-05", "2023-09-09"]


def test_its_parts_are_told_apart_from_what_was_never_read(house: Any) -> None:
    take_all(house, "tickers.json")
    answer = fusion(house)
    assert set(answer["coverage"].values()) == {"notLoaded"}
    assert answer["exposure"] is None
    assert (answer["timeline"], answer["cyber"]["maxEpss"]) == ([], None)
    take_all(house, "nvd.json")
    assert fusion(house)["exposure"] is None
    take_all(house, "kev.json")
    assert fusion(house)["coverage"]["kev"] == "empty"  # nobody tells of the former name yet
    assert fusion(house)["exposure"]["components"].keys() == {"kev", "ransomware", "critical"}


def test_it_is_of_an_entity_in_one_window(story: Any) -> None:
    refusal = story.refusal("getFusion", path={"entityId": "ent_" + "0" * 24})
    assert refusal.type is problem.NOT_FOUND
    conflict = story.refusal("getFusion", path={"entityId": ID}, query=f"{YEAR}&from=2025-01-01")
    assert conflict.type is problem.CONFLICTING_PARAMETERS
    reversal = story.refusal(
        "getFusion", path={"entityId": ID}, query="from=2025-02-01&to=2025-01-01"
    )
    assert reversal.type is problem.INVALID_PARAMETER
    tags = [story.send("getFusion", path={"entityId": ID}).headers for _ in range(2)]
    assert tags[0] == tags[1]


# -- laws --------------------------------------------------------------------------------------

counts = st.fixed_dictionaries(
    {
        "kevCount": st.integers(0, 500),
        "ransomwareCount": st.integers(0, 500),
        "maxEpss": st.none() | st.floats(0, 1),
        "bySeverity": st.fixed_dictionaries({"critical": st.integers(0, 5_000)}),
    }
)
coverages = st.fixed_dictionaries(
    {part: st.sampled_from(["loaded", "empty"]) for part in ("cve", "kev")}
    | {part: st.sampled_from(["loaded", "empty", "notLoaded"]) for part in ("epss", "filings")}
)


def filing(items: list[str] | None, description: str | None = None) -> dict[str, Any]:
    return {"form": "8-K", "items": items, "description": description}


@given(counts, coverages, st.integers(0, 50), st.sampled_from(["kevCount", "ransomwareCount"]))
def test_an_exposure_is_a_share_and_never_falls_by_more(
    cyber: Any, coverage: Any, gain: int, name: str
) -> None:
    low = rules.exposure(coverage, cyber, [])
    high = rules.exposure(coverage, cyber | {name: cyber[name] + gain}, [filing(["1.05"])])
    assert low is not None
    assert high is not None
    assert 0 <= low["value"] <= high["value"] <= 1
    parts = low["components"].values()
    assert sum(part["weight"] for part in parts) == pytest.approx(1)
    assert low["value"] == pytest.approx(
        sum(part["weight"] * part["value"] for part in parts), abs=1e-5
    )


@pytest.mark.parametrize("part", ["cve", "kev"])
def test_no_exposure_is_told_without_vulnerabilities_or_catalogue(part: str) -> None:
    coverage = dict.fromkeys(("cve", "kev", "epss", "filings"), "loaded") | {part: "notLoaded"}
    cyber = {"kevCount": 1, "ransomwareCount": 0, "maxEpss": 0.5, "bySeverity": {"critical": 1}}
    assert rules.exposure(coverage, cyber, []) is None


@pytest.mark.parametrize(
    ("items", "description", "sure"),
    [
        (["1.05"], None, [1.0]),
        (["7.01", "1.05"], "8-K", [1.0]),
        (["8.01"], "Cybersecurity update", [0.5]),
        (["7.01"], "Notice of unauthorized access", [0.5]),
        (["8.01"], "Dividend", []),
        (["8.01"], None, []),
        (["2.02"], "Ransomware", []),
        (None, "Ransomware", []),
    ],
)
def test_what_discloses_a_cyber_incident(items: Any, description: Any, sure: list[float]) -> None:
    assert [sure for _, sure in rules.disclosure(filing(items, description))] == sure


@given(st.dates(), st.dates())
def test_a_lag_turned_round_is_the_same_below_zero(first: Any, second: Any) -> None:
    lag = rules.days_between(first.isoformat(), second.isoformat())
    assert lag == -rules.days_between(second.isoformat(), first.isoformat())
    assert lag == (second - first).days


@given(
    st.lists(
        st.datetimes(datetime(2024, 1, 1), datetime(2026, 1, 1), timezones=st.just(UTC)),
        max_size=30,
    )
)
def test_a_timeline_is_sorted_and_lies_in_its_window(times: list[datetime]) -> None:
    news = [
        {"id": f"obs_{at}", "title": "t", "source": {"id": "src_1"}, "retrievedAt": None,
         "updatedAt": None, "publishedAt": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}
        for at, moment in enumerate(times)
    ]  # fmt: skip
    window = Interval(datetime(2024, 6, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC))
    cyber, market = {"cves": [], "incidents": []}, {"markets": [], "filings": [], "financials": []}
    rows = rules.FusionRows({"id": "e", "mergedIds": []}, window, cyber, market, news)
    entries = rules.timeline(rows)
    instants = [rules.instant_of(event["at"]) for event in entries]
    assert instants == sorted(instants)
    assert len(instants) == sum(window.contains(moment.replace(microsecond=0)) for moment in times)
