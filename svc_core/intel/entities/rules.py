"""Makes the row of an entity from what its sources say."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from typing import Any

from svc_core.formats.reading.entity_keys import EXCLUSIVE, STRENGTH
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
    item_keys={
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
"""Members that a row has only where a source states them."""

_ACTORS = frozenset({"threatActor", "campaign"})


def _entity_row(members: Members, contributions: Sequence[Contribution]) -> Members | None:
    """The members of an entity's row; None where no source names it."""
    if members.get("name") is None:
        return None
    claims = by_strength(RULES, contributions)
    endings = [claim for claim in contributions if claim.ended_listings]
    row = {
        name: value
        for name, value in members.items()
        if name not in _ACTOR and value is not None and (value or name not in _OF_PARTIES)
    }
    statuses = [c.said.get("status") for c in claims]
    row |= {
        "aliases": _aliases(members["name"], [name for c in claims for name in _names(c)]),
        "weakAliases": _aliases(members["name"], members.get("weakAliases") or ()),
        "status": next((s for s in statuses if s and s != "unknown"), "unknown"),
        "revoked": bool(members.get("revoked") or members.get("deprecated")),
        "sanctions": _sanctions(members.get("sanctions") or (), endings) or None,
        "listings": _listings(members.get("listings") or ()),
    }
    if endings:
        names = {name for claim in endings for name in claim.names if name not in claim.apart}
        row["mergedIds"] = sorted(names.union(members["mergedIds"]) - {contributions[0].row})
    if members["type"] != "company" and not row["listings"]:
        del row["listings"]
    if members["type"] in _ACTORS:
        row["actor"] = _facet(members, claims)
    return row


def _names(claim: Contribution) -> list[str]:
    return [name for name in (claim.said.get("name"), *(claim.said.get("aliases") or ())) if name]


def _aliases(name: str, names: Sequence[str]) -> list[str]:
    """All other names, each once regardless of case, in its first spelling."""
    spellings: dict[str, str] = {}
    for spelling in names:
        spellings.setdefault(spelling.casefold(), spelling)
    spellings.pop(name.casefold(), None)
    return list(spellings.values())


def _sanctions(listings: Sequence[Members], endings: Sequence[Contribution]) -> list[Members]:
    """Sanctions listings, ended ones last; one that another source still states has not ended."""
    past = sorted(endings, key=lambda claim: claim.id)
    all_listings = [*listings, *(listing for claim in past for listing in claim.ended_listings)]
    parts = RULES.item_keys["sanctions"]
    return [_with_date(listing) for listing in list_union([all_listings], parts)]


def _with_date(listing: Mapping[str, Any]) -> dict[str, Any]:
    """A sanctions listing; its date is null unless the exact day is given."""
    day = None
    with suppress(ValueError):
        day = date.fromisoformat(str(listing.get("listedDate") or "")[:10]).isoformat()
    return {**listing, "listedDate": day}


def _listings(listings: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The stock listings, without bare tickers that another listing gives with their market."""
    on_markets = [item for item in listings if item.get("exchangeName") or item.get("mic")]
    tickers = {item["ticker"] for item in on_markets}
    return [item for item in listings if item in on_markets or item["ticker"] not in tickers]


def _facet(members: Mapping[str, Any], claims: Sequence[Contribution]) -> dict[str, Any]:
    key = members.get("replacedBy")
    facet = {name: members[name] for name in _ACTOR if members.get(name) is not None}
    names = dict.fromkeys((name, c.ref["provider"]) for c in claims for name in _names(c))
    aliases = [{"name": n, "provider": p} for n, p in names if n != members["name"]]
    return facet | {"aliases": aliases, "replacedById": key and id_of(key)}


def exclusive_names(claim: Contribution) -> Iterator[tuple[str, str]]:
    """The row ids that its designators of exclusive schemes give, by scheme."""
    designators = [(item["scheme"], item["value"]) for item in claim.said.get("designators") or ()]
    key = tuple(claim.key.split(":", 1)) if ":" in claim.key else ("cve", claim.key)
    for scheme, value in dict.fromkeys([key, *designators]):
        if scheme in EXCLUSIVE:
            yield scheme, id_of(value if scheme == "cve" else f"{scheme}:{value}")


def _legal_name(claim: Contribution) -> str | None:
    """The row id that the legal name in a register gives; None where it has none."""
    key = claim.said.get("registered")
    return id_of(key) if key else None


def _delisted_members(claim: Contribution) -> Members:
    """The sanctions listings of a contribution, marked as ended; empty where it has none."""
    listings = claim.said.get("sanctions")
    return {"sanctions": [row | {"status": "delisted"} for row in listings]} if listings else {}


# A row has the id of its strongest designator, whoever brings it.
KIND = RowKind("entity", "ent", RULES, ENTITIES, is_joined=True, schemes=STRENGTH, identify=id_of,
            exclusive_names=exclusive_names, shared_name=_legal_name, lapse=_delisted_members,
            finish=_entity_row)  # fmt: skip
