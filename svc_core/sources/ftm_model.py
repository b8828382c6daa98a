"""The words of FollowTheMoney, and what of a collection is told with another entity than its own.

All values of FollowTheMoney are lists of texts; one that is written out in place stands for its id.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from svc_core.sources.parties import designators, identifier, keys, sanction
from svc_core.sources.values import TEXT_CHARS, country, required

Entity = Mapping[str, Any]

VALUES_MAX = 1_000  # of one property; the busiest person of OpenSanctions has some hundred names

TYPES: Mapping[str, str] = {
    "Person": "person", "Company": "company", "PublicBody": "government",
    "Organization": "organization", "LegalEntity": "organization",
    "Vessel": "vessel", "Airplane": "aircraft",
}  # fmt: skip
"""Kinds of entities by schema."""

EDGES: Mapping[str, tuple[str, str, str, bool]] = {
    "Ownership": ("owns", "owner", "asset", True),
    "Directorship": ("directs", "director", "organization", True),
    "Membership": ("memberOf", "member", "organization", True),
    "Employment": ("worksFor", "employee", "employer", True),
    "Representation": ("represents", "agent", "client", True),
    "Succession": ("succeededBy", "predecessor", "successor", True),
    "Debt": ("owes", "debtor", "creditor", True),
    "Payment": ("paid", "payer", "beneficiary", True),
    "Family": ("family", "person", "relative", False),
    "Associate": ("associate", "person", "associate", False),
    "UnknownLink": ("associate", "subject", "object", False),
}
"""Types of relations by schema, with the properties that are their ends, and if they point."""

SHARED = frozenset({"Address", "Sanction", "Passport", "Identification"})
"""Schemas that are told with the entity that they are about."""

_SCHEMES = {
    "leiCode": "lei", "cikCode": "cik", "isinCode": "isin", "wikidataId": "wikidata",
    "unscId": "un-ref", "swiftBic": "bic", "website": "domain",
}  # fmt: skip
_IDENTIFIERS = {
    "passportNumber": "passport", "idNumber": "nationalId", "taxNumber": "taxId",
    "innCode": "taxId", "vatCode": "taxId", "registrationNumber": "registration",
    "ogrnCode": "registration", "dunsCode": "duns", "imoNumber": "imo", "mmsi": "mmsi",
    "callSign": "callSign",
}  # fmt: skip
_OFAC = re.compile("ofac-([0-9]+)")  # what OpenSanctions makes of OFAC's own numbers


@frozen(eq=False)
class Thing:
    """An entity with the texts of its properties, each once."""

    id: str
    schema: str
    texts: Mapping[str, list[str]]
    whole: Entity

    def all(self, *names: str) -> list[str]:
        """The values of some properties."""
        found = [one for name in names if name in self.texts for one in self.texts[name]]
        return list(dict.fromkeys(found)) if found else found

    def first(self, *names: str) -> str | None:
        """The first value of some properties."""
        return next((self.texts[name][0] for name in names if name in self.texts), None)

    @property
    def referents(self) -> list[str]:
        """The ids that were merged into its own."""
        told = self.whole.get("referents")
        return [one for one in told if isinstance(one, str)] if isinstance(told, list) else []


def things(entity: Entity) -> Iterator[Thing]:
    """The entities that are written out inside of one, then that one itself.

    Raises:
        Unusable: one has no id.
    """
    held = entity.get("properties")
    texts: dict[str, list[str]] = {}
    for name, values in held.items() if isinstance(held, dict) else ():
        kept: list[str] = []
        for value in values[:VALUES_MAX] if isinstance(values, list) else [values]:
            if isinstance(value, dict):
                yield from things(value)
            one = value.get("id") if isinstance(value, dict) else value
            told = one.strip()[:TEXT_CHARS] if isinstance(one, str) else None
            if told and told not in kept:
                kept.append(told)
        if kept:
            texts[name] = kept
    id_ = entity.get("id")
    told_id = required(id_.strip() if isinstance(id_, str) else None, "id")
    yield Thing(told_id, str(entity.get("schema")), texts, entity)


def identifiers(thing: Thing) -> list[dict[str, Any]]:
    """Numbers of its papers and of registers."""
    return [identifier(k, v) for name, k in _IDENTIFIERS.items() for v in thing.texts.get(name, ())]


@frozen
class Around:
    """What a collection says of entities beside their own lines, by their ids."""

    names: dict[str, list[tuple[str, object]]] = field(factory=lambda: defaultdict(list))
    addresses: dict[str, str] = field(factory=dict)
    listings: dict[str, list[dict[str, Any]]] = field(factory=lambda: defaultdict(list))
    papers: dict[str, list[dict[str, Any]]] = field(factory=lambda: defaultdict(list))
    latest: dict[str, str] = field(factory=dict)
    """When any of them was last seen and last changed."""

    def note(self, thing: Thing) -> None:
        """Take in what an entity says of itself and of others."""
        for name in ("last_seen", "last_change"):
            self.latest[name] = max(self.latest.get(name, ""), str(thing.whole.get(name) or ""))
        if thing.schema in TYPES:
            self._name(thing.id, _names(thing))
        elif thing.schema == "Address":
            parts = thing.all("street", "city", "country")
            self.addresses[thing.id] = thing.first("full") or ", ".join(parts)
        elif thing.schema == "Sanction":
            for party in thing.all("entity"):
                self.listings[party].append(_listing(thing))
                self._name(party, [("un-ref", one) for one in thing.all("unscId")])
        elif thing.schema in SHARED:
            paper = "passport" if thing.schema == "Passport" else "nationalId"
            of = country(thing.first("country"), "alpha2")
            for party in thing.all("holder"):
                self.papers[party] += [identifier(paper, one, of) for one in thing.all("number")]

    def _name(self, id_: str, names: list[tuple[str, object]]) -> None:
        if names:
            self.names[id_] += names

    def designators(self, id_: str) -> list[dict[str, Any]]:
        """By what an entity is known."""
        return designators([*self.names.get(id_, ()), ("ftm", id_)])

    def key(self, id_: str) -> str:
        """The key of an entity, which may be none of this collection."""
        return keys(self.designators(id_))[0]


def _names(thing: Thing) -> list[tuple[str, object]]:
    told = [(s, one) for name, s in _SCHEMES.items() for one in thing.texts.get(name, ())]
    ids = [_OFAC.fullmatch(one) for one in (thing.id, *thing.referents)]
    return [*told, *(("ofac-uid", one[1]) for one in ids if one)]


def _listing(thing: Thing) -> dict[str, Any]:
    """A listing; one that ended is over, unless it was seen before its end."""
    ended = thing.first("endDate")
    seen = str(thing.whole.get("last_seen") or thing.whole.get("last_change") or "9999")
    return sanction(
        thing.first("programId", "program"),
        thing.first("authority"),
        thing.first("program"),
        listed=thing.first("listingDate", "startDate"),
        reason=thing.first("reason", "summary"),
        status="active" if ended is None or ended > seen else "delisted",
    )
