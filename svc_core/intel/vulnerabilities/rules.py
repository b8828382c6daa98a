"""What makes a row of a CVE of the things that its sources say of it.

Rule 1: lists are those of all sources, each entry once: a score of a provider, role and version, a
        weakness, an address, a vendor's product. Of equal entries the strongest source's counts.
Rule 2: the score to go by is the assigner's, else the NVD's own, else another's.
Rule 3: a score of EPSS that moves by less than is worth telling is told nobody, but shown.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from svc_core.formats.cyber.cvss import base_score
from svc_core.intel.entities.vulnerability import folded_product
from svc_core.intel.folding.contributions import Contribution, Members
from svc_core.intel.folding.rules import Rules, by_strength

Said = Mapping[str, Any]

RULES = Rules(
    precedence=("cve", "nvd", "csaf", "stix", "kev", "epss"),
    joined={"designators": ("scheme", "value")},
    silent_formats=frozenset({"epss"}),
)

MOVED = 0.01
BANDS = (0.5, 0.9, 0.95, 0.99)


def finished(members: Members, contributions: Sequence[Contribution]) -> Members | None:
    """The members of a CVE's row; None where nothing names it."""
    if members.get("cveId") is None:
        return None
    told = by_strength(RULES, contributions)
    scores = _scores(told)
    return members | {
        "type": "vulnerability",
        "name": members["cveId"],
        "state": members.get("state") or "PUBLISHED",
        "scores": scores,
        "score": chosen(scores, _assigners(told)),
        "epss": _epss(told),
        "weaknesses": _weaknesses(told),
        "affected": _affected(told),
        "references": _references(told),
    }


def _entries(told: Sequence[Contribution], name: str) -> Iterator[Said]:
    for one in told:
        yield from one.said.get(name) or ()


# -- scores ------------------------------------------------------------------------------------


def _scores(told: Sequence[Contribution]) -> list[Said]:
    """A source may give several of one kind, for several cases; another's of that kind yield."""
    found: dict[tuple[Any, ...], list[Said]] = {}
    for one in told:
        own: dict[tuple[Any, ...], list[Said]] = {}
        for score in one.said.get("scores") or ():
            kind = tuple(score[name] for name in ("system", "version", "provider", "role"))
            own.setdefault(kind, []).append(score)
        found |= {kind: each for kind, each in own.items() if kind not in found}
    return [_checked(score) for each in found.values() for score in each]


def _checked(score: Said) -> Said:
    """The score, with what its vector comes to where that is another number."""
    computed = base_score(score["version"], score["vector"] or "")
    is_other = None not in {computed, score["baseScore"]} and computed != score["baseScore"]
    return {**score, "computedBaseScore": computed} if is_other else score


def _assigners(told: Sequence[Contribution]) -> frozenset[str]:
    """The names under which who assigned the CVE id gives scores.

    What the CVE record calls primary is the assigner's; the NVD repeats it under an address or id.
    """
    names = [one.said.get("scoredBy") for one in told]
    for one in told:
        names += (one.said.get("assigner") or {}).values()
        if one.format == "cve":
            own = [score for score in one.said.get("scores") or () if score["role"] == "primary"]
            names += [score["provider"] for score in own]
    return frozenset(filter(None, names))


def chosen(scores: Sequence[Said], assigners: frozenset[str]) -> Said | None:
    """The score to go by, of those that have a number; None for none."""

    def rank(score: Said) -> tuple[bool, bool, str, bool]:
        is_primary = score["role"] == "primary"
        is_nvd = score["provider"] == "nvd" and is_primary
        return score["provider"] in assigners, is_nvd, score["version"], is_primary

    return max((one for one in scores if one["baseScore"] is not None), key=rank, default=None)


def _epss(told: Sequence[Contribution]) -> Said | None:
    """The newest reading, with the one before it."""
    own = [one for one in told if one.said.get("epss")]
    if not own:
        return None
    newest: Said = own[0].said["epss"]
    readings = [one.said["epss"] for one in own] + [
        one.earlier["said"] for one in own if one.earlier
    ]
    dated = [one for one in readings if one["scoreDate"] and newest["scoreDate"]]
    before = [one for one in dated if one["scoreDate"] < newest["scoreDate"]]
    if not before:
        return newest
    return {**newest, "previous": max(before, key=lambda one: one["scoreDate"])}


def is_quiet(names: Sequence[str], before: Said, after: Said) -> bool:
    """Whether a row differs in a score of EPSS alone, by less than is worth telling."""
    old, new = before.get("epss"), after.get("epss")
    if tuple(names) != ("epss",) or not (old and new):
        return False
    crossed = any((old["percentile"] < band) != (new["percentile"] < band) for band in BANDS)
    # Scores have five decimals: a move by exactly a hundredth is told.
    return not crossed and round(abs(new["score"] - old["score"]), 9) < MOVED


# -- weaknesses, products, references ----------------------------------------------------------


def _weaknesses(told: Sequence[Contribution]) -> list[Said]:
    found: dict[str, Said] = {}
    for one in _entries(told, "weaknesses"):
        if found.get(one["id"], one)["name"] is None:
            found[one["id"]] = one
        found.setdefault(one["id"], one)
    return list(found.values())


def _references(told: Sequence[Contribution]) -> list[Said]:
    tags: dict[str, dict[str, None]] = {}
    for one in _entries(told, "references"):
        tags.setdefault(one["url"], {}).update(dict.fromkeys(one["tags"]))
    return [{"url": url, "tags": list(more)} for url, more in tags.items()]


def _affected(told: Sequence[Contribution]) -> list[Said]:
    """A vendor's product is told once, with the CPE names and versions of all who tell of it."""
    found: dict[tuple[str, str], Said] = {}
    for one in _entries(told, "affected"):
        name = (folded_product(one["vendor"] or ""), folded_product(one["product"] or ""))
        found[name] = _both(found[name], one) if name in found else one
    return list(found.values())


def _both(one: Said, more: Said) -> Said:
    versions = {tuple(each.items()): each for each in (*one["versions"], *more["versions"])}
    return {
        **one,
        "cpes": list(dict.fromkeys((*one["cpes"], *more["cpes"]))),
        "versions": list(versions.values()),
        "defaultStatus": one["defaultStatus"] or more["defaultStatus"],
    }
