"""Documents about vulnerabilities: KEV, NVD, CVE, EPSS and CSAF."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from svc_core.formats.model import DocumentRefused, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import Document, read_document, recognise_format

V31 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"


def parse(document: object) -> Document:
    text = document if isinstance(document, str) else json.dumps(document)
    body = Body(text.encode())
    return read_document(body, recognise_format(body), Origin())


def only(document: object) -> Record:
    actual = parse(document)
    assert not actual.rejections
    (record,) = actual.records
    return record


def at(value: Any, path: str) -> Any:
    """The member of a JSON value at a path such as `scores/0/provider`; `#` counts a list."""
    for name in path.split("/"):
        value = len(value) if name == "#" else value[int(name) if name.isdecimal() else name]
    return value


# -- real documents ----------------------------------------------------------------------------

FILES = {
    "cisa_kev": {"kev_2025-03-13_a.json": 1302, "kev_2025-03-18_b.json": 1304},
    "nvd2": {"search_full_page.json": 47, "CVE-2021-26855.json": 1, "CVE-2017-7542.json": 1},
    "epss_csv": {"epss_2025-12-26_sample.csv": 27, "epss_kev_2026-05-13.derived.csv": 1541},
    "csaf": {"icsa-24-284-21.json": 5, "icsa-24-289-02.json": 2, "icsa-24-296-01.json": 1},
    "cve5": {"CVE-2024-3400.json": 1, "CVE-2019-25161.json": 1, "CVE-1999-0001.json": 1},
}


@pytest.mark.parametrize("folder", FILES)
def test_real_documents_bring_every_vulnerability(
    real_documents: Callable[[str], list[Path]], folder: str
) -> None:
    documents = {path.name: parse(path.read_text("utf-8")) for path in real_documents(folder)}
    for name, count in FILES[folder].items():
        assert len(documents[name].records) == count
    assert all(record.resource == "cve" for row in documents.values() for record in row.records)
    assert all(not path.rejections for path in documents.values())


VALUES: list[tuple[str, str, dict[str, object]]] = [
    (
        "cisa_kev/kev_2025-03-13_a.json", "CVE-2021-44228",
        {"kev/dateAdded": "2021-12-10", "kev/dueDate": "2021-12-24", "weaknesses/#": 3,
         "kev/knownRansomwareCampaignUse": "Known", "kev/vendorProject": "Apache"},
    ),
    (
        "nvd2/CVE-2021-26855.json", "CVE-2021-26855",
        {"scores/#": 2, "scores/0/version": "3.1", "scores/0/baseScore": 9.8,
         "scores/1/version": "2.0", "scores/1/severity": "high", "scores/1/provider": "nvd",
         "modifiedAt": "2022-07-12T17:42:04.277000Z", "weaknesses/0/id": "CWE-918",
         "affected/#": 1, "affected/0/product": "exchange_server", "affected/0/cpes/#": 24},
    ),
    (
        "nvd2/search_full_page.json", "CVE-2021-25992",
        {"scores/#": 2, "scores/0/provider": "vulnerabilitylab@mend.io",
         "affected/0/vendor": "if-me", "affected/0/versions/0/version": "1.0.0",
         "affected/0/versions/0/lessThanOrEqual": "7.33.2"},
    ),
    (
        "nvd2/search_full_page.json", "CVE-2021-45901",
        {"affected/#": 1, "affected/0/versions/#": 7,
         "affected/0/versions/3/version": "jakarta p3a"},
    ),
    (
        "nvd2/search_full_page.json", "CVE-2022-24916",
        {"affected/0/product": "eth-optimism/l2geth", "affected/0/versions/0/version": None},
    ),
    (
        "cve5/CVE-2024-3400.json", "CVE-2024-3400",
        {"state": "PUBLISHED", "assigner/shortName": "palo_alto", "scores/#": 1,
         "scores/0/provider": "palo_alto", "scores/0/role": "primary", "scores/0/baseScore": 10,
         "ssvc/exploitation": "active", "ssvc/provider": "CISA-ADP", "weaknesses/1/id": "CWE-20",
         "affected/0/versions/4/lessThan": "10.2.9-h1", "affected/1/product": "Cloud NGFW"},
    ),
    (
        "cve5/CVE-1999-0001.json", "CVE-1999-0001",
        {"publishedAt": "2000-02-04T05:00:00Z", "affected/0/vendor": None, "scores": None,
         "affected/0/versions/0/version": None, "weaknesses": None, "references/#": 2},
    ),
    (
        "cve5/CVE-2019-25161.json", "CVE-2019-25161",
        {"state": "REJECTED", "affected": None, "scores": None},
    ),
    (
        "epss_csv/epss_2025-12-26_sample.csv", "CVE-2025-9970",
        {"epss/score": 7e-05, "epss/percentile": 0.00428, "epss/modelVersion": "v2025.03.14",
         "epss/scoreDate": "2025-12-26T12:55:00Z"},
    ),
    (
        "csaf/icsa-24-296-01.json", "CVE-2024-7587",
        {"affected/#": 2, "affected/0/vendor": "ICONICS", "scores/0/provider": "CISA",
         "affected/0/versions/0/lessThanOrEqual": "10.97.3", "scores/0/role": "secondary",
         "affected/1/versions/0/version": "vers:all/*", "weaknesses/0/id": "CWE-276",
         "weaknesses/0/name": "Incorrect Default Permissions"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "key", "members"), VALUES, ids=lambda case: str(case)[:40])
def test_a_real_vulnerability_says_what_its_document_says(
    real_documents: Callable[[str], list[Path]], name: str, key: str, members: dict[str, object]
) -> None:
    folder, _, file_name = name.partition("/")
    (path,) = (path for path in real_documents(folder) if path.name == file_name)
    (record,) = (record for record in parse(path.read_text("utf-8")).records if record.key == key)
    assert {path: at(record.members, path) for path in members} == members
    assert record.members.get("cveId") == key or folder == "epss_csv"


# -- traps -------------------------------------------------------------------------------------


def kev(*entries: object, **members: object) -> dict[str, object]:
    whole = {"catalogVersion": "1", "count": len(entries), "vulnerabilities": list(entries)}
    return whole | members


def nvd(**members: Any) -> dict[str, object]:
    cve = {"id": "CVE-2024-0002", "published": "2024-01-02T03:04:05.100"} | members
    return {"format": "NVD_CVE", "vulnerabilities": [{"cve": cve}]}


def cpes(*matches: dict[str, object]) -> list[object]:
    return [{"nodes": [{"cpeMatch": [{"vulnerable": True, **item} for item in matches]}]}]


def cve(
    cna: object = None, adp: object = (), state: str = "PUBLISHED", **about: object
) -> dict[str, object]:
    content = {"cveId": "CVE-2024-0002", "state": state} | about
    return {"cveMetadata": content, "containers": {"cna": cna or {}, "adp": adp}}


def by(name: str, **members: object) -> dict[str, object]:
    return {"providerMetadata": {"shortName": name}, **members}


def csaf(tree: object, content: Mapping[str, object], **members: object) -> dict[str, object]:
    document = {"csaf_version": "2.0", "tracking": {"id": "A"}, "publisher": {"name": "Pier"}}
    item = {"cve": "CVE-2024-0002", **content}
    return {"document": document | members, "product_tree": tree, "vulnerabilities": [item]}


CPE = "cpe:2.3:a:pier:crane:{}:*:*:*:*:*:*"
LINKS = "Read https://a.example/x; https://b.example/y ; none"
SSVC = {"type": "ssvc", "content": {"timestamp": "2024-01-02T00:00:00Z", "options": [
    {"Exploitation": "PoC"}, {"Automatable": "yes"}, {"Technical Impact": "total"}]}}  # fmt: skip
TREE = {
    "full_product_names": [{"product_id": "F", "name": "Winch"}],
    "branches": [{"category": "vendor", "name": "Pier", "branches": [
        {"category": "product_name", "name": "Crane", "branches": [
            {"category": "product_version_range", "name": "<V2.0", "product": {"product_id": "P1"}},
            {"category": "product_version", "name": "2.0", "product": {"product_id": "P2",
             "product_identification_helper": {"cpe": CPE.format("2.0:*")}}},
        ]}]}],
    "relationships": [{"product_reference": "P2", "relates_to_product_reference": "F",
                       "full_product_name": {"product_id": "R", "name": "Crane on Winch"}}],
}  # fmt: skip

TRAPS: list[tuple[str, object, dict[str, object]]] = [
    (
        "links stand between words, and without weaknesses nothing is said of them",
        kev({"cveID": " cve-2024-0002", "dateAdded": "2024-01-02", "notes": LINKS}),
        {"cveId": "CVE-2024-0002", "references/#": 2, "references/1/url": "https://b.example/y",
         "weaknesses": None, "kev/dueDate": None, "kev/name": None},
    ),
    (
        "a time without a zone is UTC, and what NVD repeats of KEV is left to KEV",
        nvd(cisaExploitAdd="2024-01-03", vulnStatus="Awaiting Analysis"),
        {"publishedAt": "2024-01-02T03:04:05.100000Z", "state": "PUBLISHED", "scores": None,
         "affected": None, "weaknesses": None, "references": None},
    ),
    ("what is published as empty is empty", nvd(weaknesses=[], references=[], metrics={}),
     {"weaknesses": None, "scores": None, "references": None}),
    ("a rejected id says so", nvd(vulnStatus="Rejected"), {"state": "REJECTED"}),
    (
        "the words are those in English",
        nvd(descriptions=[{"lang": "es", "value": "uno"}, {"lang": "en-US", "value": "one"}]),
        {"description": "one"},
    ),
    (
        "newer scores come first, the provider's number stays, and severity has its scale",
        nvd(metrics={
            "cvssMetricV2": [{"source": "nvd@nist.gov", "cvssData": {
                "vectorString": "AV:N", "baseScore": 9.3}}],
            "cvssMetricV31": [
                {"source": "a@b.c", "type": "Secondary", "cvssData": {
                    "version": 3.1, "vectorString": V31, "baseScore": "9.1"}},
                {"source": "nvd@nist.gov", "type": "Primary", "cvssData": {"version": "9.9"}}],
            "cvssMetricV40": [{"source": "nvd@nist.gov", "type": "Primary", "cvssData": {
                "version": "4.0", "baseScore": 0, "baseSeverity": "NONE"}}],
            "ssvcV203": [{"source": "c@d.e", "ssvcData": SSVC["content"]}],
        }),
        {"scores/#": 3, "scores/0/version": "4.0", "scores/0/severity": "info",
         "scores/1/provider": "a@b.c", "scores/1/role": "secondary", "scores/1/baseScore": 9.1,
         "scores/1/severity": "critical", "scores/2/severity": "high",
         "ssvc/exploitation": "poc", "ssvc/provider": "c@d.e"},
    ),
    (
        "a score beyond the scale is unknown, its vector is kept",
        nvd(metrics={"cvssMetricV31": [{"cvssData": {"vectorString": V31, "baseScore": 11}},
                                       {"cvssData": {"vectorString": V31, "baseScore": "high"}}]}),
        {"scores/#": 2, "scores/0/baseScore": None, "scores/0/severity": None,
         "scores/1/baseScore": None},
    ),
    (
        "weaknesses without an id are none, each is told once",
        nvd(weaknesses=[{"description": [{"value": item}]}
                        for item in ("NVD-CWE-noinfo", "CWE-79", "CWE-79")]),
        {"weaknesses": [{"id": "CWE-79", "name": None}]},
    ),
    (
        "ranges, and a first version that is not in one",
        nvd(configurations=cpes(
            {"criteria": CPE.format("*:*"), "versionStartExcluding": "1.0",
             "versionEndExcluding": "1.5"},
            {"criteria": CPE.format("2.0:rc1")},
            {"criteria": CPE.format("*:*"), "versionEndIncluding": "0.9"},
            {"criteria": CPE.format("9.0:*"), "vulnerable": False})),
        {"affected/#": 1, "affected/0/cpes/#": 2, "affected/0/versions/#": 4,
         "affected/0/versions/0/version": "1.0", "affected/0/versions/0/status": "unaffected",
         "affected/0/versions/1/lessThan": "1.5", "affected/0/versions/2/version": "2.0 rc1",
         "affected/0/versions/3/version": None, "affected/0/versions/3/lessThanOrEqual": "0.9"},
    ),
    (
        "a colon may be part of a name, and what something only runs with is not affected",
        nvd(configurations=[
            *cpes({"criteria": r"cpe:2.3:a:pier:quay\:crane:1\.0:*:*:*:*:*:*:*"}),
            {"nodes": [{"negate": True, "cpeMatch": [{"vulnerable": True}]}]},
        ]),
        {"affected/#": 1, "affected/0/product": "quay:crane",
         "affected/0/versions/0/version": "1.0"},
    ),
    (
        "the assigner gives no score, another container does",
        cve(by("apple"), [by("CVE"), by("CISA-ADP", metrics=[
            {"cvssV3_1": {"version": "3.1", "vectorString": V31, "baseScore": 9.8}},
            {"other": SSVC}, {"other": {"type": "kev", "content": {"dateAdded": "2024-01-02"}}}])]),
        {"scores/#": 1, "scores/0/provider": "CISA-ADP", "scores/0/role": "secondary",
         "scores/0/severity": "critical", "ssvc/at": "2024-01-02T00:00:00Z"},
    ),
    (
        "n/a is unknown, and what two containers say is joined",
        cve(by("a", affected=[{"vendor": "n/a", "packageName": "crane", "versions": [
                {"version": "n/a", "status": "affected"}]}],
               problemTypes=[{"descriptions": [{"description": "n/a"}]}],
               references=[{"url": "https://a.example/", "tags": ["patch"]}, {"url": "ftp://b"}]),
            [by("b", affected=[{"vendor": "pier", "cpes": ["x", "x"], "defaultStatus": "unknown"}],
                problemTypes=[{"descriptions": [
                    {"cweId": "CWE-77", "description": "CWE-77 Command ('Injection')"}]}],
                references=[{"url": "https://a.example/", "tags": ["x_transferred"]}])]),
        {"affected/#": 2, "affected/0/vendor": None, "affected/0/product": "crane",
         "affected/0/versions/0/version": None, "affected/1/cpes": ["x"],
         "affected/1/defaultStatus": "unknown",
         "weaknesses": [{"id": "CWE-77", "name": "Command ('Injection')"}],
         "references": [{"url": "https://a.example/", "tags": ["patch", "x_transferred"]}]},
    ),
    (
        "a rejected record has reasons",
        cve({"rejectedReasons": [{"lang": "en", "value": "Twice."}]}, state="REJECTED"),
        {"state": "REJECTED", "description": "Twice.", "affected": None, "scores": None},
    ),
    ("one record in an object", {"cves": [cve()]}, {"state": "PUBLISHED"}),
    ("one record in a list", [cve(adp=None)], {"state": "PUBLISHED"}),
    (
        "the older zone, and a score that is tiny",
        "#model_version:v2022.01.01,score_date:2022-02-04T00:00:00+0000\n"
        "cve,epss,percentile\nCVE-2024-0002,7e-05,0.1\n",
        {"epss": {"score": 7e-05, "percentile": 0.1, "modelVersion": "v2022.01.01",
                  "scoreDate": "2022-02-04T00:00:00Z"}},
    ),
    (
        "no line about the model, other columns",
        "\ufeffcve,epss,note,percentile\r\nCVE-2024-0002,1,x,1.0",
        {"epss/score": 1.0, "epss/modelVersion": None, "epss/scoreDate": None},
    ),
    (
        "a page of the API",
        {"status": "OK", "data": [{"cve": "CVE-2024-0002", "epss": "0.5", "percentile": "0.9",
                                   "date": "2024-01-02"}]},
        {"epss/score": 0.5, "epss/scoreDate": "2024-01-02T00:00:00Z"},
    ),
    (
        "a range begins with a letter, a product may be of others",
        csaf(TREE, {"title": "CVE-2024-0002", "notes": [{"category": "summary", "text": "Falls."}],
                    "product_status": {"known_affected": ["P1", "F", "lost"], "fixed": ["P2"],
                                       "under_investigation": ["R"]}}),
        {"title": None, "description": "Falls.", "affected/#": 2, "affected/0/vendor": "Pier",
         "affected/0/product": "Crane", "affected/0/versions/0/lessThan": "V2.0",
         "affected/0/versions/1/status": "unaffected", "affected/0/cpes/#": 1,
         "affected/0/versions/2/status": "unknown", "affected/1/product": "Winch",
         "affected/1/versions": [], "scores": None, "weaknesses": None},
    ),
    (
        "CSAF 2.1 has other places for scores and weaknesses",
        csaf({}, {"cwes": [{"id": "CWE-79", "name": "XSS"}], "metrics": [
            {"content": {"cvss_v3": {"vectorString": V31, "baseScore": 9.8}}},
            {"content": {"cvss_v3": {"vectorString": V31, "baseScore": 9.8}, "cvss_v4": {
                "version": "4.0", "baseScore": 9.3}}}]},
             publisher={"category": "vendor", "name": "Pier"}),
        {"scores/#": 2, "scores/1/version": "4.0", "scores/0/role": "primary",
         "weaknesses": [{"id": "CWE-79", "name": "XSS"}], "affected": None},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("document", "members"), [trap[1:] for trap in TRAPS], ids=[trap[0] for trap in TRAPS]
)
def test_a_trap_is_seen(document: object, members: dict[str, object]) -> None:
    record = only(document)
    assert record.key == "CVE-2024-0002"
    assert {path: at(record.members, path) for path in members} == members
    assert "kev" not in record.members or parse(document).format.id == "kev"


def test_each_provider_stamps_what_it_says() -> None:
    changed_at = datetime(2024, 5, 6, tzinfo=UTC)
    page = "https://nvd.nist.gov/vuln/detail/CVE-2024-0002"
    members = only(nvd(lastModified="2024-05-06T00:00:00.000"))
    assert (members.stamp, members.url, members.record_id) == (changed_at, page, "CVE-2024-0002")
    assert only(cve(dateUpdated="2024-05-06T00:00:00")).stamp == changed_at
    record = only(
        "#model_version:v1,score_date:2024-05-06T00:00:00Z\ncve,epss,percentile\n"
        "CVE-2024-0002,0.1,0.2"
    )
    assert record.stamp == changed_at
    links = [{"category": "self", "url": f"https://a.example/{name}"} for name in ("json", "page")]
    tracking = {"id": "A-1", "current_release_date": "2024-05-06T00:00:00.000Z"}
    advisory = only(csaf(None, {}, tracking=tracking, references=links))
    assert (advisory.stamp, advisory.url) == (changed_at, "https://a.example/page")


# -- what cannot be used -----------------------------------------------------------------------

REJECTIONS: list[tuple[object, str]] = [
    (kev({"cveID": "2024-1", "dateAdded": "2024-01-02"}), "has no CVE id"),
    (kev({"cveID": "CVE-2024-0002"}), "lacks 'dateAdded'"),
    (kev({"cveID": "CVE-2024-0002", "dateAdded": "2024-02-31"}), "has a date that is none"),
    (nvd(id=None), "has no CVE id"),
    (nvd(metrics=[1]), "is not of the form of its kind (AttributeError)"),
    (cve(state="RESERVED"), "is not published"),
    (cve(cveId="CVE-24-1"), "has no CVE id"),
    ("cve,epss,percentile\nCVE-2024-0002,1.5,0", "has a score that is no probability"),
    ("cve,epss,percentile\nCVE-2024-0002,nan,0", "has a score that is no probability"),
    ("cve,epss,percentile\nCVE-2024-0002,,0", "lacks a score"),
    ("cve,epss,percentile\nCVE-2024-0002,0.1", "is not of the form of its kind (IndexError)"),
    (csaf({}, {"cve": None}), "has no CVE id"),
]


@pytest.mark.parametrize(("document", "reason"), REJECTIONS)
def test_what_cannot_be_used_says_why(document: object, reason: str) -> None:
    actual = parse(document)
    assert not actual.records
    assert [(rejection.reason, rejection.count) for rejection in actual.rejections] == [(reason, 1)]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        (kev(count=1), "wrongCount"),
        (kev({"cveID": "CVE-2024-0002", "dateAdded": "2024-01-02"}, count=2), "wrongCount"),
        (kev(vulnerabilities=None), "malformed"),
        ({"document": {"csaf_version": "2.0"}}, "malformed"),
        ("#model_version:v1\n", "malformed"),
        ("cve,epss\nCVE-2024-0002,0.1", "malformed"),
    ],
)
def test_a_document_that_is_not_whole_is_refused(document: object, code: str) -> None:
    with pytest.raises(DocumentRefused) as refusal:
        parse(document)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("words", "first", "before", "to"),
    [
        ("vers:all/*", "vers:all/*", None, None),
        ("vers:all/<V7.0.3", None, "V7.0.3", None),
        ("vers:all/>=V5.4|<V5.5 SP1", "V5.4", "V5.5 SP1", None),
        (">= 12.0 | <= 13.5", "12.0", None, "13.5"),
        ("All firmware versions  < V5.2 SP3", None, "V5.2 SP3", None),
        (" <1.6.2.0", None, "1.6.2.0", None),
        ("8.001|8.002", "8.001|8.002", None, None),
        (">=G4", ">=G4", None, None),
    ],
)
def test_ranges_in_words_of_publishers(
    words: str, first: str | None, before: str | None, to: str | None
) -> None:
    leaf = {"category": "product_version_range", "name": words, "product": {"product_id": "P"}}
    document = csaf({"branches": [leaf]}, {"product_status": {"known_affected": ["P"]}})
    (version,) = at(only(document).members, "affected/0/versions")
    assert (version["version"], version["lessThan"], version["lessThanOrEqual"]) == (
        first,
        before,
        to,
    )


def test_a_deep_tree_of_products_is_walked_to_its_end() -> None:
    tree: Any = {"product": {"product_id": "P"}, "name": "leaf"}
    for _ in range(28):
        tree = {"category": "product_family", "name": "f", "branches": [tree]}
    content = {"product_status": {"known_affected": ["P"]}}
    document = csaf({"branches": [tree]}, content)
    assert only(document).members["affected"]
