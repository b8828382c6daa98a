"""The list of vulnerabilities: what its filters find, and what is looked up when rows are read."""

from itertools import count
from typing import Any

import pytest
from attrs import evolve

from svc_core.contract import problem
from svc_core.intel.entities import exploitation
from svc_core.intel.entities.vulnerability import ListCves
from svc_core.intel.vulnerabilities.cve_vectors import (
    CVE_VECTORS,
    cve_vector_gaps,
    save_cve_vectors,
)
from svc_core.operation.inputs import inputs_of
from tests.core import demo
from tests.core.cves import catalogue, cvss, epss, kev, kev_entry, nvd, product, record


def ids(house: Any, query: str = "") -> list[str]:
    return [row["cveId"] for row in house.rows("listCves", f"limit=100&{query}")]


# -- the demo ----------------------------------------------------------------------------------

CONDITIONS: dict[str, tuple[str, Any]] = {
    "cveId": ("cve-2021-44228,CVE-2014-0160", lambda row: row["cveId"][-4:] in {"4228", "0160"}),
    "vendor": ("MICROSOFT,apache", lambda row: {"microsoft", "apache"} & _names_of(row, "vendor")),
    "product": ("log4j,PAN-os", lambda row: {"log4j", "pan-os"} & _names_of(row, "product")),
    "minScore": ("9.8", lambda row: row["score"] and row["score"]["baseScore"] >= 9.8),
    "cvssVersion": ("4.0", lambda row: row["score"] and row["score"]["version"] == "4.0"),
    "severity": (
        "medium,high", lambda row: row["score"] and row["score"]["severity"] in {"medium", "high"},
    ),
    "kev": ("false", lambda row: row["kev"] is None),
    "ransomware": (
        "true", lambda row: row["kev"] and row["kev"]["knownRansomwareCampaignUse"] == "Known",
    ),
    "minEpss": ("0.944", lambda row: row["epss"] and row["epss"]["score"] >= 0.944),
    "minEpssPercentile": (
        "0.9998", lambda row: row["epss"] and row["epss"]["percentile"] >= 0.9998,
    ),
    "cwe": ("cwe-20,79", lambda row: {"CWE-20", "CWE-79"} & {w["id"] for w in row["weaknesses"]}),
    "state": ("REJECTED", lambda row: row["state"] == "REJECTED"),
    "publishedFrom": (
        "2023-06-02", lambda row: row["publishedAt"] and row["publishedAt"] >= "2023-06-02",
    ),
    "publishedTo": (
        "2021-12-10", lambda row: row["publishedAt"] and row["publishedAt"] < "2021-12-11",
    ),
    "modifiedSince": ("1999-01-01", lambda row: row["modifiedAt"]),
}  # fmt: skip
"""Of each filter a value, and which rows it means."""


def _names_of(row: dict[str, Any], name: str) -> set[str]:
    return {product[name].casefold() for product in row["affected"] if product[name]}


def test_every_filter_is_asked_for() -> None:
    names = {input.name for input in inputs_of(ListCves) if input.place == "query"}
    rest = {"limit", "cursor", "sort", "updatedSince", "q", "include"}
    assert names - rest == {*CONDITIONS, "entityId"}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_filter_finds_what_it_says_and_nothing_else(demo_house: Any, name: str) -> None:
    value, holds = CONDITIONS[name]
    every = demo_house.rows("listCves", "limit=100")
    matching = {row["cveId"] for row in every if holds(row)}
    assert 0 < len(matching) < len(every)
    assert {*ids(demo_house, f"{name}={value}")} == matching


SORTS = {
    "published": lambda row: row["publishedAt"] or "",
    "modified": lambda row: row["modifiedAt"] or "",
    "score": lambda row: (row["score"] or {}).get("baseScore", -1),
    "epss": lambda row: (row["epss"] or {}).get("score", -1),
    "updatedAt": lambda row: row["updatedAt"],
    "kevDateAdded": lambda row: (row["kev"] or {}).get("dateAdded", ""),
    "": lambda row: max(
        row["publishedAt"] or "", row["modifiedAt"] or "", (row["kev"] or {}).get("dateAdded", "")
    ),
}
"""What a list is sorted by; without a word for it, by the last change in the sources."""


@pytest.mark.parametrize("sort", SORTS)
def test_rows_come_in_order_those_without_it_last(demo_house: Any, sort: str) -> None:
    query = f"sort={sort}&limit=100" if sort else "limit=100"
    values = [SORTS[sort](row) for row in demo_house.rows("listCves", query)]
    assert values == sorted(values, reverse=True)
    assert len(values) > 5


def test_makers_and_exploiters_are_looked_up(demo_house: Any) -> None:
    (row,) = demo_house.rows("listCves", "cveId=CVE-2023-23397")
    maker = row["affected"][0]["entityId"]
    assert ids(demo_house, f"entityId={maker}") == ["CVE-2023-23397"]
    assert ids(demo_house, f"entityId={row['id']}") == []
    assert [item["name"] for item in row["exploitedBy"]] == ["APT28"]
    (other,) = demo_house.rows("listCves", "cveId=CVE-2014-0160")
    assert other["exploitedBy"] == []


def test_what_is_unknown_or_revoked_exploits_nothing(house: Any) -> None:
    about = {"created": "2026-01-01T00:00:00Z", "modified": "2026-01-01T00:00:00Z"}

    def id_(type_: str, number: int) -> str:
        return f"{type_}--40000000-0000-4000-8000-{number:012d}"

    flaw = {
        "type": "vulnerability",
        "id": id_("vulnerability", 0),
        "name": "CVE-2024-0001",
        "external_references": [{"source_name": "cve", "external_id": "CVE-2024-0001"}],
    }
    tools = [
        {"type": "malware", "id": id_("malware", number), "name": name, "is_family": True} | extra
        for number, name, extra in ((1, "Reed", {}), (2, "Rush", {"revoked": True}))
    ]  # fmt: skip
    ties = [
        {"type": "relationship", "id": id_("relationship", number), "target_ref": flaw["id"],
         "relationship_type": "exploits", "source_ref": id_("malware", number)}
        for number in (1, 2, 3)
    ]  # fmt: skip
    objects = [item | about for item in (flaw, *tools, *ties)]
    demo.take(house, "stix", {"type": "bundle", "id": id_("bundle", 0), "objects": objects})
    demo.take(house, "cve", record("CVE-2024-0001"))
    (row,) = house.rows("listCves")
    assert [item["name"] for item in row["exploitedBy"]] == ["Reed"]


# -- bounds ------------------------------------------------------------------------------------

BOUNDS = [
    ("publishedFrom=2024-01-09", True),
    ("publishedFrom=2024-01-09T10:00:00Z", True),
    ("publishedFrom=2024-01-09T10:00:01Z", False),
    ("publishedFrom=2024-01-10", False),
    ("publishedTo=2024-01-09", True),
    ("publishedTo=2024-01-09T10:00:00Z", True),
    ("publishedTo=2024-01-09T09:59:59Z", False),
    ("publishedTo=2024-01-08", False),
    ("publishedFrom=2024-01-10&publishedTo=2024-01-08", False),
    ("modifiedSince=2024-02-01", True),
    ("modifiedSince=2024-02-01T09:59:59Z", True),
    ("modifiedSince=2024-02-01T10:00:00Z", False),
    ("minScore=7.05", True),
    ("minScore=7.1", True),
    ("minScore=7.11", False),
    ("minEpss=0.07&minEpssPercentile=0.29", True),
    ("minEpss=0.07001", False),
    ("minEpssPercentile=0.2901", False),
]


@pytest.mark.parametrize(("query", "is_match"), BOUNDS)
def test_the_edges_of_a_filter(house: Any, query: str, is_match: bool) -> None:
    demo.take(house, "cve", record("CVE-2024-0001", metrics=[cvss(7.1)]))
    demo.take(house, "epss", epss("2024-02-02", CVE_2024_0001=(0.07, 0.29)))
    assert bool(ids(house, query)) == is_match


@pytest.mark.parametrize(
    "query",
    ["publishedFrom=2024-02-30", "publishedTo=yesterday", "modifiedSince=2024-01-01T25:00:00Z",
     "minScore=11", "cwe=XSS", "cveId=2024-1", "sort=name"],
)  # fmt: skip
def test_what_is_no_value_is_refused(house: Any, query: str) -> None:
    refusal = house.refusal("listCves", query=query)
    assert refusal.type is problem.INVALID_PARAMETER


# -- the catalogue -----------------------------------------------------------------------------

KNOWN_ID, RANSOM, REST = ("CVE-2024-0001", "CVE-2024-0002", "CVE-2024-0003")


def test_what_no_catalogue_lists_is_told_only_once_one_was_read(house: Any) -> None:
    for number, cve in enumerate((KNOWN_ID, RANSOM, REST)):
        demo.take(house, f"nvd{number}", nvd(cve))
    assert all("kev" not in row for row in house.rows("listCves"))
    for query in ("kev=true", "kev=false", "ransomware=true", "ransomware=false"):
        assert ids(house, query) == []
    demo.take(house, "kev", kev("2024-03-01", KNOWN_ID, RANSOM, of_2="Known"))
    is_listed = {row["cveId"]: row["kev"] is not None for row in house.rows("listCves")}
    assert is_listed == {KNOWN_ID: True, RANSOM: True, REST: False}
    assert {*ids(house, "kev=true")} == {KNOWN_ID, RANSOM}
    assert ids(house, "kev=false") == [REST]
    assert ids(house, "ransomware=true") == [RANSOM]
    assert {*ids(house, "ransomware=false")} == {KNOWN_ID, REST}
    assert ids(house, "kev=true&ransomware=false") == [KNOWN_ID]
    assert ids(house, "kev=false&ransomware=true") == []
    demo.take(house, "kev", kev("2024-03-08"))
    assert all(row["kev"] is None for row in house.rows("listCves"))
    assert len(ids(house, "kev=false")) == 3


# -- makers ------------------------------------------------------------------------------------

TICKERS = {
    "0": {"cik_str": 1730168, "ticker": "AVGO", "title": "Broadcom Inc."},
    "1": {"cik_str": 1124610, "ticker": "VMW", "title": "VMWARE, INC."},
}


def test_a_maker_is_who_owned_it_when_the_vulnerability_was_published(house: Any) -> None:
    product_ = product("VMware", "vCenter")
    for number, day in enumerate(("2020-01-01T00:00:00Z", "2024-06-01T00:00:00Z")):
        record_ = record(f"CVE-2020-000{number}", affected=[product_, product("n/a", "n/a")])
        record_["cveMetadata"]["datePublished"] = day
        demo.take(house, f"cve{number}", record_)
    assert all(row["affected"][0]["entityId"] is None for row in house.rows("listCves"))
    demo.take(house, "tickers", TICKERS)
    owners = {
        row["listings"][0]["ticker"]: row["id"]
        for row in house.rows("listEntities", "type=company")
    }
    makers = {row["cveId"]: row["affected"][0]["entityId"] for row in house.rows("listCves")}
    assert makers == {"CVE-2020-0000": owners["VMW"], "CVE-2020-0001": owners["AVGO"]}
    assert ids(house, f"entityId={owners['VMW']}") == ["CVE-2020-0000"]
    assert ids(house, f"entityId={owners['AVGO']}") == ["CVE-2020-0001"]


# -- as entities have it, and walks ------------------------------------------------------------


def test_a_row_is_nested_whole(demo_house: Any) -> None:
    (row,) = demo_house.rows("listCves", "cveId=CVE-2021-44228")
    entity_row = exploitation.nested_row(row)
    facet = entity_row.pop("cve")
    assert entity_row | facet == row
    assert {"id", "name", "type", "designators", "sources", "revision"} <= entity_row.keys()
    assert {"cveId", "score", "epss", "kev", "exploitedBy"} <= facet.keys()


@pytest.mark.parametrize("query", ["", "sort=score&", "kev=false&", "vendor=harbour&sort=epss&"])
def test_a_walk_meets_every_row_once_while_others_come_in(house: Any, query: str) -> None:
    def add_four(first: int) -> None:
        for number in range(first, first + 4):
            record_ = record(
                f"CVE-2024-{number:04}",
                affected=[product("Harbour", f"Crane {number}")],
                metrics=[cvss(number % 3)],
            )
            demo.take(house, f"cve{number}", record_)
        house.clock.advance(60)

    demo.take(house, "kev", kev("2024-01-01", "CVE-1999-0001"))
    add_four(1000)
    add_four(1004)
    before = {*ids(house, query)} - {"CVE-1999-0001"}
    numbers = count(2000, 4)
    rows = house.every("listCves", f"{query}limit=3", meanwhile=lambda: add_four(next(numbers)))
    walk_ids = [row["cveId"] for row in rows]
    assert len(walk_ids) == len({*walk_ids})
    assert before <= {*walk_ids}


# -- vectors -----------------------------------------------------------------------------------


def test_a_vector_is_made_anew_for_another_text_or_model_and_goes_with_its_row(house: Any) -> None:
    def embed(model: str = "meaning") -> list[str]:
        gaps, end = house.run(lambda ctx: cve_vector_gaps(ctx, model))
        rows = [evolve(vector, data="AQ==") for vector, _ in gaps]
        house.run(lambda ctx: save_cve_vectors(ctx, rows))
        assert end is None
        return [text for _, text in gaps]

    def vectors() -> list[tuple[str, str]]:
        page = house.run(lambda ctx: ctx.tx.documents.scan(CVE_VECTORS, limit=9))
        rows = [CVE_VECTORS.decode(row.raw) for row in page.rows]
        return [(row.id, row.model) for row in rows if row.data]

    demo.take(house, "kev", kev("2024-02-02", "CVE-2024-0001", "CVE-2024-0002"))
    first, second = (row["id"] for row in house.rows("listCves"))
    assert len(embed()) == 2
    demo.take(house, "epss", epss("2024-02-02", CVE_2024_0001=(0.5, 0.9)))
    assert embed() == []  # a score is no text
    changed = {"shortDescription": "It walks.", "cwes": []}
    entries = [kev_entry("CVE-2024-0001"), kev_entry("CVE-2024-0002", **changed)]
    demo.take(house, "kev", catalogue("2024-02-03", *entries))
    (text,) = embed()
    assert "It walks." in text
    assert len(embed("another")) == 2
    assert sorted(vectors()) == sorted([(first, "another"), (second, "another")])

    ((lacking, _), *_), _ = house.run(lambda ctx: cve_vector_gaps(ctx, "meaning"))
    gone = evolve(lacking, id="ent_" + "0" * 24, data="AQ==")
    house.run(lambda ctx: save_cve_vectors(ctx, [gone]))
    assert len(vectors()) == 2
    demo.take(house, "kev", kev("2024-02-04", "CVE-2024-0001"))
    ids_left = {row["id"] for row in house.rows("listCves")}
    assert {id_ for id_, _ in vectors()} == ids_left
