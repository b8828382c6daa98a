"""What makes a row of an entity of the things that its sources say of it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from svc_core.formats.reading.parties import EXCLUSIVE, STRENGTH
from svc_core.intel.entities.model import ENTITIES
from svc_core.intel.folding.contributions import PAIRS, Contribution, Members
from svc_core.intel.folding.kind import RowKind
from svc_core.intel.folding.rules import Rules, by_strength, list_union
from svc_core.intel.linking.references import id_of

RULES = Rules(
    precedence=(
        "gleif lei-cdf", "sec-submissions", "sec-tickers", "sec-companyfacts", "attack",
        "misp-galaxy", "stix", "misp-event", "un-sanctions", "ofac", "ftm ftm-delta",
    ),
    prefer={
        # What is listed is a company, though GLEIF has funds and OFAC whatever is no person.
        "type": (
            "attack", "sec-tickers", "gleif lei-cdf", "sec-submissions", "misp-galaxy",
            "ftm ftm-delta", "sec-companyfacts", "stix", "misp-event", "un-sanctions",
        ),
    },
    joined={
        "designators": ("scheme", "value"),
        "listings": ("ticker", "mic", "exchangeName"),
        "sanctions": ("authority", "listName", "programId"),
        "identifiers": ("kind", "value"),
        "crossReferences": ("provider", "id"),
        **dict.fromkeys((
            "aliases", "weakAliases", "countryCodes", "topics", "birthDates", "birthPlaces",
            "addresses", "motivations", "targetCountries", "targetSectors",
        ), ()),
    },
    silent_formats=PAIRS,
)  # fmt: skip
_ACTOR = (
    "attackId", "country", "motivations", "sophistication", "firstSeenDate", "lastSeenDate",
    "targetCountries", "targetSectors", "crossReferences", "replacedById",
)  # fmt: skip
_OF_PARTIES = frozenset({"birthDates", "birthPlaces", "gender", "addresses", "identifiers"})
"""Members that a row has only where somebody tells them."""

_ACTORS = frozenset({"threatActor", "campaign"})


def finished(members: Members, contributions: Sequence[Contribution]) -> Members | None:
    """The members of an entity's row; None without a name."""
    if members.get("name") is None:
        return None
    told, ended = (
        by_strength(RULES, contributions),
        [one for one in contributions if one.ended_listings],
    )
    made = {
        name: value
        for name, value in members.items()
        if name not in _ACTOR and value is not None and (value or name not in _OF_PARTIES)
    }
    statuses = [one.said.get("status") for one in told]
    made |= {
        "aliases": _others(members["name"], [one for each in told for one in _names(each)]),
        "weakAliases": _others(members["name"], members.get("weakAliases") or ()),
        "status": next((one for one in statuses if one and one != "unknown"), "unknown"),
        "revoked": bool(members.get("revoked") or members.get("deprecated")),
        "sanctions": _sanctions(members.get("sanctions") or (), ended) or None,
        "listings": _listings(members.get("listings") or ()),
    }
    if ended:
        names = {name for one in ended for name in one.names if name not in one.apart}
        made["mergedIds"] = sorted(names.union(members["mergedIds"]) - {contributions[0].row})
    if members["type"] != "company" and not made["listings"]:
        del made["listings"]
    if members["type"] in _ACTORS:
        made["actor"] = _facet(members, told)
    return made


def _names(one: Contribution) -> list[str]:
    return [name for name in (one.said.get("name"), *(one.said.get("aliases") or ())) if name]


def _others(name: str, names: Sequence[str]) -> list[str]:
    """The names beside this one, each in the first of its spellings in capitals or not."""
    found: dict[str, str] = {}
    for one in names:
        found.setdefault(one.casefold(), one)
    found.pop(name.casefold(), None)
    return list(found.values())


def _sanctions(told: Sequence[Members], ended: Sequence[Contribution]) -> list[Members]:
    """The listings, those that ended last; one that another source tells as well did not end."""
    past = sorted(ended, key=lambda one: one.id)
    every = [*told, *(listing for one in past for listing in one.ended_listings)]
    parts = RULES.joined["sanctions"]
    return [_dated(one) for one in list_union([every], parts)]


def _dated(listing: Mapping[str, Any]) -> dict[str, Any]:
    """A listing; its date is one only where the day is told."""
    day = None
    with suppress(ValueError):
        day = date.fromisoformat(str(listing.get("listedDate") or "")[:10]).isoformat()
    return {**listing, "listedDate": day}


def _listings(told: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The listings but for tickers that another one tells with their market."""
    placed = [one for one in told if one.get("exchangeName") or one.get("mic")]
    known = {one["ticker"] for one in placed}
    return [one for one in told if one in placed or one["ticker"] not in known]


def _facet(members: Mapping[str, Any], told: Sequence[Contribution]) -> dict[str, Any]:
    key = members.get("replacedBy")
    facet = {name: members[name] for name in _ACTOR if members.get(name) is not None}
    names = dict.fromkeys((name, one.ref["provider"]) for one in told for name in _names(one))
    aliases = [{"name": n, "provider": p} for n, p in names if n != members["name"]]
    return facet | {"aliases": aliases, "replacedById": key and id_of(key)}


# A row has the id of its strongest designator, whoever brings it.
KIND = RowKind("entity", "ent", RULES, ENTITIES, is_joined=True, schemes=STRENGTH, identify=id_of,
            exclusive=EXCLUSIVE, finish=finished)  # fmt: skip
