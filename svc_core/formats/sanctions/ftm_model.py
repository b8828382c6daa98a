"""The vocabulary of FollowTheMoney, and an index of what lines state about other entities.

All values of FollowTheMoney are lists of texts; a nested entity stands for its id.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from svc_core.formats.model import Members
from svc_core.formats.reading.entity_keys import identifier, ranked_keys
from svc_core.formats.reading.values import TEXT_CHARS, country, require

Entity = Mapping[str, Any]

VALUES_MAX = 1_000  # of one property; the busiest person of OpenSanctions has some hundred names

TYPES: Mapping[str, str] = {
    "Person": "person", "Company": "company", "PublicBody": "government",
    "Organization": "organization", "LegalEntity": "organization",
    "Vessel": "vessel", "Airplane": "aircraft",
}  # fmt: skip
"""Kinds of entities by FollowTheMoney schema."""

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
"""Types of relations by schema, with the properties of both ends and whether it is directed."""

SHARED: Mapping[str, str] = {
    "Sanction": "entity", "Passport": "holder", "Identification": "holder", "Address": "",
}  # fmt: skip
"""Schemas that describe another entity, with the property that names it."""

PARTS = frozenset({"Sanction", "Passport", "Identification"})
"""Those of them that name the party which they describe."""

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
    """An entity of FollowTheMoney; each text of a property stands once."""

    id: str
    schema: str
    texts: Mapping[str, list[str]]
    source: Entity

    def values(self, *names: str) -> list[str]:
        """The values of several properties, each once."""
        strings = [string for name in names if name in self.texts for string in self.texts[name]]
        return list(dict.fromkeys(strings)) if strings else strings

    def first(self, *names: str) -> str | None:
        """The first value of several properties, None where none has one."""
        return next((self.texts[name][0] for name in names if name in self.texts), None)

    @property
    def referents(self) -> list[str]:
        """The ids of entities that were merged into this one."""
        ids = self.source.get("referents")
        return [id_ for id_ in ids if isinstance(id_, str)] if isinstance(ids, list) else []


def things(entity: Entity) -> Iterator[Thing]:
    """Yields the entities nested in an entity, then the entity itself.

    Raises:
        RecordRefused: one of them has no id.
    """
    properties = entity.get("properties")
    texts: dict[str, list[str]] = {}
    for name, values in properties.items() if isinstance(properties, dict) else ():
        strings = []
        for item in values[:VALUES_MAX] if isinstance(values, list) else [values]:
            if isinstance(item, dict):
                yield from things(item)
            string = item.get("id") if isinstance(item, dict) else item
            if isinstance(string, str) and string.strip():
                strings.append(string.strip()[:TEXT_CHARS])
        if strings:
            texts[name] = strings if len(strings) == 1 else list(dict.fromkeys(strings))
    id_ = entity.get("id")
    own_id = require(id_.strip() if isinstance(id_, str) else None, "id")
    yield Thing(own_id, str(entity.get("schema")), texts, entity)


@frozen
class CollectionIndex:
    """An index of what a collection states about entities on other lines, by entity id."""

    names: dict[str, list[tuple[str, object]]] = field(factory=lambda: defaultdict(list))
    attachments: dict[str, list[Thing]] = field(factory=lambda: defaultdict(list))
    schemas: set[str] = field(factory=set)
    seen: set[str] = field(factory=set)
    """When entities were last seen."""

    def note(self, thing: Thing) -> None:
        """Index what an entity states about itself and about others."""
        self.schemas.add(thing.schema)
        self.seen.add(str(thing.source.get("last_seen") or ""))
        if thing.schema in TYPES:
            self.names[thing.id] += _names(thing)
        elif thing.schema in SHARED:
            for party in thing.values(SHARED[thing.schema]) or [thing.id]:
                self.attachments[party].append(thing)

    @property
    def latest_seen(self) -> str:
        """When an entity was last seen; empty where that is untold."""
        return max(self.seen, default="")

    def keys(self, id_: str) -> list[str]:
        """The keys of an entity, the strongest first; it need not be in the collection."""
        sanctions = self.things_about(id_, "Sanction")
        refs = [("un-ref", ref) for thing in sanctions for ref in thing.values("unscId")]
        return ranked_keys([*self.names.get(id_, ()), *refs, ("ftm", id_)])

    def things_about(self, id_: str, *schemas: str) -> list[Thing]:
        """The things of these schemas that describe an entity."""
        return [thing for thing in self.attachments.get(id_, ()) if thing.schema in schemas]

    def listings(self, id_: str) -> list[Members] | None:
        """The sanction listings of an entity; None where the collection has none at all."""
        listings = [_listing(thing) for thing in self.things_about(id_, "Sanction")]
        return listings if "Sanction" in self.schemas else None

    def identifiers(self, thing: Thing) -> Iterator[Members]:
        """The numbers of an entity in registers and on its papers."""
        for name, kind in _IDENTIFIERS.items():
            yield from (identifier(kind, number) for number in thing.texts.get(name, ()))
        for doc in self.things_about(thing.id, *_PAPERS):
            land = country(doc.first("country"), "alpha2")
            yield from (identifier(_PAPERS[doc.schema], id_, land) for id_ in doc.values("number"))

    def addresses(self, thing: Thing) -> Iterator[str]:
        """The addresses of an entity, its own and those of other lines."""
        yield from thing.values("address")
        ids = thing.values("addressEntity")
        for address in (place for id_ in ids for place in self.things_about(id_, "Address")):
            yield address.first("full") or ", ".join(address.values("street", "city", "country"))


def _names(thing: Thing) -> list[tuple[str, object]]:
    pairs = [(s, text) for name, s in _SCHEMES.items() for text in thing.texts.get(name, ())]
    ids = [_OFAC.fullmatch(id_) for id_ in (thing.id, *thing.referents)]
    return [*pairs, *(("ofac-uid", match[1]) for match in ids if match)]


def _listing(thing: Thing) -> Members:
    """A sanction listing; it is delisted if its end date lies before the entity was last seen."""
    end_date = thing.first("endDate")
    last_seen = str(thing.source.get("last_seen") or thing.source.get("last_change") or "9999")
    return {
        "programId": thing.first("programId", "program"),
        "authority": thing.first("authority"),
        "listName": thing.first("program"),
        "listedDate": thing.first("listingDate", "startDate"),
        "reason": thing.first("reason", "summary"),
        "status": "active" if end_date is None or end_date > last_seen else "delisted",
    }
