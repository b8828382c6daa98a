"""The words of FollowTheMoney, and what of a collection is told with another entity than its own.

All values of FollowTheMoney are lists of texts; one that is written out in place stands for its id.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from svc_core.formats.model import Said
from svc_core.formats.reading.parties import identifier, ranked_keys
from svc_core.formats.reading.values import TEXT_CHARS, country, require

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

SHARED: Mapping[str, str] = {
    "Sanction": "entity", "Passport": "holder", "Identification": "holder", "Address": "",
}  # fmt: skip
"""Schemas that are told with the entity that they are about, and the property that names it."""

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
_PAPERS = {"Passport": "passport", "Identification": "nationalId"}
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
        kept = []
        for one in values[:VALUES_MAX] if isinstance(values, list) else [values]:
            if isinstance(one, dict):
                yield from things(one)
            told = one.get("id") if isinstance(one, dict) else one
            if isinstance(told, str) and told.strip():
                kept.append(told.strip()[:TEXT_CHARS])
        if kept:
            texts[name] = kept if len(kept) == 1 else list(dict.fromkeys(kept))
    id_ = entity.get("id")
    told_id = require(id_.strip() if isinstance(id_, str) else None, "id")
    yield Thing(told_id, str(entity.get("schema")), texts, entity)


@frozen
class Around:
    """What a collection says of entities beside their own lines, by their ids."""

    names: dict[str, list[tuple[str, object]]] = field(factory=lambda: defaultdict(list))
    beside: dict[str, list[Thing]] = field(factory=lambda: defaultdict(list))
    schemas: set[str] = field(factory=set)
    latest: dict[str, str] = field(factory=dict)
    """When any of them was last seen and last changed."""

    def note(self, thing: Thing) -> None:
        """Take in what an entity says of itself and of others."""
        self.schemas.add(thing.schema)
        for name in ("last_seen", "last_change"):
            self.latest[name] = max(self.latest.get(name, ""), str(thing.whole.get(name) or ""))
        if thing.schema in TYPES:
            self.names[thing.id] += _names(thing)
        elif thing.schema in SHARED:
            for party in thing.all(SHARED[thing.schema]) or [thing.id]:
                self.beside[party].append(thing)

    def keys(self, id_: str) -> list[str]:
        """By what an entity, which may be none of this collection, is known."""
        listed = [("un-ref", ref) for one in self.of(id_, "Sanction") for ref in one.all("unscId")]
        return ranked_keys([*self.names.get(id_, ()), *listed, ("ftm", id_)])

    def of(self, id_: str, *schemas: str) -> list[Thing]:
        """What is told with an entity."""
        return [one for one in self.beside.get(id_, ()) if one.schema in schemas]

    def listings(self, id_: str) -> list[Said] | None:
        """Of an entity; None where the collection has none at all."""
        found = [_listing(one) for one in self.of(id_, "Sanction")]
        return found if "Sanction" in self.schemas else None

    def identifiers(self, thing: Thing) -> Iterator[Said]:
        """Numbers of an entity in registers and of its papers."""
        for name, kind in _IDENTIFIERS.items():
            yield from (identifier(kind, one) for one in thing.texts.get(name, ()))
        for paper in self.of(thing.id, *_PAPERS):
            land = country(paper.first("country"), "alpha2")
            yield from (identifier(_PAPERS[paper.schema], one, land) for one in paper.all("number"))

    def addresses(self, thing: Thing) -> Iterator[str]:
        """Those of an entity, also what is told with others."""
        yield from thing.all("address")
        for one in (each for id_ in thing.all("addressEntity") for each in self.of(id_, "Address")):
            yield one.first("full") or ", ".join(one.all("street", "city", "country"))


def _names(thing: Thing) -> list[tuple[str, object]]:
    told = [(s, one) for name, s in _SCHEMES.items() for one in thing.texts.get(name, ())]
    ids = [_OFAC.fullmatch(one) for one in (thing.id, *thing.referents)]
    return [*told, *(("ofac-uid", one[1]) for one in ids if one)]


def _listing(thing: Thing) -> Said:
    """A listing; one that ended is over, unless it was seen before its end."""
    ended = thing.first("endDate")
    seen = str(thing.whole.get("last_seen") or thing.whole.get("last_change") or "9999")
    return {
        "programId": thing.first("programId", "program"),
        "authority": thing.first("authority"),
        "listName": thing.first("program"),
        "listedDate": thing.first("listingDate", "startDate"),
        "reason": thing.first("reason", "summary"),
        "status": "active" if ended is None or ended > seen else "delisted",
    }
