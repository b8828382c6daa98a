"""A CVE as the fold of what the record, the NVD, CISA, EPSS and advisories say of it."""

import re
from collections import Counter
from itertools import permutations
from typing import Any

import pytest

from svc_core import wire
from svc_core.base.unset import UNSET
from svc_core.intel.entities.exploitation import full_cve_rows
from svc_core.intel.entities.vulnerability import CVES, Cve
from svc_core.intel.folding.contributions import CONTRIBUTIONS, Contribution
from svc_core.intel.intake.kinds import KINDS
from svc_core.intel.vulnerabilities.rules import cve_row, is_quiet, preferred_score
from tests.core.cves import cvss, epss, kev, metric, nvd, product, record
from tests.core.demo import take

CVE = "CVE-2024-0001"


def rows(house: Any) -> dict[str, dict[str, Any]]:
    """The rows as they are stored, by their CVE ids."""
    page = house.run(lambda ctx: ctx.tx.documents.scan(CVES, limit=10_000))
    cves = [CVES.decode(row.raw) for row in page.rows]
    return {cve.cve_id: cve for cve in cves}


def only(house: Any) -> Any:
    (row,) = rows(house).values()
    return row


def changes(house: Any) -> list[tuple[str, tuple[str, ...]]]:
    """The changes of CVEs: what became of which members."""
    changes_ = [change for change in house.change_records() if change.resource_type == "entity"]
    return [(change.change_type, tuple(change.changed_fields or ())) for change in changes_]


# -- the score to go by ------------------------------------------------------------------------


def score(provider: str, base: float | None, version: str = "3.1", role: str = "primary") -> Any:
    return {"provider": provider, "baseScore": base, "version": version, "role": role}


CHOICES: dict[str, tuple[list[Any], Any]] = {
    "nothing": ([], None),
    "no number": ([score("nvd", None)], None),
    "the assigner's before the NVD's": ([score("nvd", 9), score("harbour", 5)], 5),
    "the assigner's though the NVD repeats it": (
        [score("nvd", 9), score("harbour", 5, role="secondary")], 5,
    ),
    "the NVD's before another's": ([score("adp", 5, role="secondary"), score("nvd", 9)], 9),
    "what the NVD does not call its own": (
        [score("nvd", 9, role="secondary"), score("adp", 5, "4.0", "secondary")], 5,
    ),
    "the newest version of one provider": ([score("nvd", 7, "2.0"), score("nvd", 9, "4.0")], 9),
    "an older version of who goes before": ([score("nvd", 9, "4.0"), score("harbour", 5)], 5),
    "the first of equal ones": ([score("harbour", 5), score("harbour", 9)], 5),
}  # fmt: skip


@pytest.mark.parametrize(("scores", "base"), CHOICES.values(), ids=CHOICES)
def test_the_score_to_go_by(scores: list[Any], base: float | None) -> None:
    score = preferred_score(scores, frozenset({"harbour"}))
    assert (score and score["baseScore"]) == base


def test_a_number_that_its_vector_does_not_come_to_is_kept_beside_what_it_does(house: Any) -> None:
    take(house, "record", record(CVE, metrics=[cvss(8.5), cvss(9.8, "3.0"), cvss(8.5, "4.0")]))
    scores = [
        (score.version, score.base_score, score.computed_base_score) for score in only(house).scores
    ]
    assert scores == [("3.1", 8.5, 9.8), ("3.0", 9.8, UNSET), ("4.0", 8.5, UNSET)]


# -- one row from all --------------------------------------------------------------------------

APACHE = product("Harbour Works", "Crane", "1.0", cpes=["cpe:2.3:a:harbour_works:crane:1.0"])
MATCH = {"vulnerable": True, "criteria": "cpe:2.3:a:harbour_works:crane:2.0:*:*:*:*:*:*:*"}
DOCUMENTS: dict[str, Any] = {
    "record": record(
        CVE,
        title="It swings",
        descriptions=[{"lang": "en-US", "value": "As its assigner tells it."}],
        metrics=[cvss(5.0)],
        adp=[cvss(6.0)],
        affected=[APACHE, product("n/a", "n/a")],
        problemTypes=[{"descriptions": [{"cweId": "CWE-79", "description": "CWE-79 XSS"}]}],
        references=[{"url": "https://harbour.example/1", "tags": ["vendor-advisory"]}],
    ),
    "nvd": nvd(
        CVE,
        metrics={"cvssMetricV31": [metric(9.0), metric(5.5, "cna@harbour.example", "Secondary")]},
        weaknesses=[{"description": [{"lang": "en", "value": "CWE-79"}]}],
        configurations=[{"nodes": [{"cpeMatch": [MATCH]}]}],
        references=[{"url": "https://harbour.example/1", "tags": ["Patch"]}],
    ),
    "kev": kev("2024-03-01", CVE, of_1="Known"),
    "epss": epss("2024-03-02", CVE_2024_0001=(0.5, 0.9)),
}


@pytest.mark.parametrize("order", list(permutations(DOCUMENTS)))
def test_whoever_is_read_first_the_row_is_the_same(house: Any, order: tuple[str, ...]) -> None:
    for name in order:
        take(house, name, DOCUMENTS[name])
    row = only(house)
    assert (row.name, row.title, row.state) == (CVE, "It swings", "PUBLISHED")
    assert row.description == "As its assigner tells it."
    assert (row.published_at.day, row.modified_at.month) == (9, 2)
    assert [(score.provider, score.base_score, score.role) for score in row.scores] == [
        ("harbour", 5.0, "primary"),
        ("CISA-ADP", 6.0, "secondary"),
        ("nvd", 9.0, "primary"),
        ("cna@harbour.example", 5.5, "secondary"),
    ]
    assert row.score.base_score == 5.0
    assert [(weakness.id, weakness.name) for weakness in row.weaknesses] == [
        ("CWE-79", "XSS"),
        ("CWE-20", None),
    ]
    assert [(item.vendor, item.product, len(item.cpes)) for item in row.affected] == [
        ("Harbour Works", "Crane", 2),
        (None, None, 0),
    ]
    assert [version.version for version in row.affected[0].versions] == ["1.0", "2.0"]
    assert [(reference.url, reference.tags) for reference in row.references] == [
        ("https://harbour.example/1", ("vendor-advisory", "Patch"))
    ]
    assert row.kev.known_ransomware_campaign_use == "Known"
    assert (row.epss.score, row.epss.percentile) == (0.5, 0.9)
    assert {source.provider for source in row.sources} == {"cve", "nvd", "cisa-kev", "first-epss"}


OTHERS = {
    "record": (record(CVE, title="It swings", affected=[product("Harbour Works", "Crane 2")]),
               "It swings", "Crane 2"),
    "nvd": (nvd(CVE), "Harbour Crane CVE-2024-0001", "Crane"),
}  # fmt: skip


@pytest.mark.parametrize("names", [("kev",), ("kev", "nvd"), ("nvd", "kev"), ("record", "kev")])
def test_what_only_the_catalogue_tells_is_in_the_row(house: Any, names: tuple[str, ...]) -> None:
    """Its words fill what no other source says, and stand beside nobody's."""
    _, title, name = OTHERS.get(names[0], OTHERS["nvd"])
    for name_ in names:
        take(house, name_, kev("2024-03-01", CVE) if name_ == "kev" else OTHERS[name_][0])
    row = only(house)
    assert row.title == title
    assert row.description == ("As the NVD tells it." if "nvd" in names else "It swings.")
    assert [item.product for item in row.affected] == [name]
    assert row.affected[0].vendor == ("Harbour Works" if "record" in names else "Harbour")


def test_an_instant_that_an_earlier_release_stored_is_the_day_of_a_score(house: Any) -> None:
    take(house, "nvd", nvd(CVE))
    for day in (1, 2):
        take(house, "epss", epss(f"2024-03-0{day}", CVE_2024_0001=(0.5, 0.9)))
    row = only(house)
    days = (str(row.epss.score_date), str(row.epss.previous.score_date))
    assert days == ("2024-03-02", "2024-03-01")

    def as_before(body: bytes) -> bytes:
        return re.sub(rb'"scoreDate":"([0-9-]+)"', rb'"scoreDate":"\1T12:00:00Z"', body)

    raw = as_before(wire.to_bytes(row))
    assert b"T12:00:00Z" in raw
    assert wire.from_bytes(Cve, raw) == row
    (shown,) = house.run(lambda ctx: full_cve_rows(ctx, [raw]))
    assert (shown["epss"]["scoreDate"], shown["epss"]["previous"]["scoreDate"]) == days
    claims = [
        wire.from_bytes(Contribution, as_before(wire.to_bytes(claim)))
        for claim in house.stored(CONTRIBUTIONS)
    ]
    folded = cve_row(KINDS["cve"].row_members(row.id, claims) or {}, claims) or {}
    assert (folded["epss"]["scoreDate"], folded["epss"]["previous"]["scoreDate"]) == days


def test_what_is_rejected_keeps_its_row(house: Any) -> None:
    take(house, "record", record(CVE, metrics=[cvss(5.0)]))
    description = [{"lang": "en", "value": "Never was."}]
    take(house, "record", record(CVE, "2024-04-01", "REJECTED", rejectedReasons=description))
    row = only(house)
    assert (row.state, row.description, row.scores, row.score) == (
        "REJECTED", "Never was.", (), None,
    )  # fmt: skip


# -- the catalogue -----------------------------------------------------------------------------


def test_two_releases_give_the_additions_the_updates_and_what_is_cleared(house: Any) -> None:
    ids = [f"CVE-2024-000{number}" for number in range(1, 5)]
    for number in (2, 3):
        take(house, f"nvd{number}", nvd(ids[number - 1]))
    take(house, "kev", kev("2024-03-01", *ids[:3]))
    assert {cve: row.entry is not None for cve, row in rows(house).items()} == dict.fromkeys(
        ids[:3], True
    )
    before = len(changes(house))
    # The first leaves with its entry, the second stays without one, the third is told otherwise.
    take(house, "kev", kev("2024-03-08", ids[2], ids[3], of_3="Known"))
    assert {cve: row.entry is not None for cve, row in rows(house).items()} == {
        ids[1]: False, ids[2]: True, ids[3]: True,
    }  # fmt: skip
    assert sorted(changes(house)[before:]) == [
        ("created", ()),
        ("deleted", ()),
        ("updated", ("affected", "kev", "sources", "title", "weaknesses")),
        ("updated", ("kev",)),
    ]


# -- EPSS --------------------------------------------------------------------------------------

MOVES: dict[str, tuple[tuple[float, float], tuple[float, float], bool]] = {
    "by less than a hundredth": ((0.10, 0.6), (0.10999, 0.6), True),
    "by a hundredth": ((0.10, 0.6), (0.11, 0.6), False),
    "down by a hundredth": ((0.81, 0.92), (0.80, 0.92), False),
    "over a band": ((0.10, 0.4999), (0.101, 0.5), False),
    "back over a band": ((0.10, 0.99), (0.101, 0.98999), False),
    "to the edge within a band": ((0.10, 0.95), (0.101, 0.98999), True),
    "in the day alone": ((0.10, 0.6), (0.10, 0.6), True),
}


@pytest.mark.parametrize(("first", "second", "quiet"), MOVES.values(), ids=MOVES)
def test_a_score_is_told_where_it_moved(
    house: Any, first: tuple[float, float], second: tuple[float, float], quiet: bool
) -> None:
    take(house, "nvd", nvd(CVE))
    take(house, "epss", epss("2024-03-01", CVE_2024_0001=first))
    before, changes_ = only(house), changes(house)
    house.clock.advance(60)
    take(house, "epss", epss("2024-03-02", CVE_2024_0001=second))
    row = only(house)
    assert (row.epss.score, row.epss.percentile, row.epss.score_date.day) == (*second, 2)
    assert (row.epss.previous.score, row.epss.previous.score_date.day) == (first[0], 1)
    assert changes(house)[len(changes_) :] == ([] if quiet else [("updated", ("epss",))])
    assert row.revision == before.revision + (not quiet)
    assert (row.updated_at == before.updated_at) == quiet


def test_a_move_beside_another_change_is_told() -> None:
    was, is_ = {"epss": {"score": 0.1, "percentile": 0.1}}, {"epss": {"score": 0.1}}
    assert not is_quiet(("epss", "kev"), was, is_)
    assert not is_quiet(("epss",), {"epss": None}, was)


def test_a_score_waits_for_its_cve(house: Any) -> None:
    take(house, "epss", epss("2024-03-01", CVE_2024_0001=(0.5, 0.9)))
    assert not rows(house)
    take(house, "kev", kev("2024-03-01", CVE))
    assert only(house).epss.score == 0.5
    take(house, "kev", kev("2024-03-08"))
    assert not rows(house)


DAYS = {day: epss(f"2024-03-0{day}", CVE_2024_0001=(day / 10, 0.6)) for day in (1, 2, 3)}


@pytest.mark.parametrize("order", list(permutations(DAYS)))
@pytest.mark.parametrize("is_one", [True, False])
def test_the_newest_score_and_the_one_before_it_in_any_order(
    house: Any, order: tuple[int, ...], is_one: bool
) -> None:
    take(house, "nvd", nvd(CVE))
    for day in order:
        take(house, "epss" if is_one else f"epss{day}", DAYS[day])
    epss = only(house).epss
    assert (epss.score, epss.previous.score) == (0.3, 0.2)


# -- real documents ----------------------------------------------------------------------------

REAL: dict[str, tuple[str, Any]] = {
    "CVE-2024-3400": ("palo_alto", 10.0),
    "CVE-2023-20198": ("cisco", 10.0),
    "CVE-2021-26855": ("nvd", 9.8),
    "CVE-2024-0519": ("CISA-ADP", 8.8),
    "CVE-2019-25161": ("", None),
}
"""By whom and with which number a row is scored, looked up by hand."""


def test_real_records_are_scored_by_who_goes_before(house: Any, real_documents: Any) -> None:
    for folder in ("cve5", "nvd2"):
        for path in real_documents(folder):
            take(house, path.name, path.read_bytes())
    by_id = rows(house)
    scores = {cve: by_id[cve].score for cve in REAL}
    numbers = {
        cve: (score.provider, score.base_score) if score else ("", None)
        for cve, score in scores.items()
    }
    assert numbers == REAL
    assert by_id["CVE-2019-25161"].state == "REJECTED"


def test_two_real_releases_give_what_differs_between_them(house: Any, real_documents: Any) -> None:
    first, second = real_documents("cisa_kev")
    take(house, "kev", first.read_bytes())
    before = len(changes(house))
    take(house, "kev", second.read_bytes())
    counts = Counter(kind for kind, _ in changes(house)[before:])
    # Of a ninth entry the notes changed, but not the addresses in them.
    assert counts == {"created": 2, "updated": 8}
    assert len([row for row in rows(house).values() if row.entry is not None]) == 1304


def test_claims_that_name_no_cve_make_no_row() -> None:
    assert cve_row({"title": "A fault"}, ()) is None
