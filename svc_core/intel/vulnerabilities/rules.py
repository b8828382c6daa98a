"""Makes the row of a CVE from what its sources say.

Rule 1: lists are united over all sources, each item once: a score by provider, role and version, a
        weakness, an address, a vendor's product. Of equal items the strongest source's counts.
        What KEV calls the product counts where no other source names one: it is the same again.
Rule 2: the preferred score is the assigner's, else the NVD's own, else another's.
Rule 3: a small move of an EPSS score is stored and shown, without a change record.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, cast

from svc_core.formats.cyber.cve_members import (
    CveMembers,
    LinkMembers,
    ProductMembers,
    ScoreMembers,
    WeaknessMembers,
)
from svc_core.formats.cyber.cvss import base_score
from svc_core.formats.reading.values import day
from svc_core.intel.entities.vulnerability import folded_product
from svc_core.intel.folding.contributions import Contribution, Members
from svc_core.intel.folding.rules import Rules, by_strength

Item = Mapping[str, Any]

RULES = Rules(
    precedence=("cve", "nvd", "csaf", "stix", "kev", "epss"),
    item_keys={"designators": ("scheme", "value")},
    silent_formats=frozenset({"epss"}),
)

EPSS_CHANGE_MIN = 0.01
BANDS = (0.5, 0.9, 0.95, 0.99)


def cve_row(members: Members, contributions: Sequence[Contribution]) -> Members | None:
    """The members of a CVE's row; None where no source gives its CVE id."""
    if members.get("cveId") is None:
        return None
    claims = by_strength(RULES, contributions)
    scores = _scores(claims)
    return members | {
        "type": "vulnerability",
        "name": members["cveId"],
        "state": members.get("state") or "PUBLISHED",
        "scores": scores,
        "score": preferred_score(scores, assigners(claims)),
        "epss": _epss(claims),
        "weaknesses": _weaknesses(claims),
        "affected": _products(claims),
        "references": _references(claims),
    }


def _said(claim: Contribution) -> CveMembers:
    """What parsers of vulnerabilities write."""
    return cast(CveMembers, claim.said)


# -- scores ------------------------------------------------------------------------------------


def _scores(claims: Sequence[Contribution]) -> list[ScoreMembers]:
    """The scores of all sources; of one kind all of the strongest source that has any."""
    by_kind: dict[tuple[Any, ...], list[ScoreMembers]] = {}
    for claim in claims:
        own: dict[tuple[Any, ...], list[ScoreMembers]] = {}
        for score in _said(claim).get("scores") or ():
            kind = (score["system"], score["version"], score["provider"], score["role"])
            own.setdefault(kind, []).append(score)
        by_kind |= {kind: scores for kind, scores in own.items() if kind not in by_kind}
    return [_with_computed_score(score) for scores in by_kind.values() for score in scores]


def _with_computed_score(score: ScoreMembers) -> ScoreMembers:
    """The score, with the number that its vector gives where that differs."""
    vector_score = base_score(score["version"], score["vector"] or "")
    is_other = None not in {vector_score, score["baseScore"]} and vector_score != score["baseScore"]
    return {**score, "computedBaseScore": vector_score} if is_other else score


def assigners(claims: Sequence[Contribution]) -> frozenset[str]:
    """The provider names of whoever assigned the CVE id.

    What the CVE record calls primary is the assigner's; the NVD repeats it under an address or id.
    """
    names = [_said(claim).get("scoredBy") for claim in claims]
    for claim in claims:
        names += (_said(claim).get("assigner") or {}).values()
        if claim.format == "cve":
            primary_scores = [
                score for score in _said(claim).get("scores") or () if score["role"] == "primary"
            ]
            names += [score["provider"] for score in primary_scores]
    return frozenset(filter(None, names))


def preferred_score(
    scores: Sequence[ScoreMembers], assigners: frozenset[str]
) -> ScoreMembers | None:
    """The preferred score among those that have a number (Rule 2); None where none has."""

    def rank(score: ScoreMembers) -> tuple[bool, bool, str, bool]:
        is_primary = score["role"] == "primary"
        is_nvd = score["provider"] == "nvd" and is_primary
        return score["provider"] in assigners, is_nvd, score["version"], is_primary

    return max((s for s in scores if s["baseScore"] is not None), key=rank, default=None)


def _epss(claims: Sequence[Contribution]) -> Item | None:
    """The newest EPSS reading, with the latest one of an earlier day."""
    with_epss = [claim for claim in claims if _said(claim).get("epss")]
    said: list[Any] = [_said(claim)["epss"] for claim in with_epss]
    said += [claim.earlier["said"] for claim in with_epss if claim.earlier]
    # Earlier releases stored the instant of a score.
    readings: list[Item] = [{**s, "scoreDate": day(s["scoreDate"])} for s in said]
    if not readings:
        return None
    newest = readings[0]
    with_date = [score for score in readings if score["scoreDate"] and newest["scoreDate"]]
    earlier = [score for score in with_date if _day(score) < _day(newest)]
    if not earlier:
        return newest
    return {**newest, "previous": max(earlier, key=_day)}


def _day(score: Item) -> str:
    return score["scoreDate"] or ""


def is_quiet(names: Sequence[str], before: Item, after: Item) -> bool:
    """Whether a row differs only by a small move of its EPSS score (Rule 3)."""
    old, new = before.get("epss"), after.get("epss")
    if tuple(names) != ("epss",) or not (old and new):
        return False
    is_band_change = any((old["percentile"] < band) != (new["percentile"] < band) for band in BANDS)
    # Scores have five decimals; rounding makes a move by exactly a hundredth no quiet one.
    return not is_band_change and round(abs(new["score"] - old["score"]), 9) < EPSS_CHANGE_MIN


# -- weaknesses, products, references ----------------------------------------------------------


def _weaknesses(claims: Sequence[Contribution]) -> list[WeaknessMembers]:
    weaknesses: dict[str, WeaknessMembers] = {}
    for weakness in chain.from_iterable(_said(c).get("weaknesses") or () for c in claims):
        if weaknesses.get(weakness["id"], weakness)["name"] is None:
            weaknesses[weakness["id"]] = weakness
        weaknesses.setdefault(weakness["id"], weakness)
    return list(weaknesses.values())


def _references(claims: Sequence[Contribution]) -> list[LinkMembers]:
    tags: dict[str, dict[str, None]] = {}
    for page in chain.from_iterable(_said(c).get("references") or () for c in claims):
        tags.setdefault(page["url"], {}).update(dict.fromkeys(page["tags"]))
    return [{"url": url, "tags": list(names)} for url, names in tags.items()]


def _products(claims: Sequence[Contribution]) -> list[ProductMembers]:
    """The affected products, each once, with the CPE names and versions of all sources."""
    products: dict[tuple[str, str], ProductMembers] = {}
    naming_claims = [claim for claim in claims if _said(claim).get("affected")]
    full_claims = [claim for claim in naming_claims if claim.format != "kev"] or naming_claims
    for product in chain.from_iterable(_said(claim)["affected"] or () for claim in full_claims):
        name = (folded_product(product["vendor"] or ""), folded_product(product["product"] or ""))
        products[name] = _product_union(products[name], product) if name in products else product
    return list(products.values())


def _product_union(left: ProductMembers, right: ProductMembers) -> ProductMembers:
    versions = {tuple(v.items()): v for v in (*left["versions"], *right["versions"])}
    return {
        **left,
        "cpes": list(dict.fromkeys((*left["cpes"], *right["cpes"]))),
        "versions": list(versions.values()),
        "defaultStatus": left["defaultStatus"] or right["defaultStatus"],
    }
