"""Entities: companies, people, states, vessels, threat actors, malware and what else takes part."""

from collections.abc import Iterator
from datetime import date
from itertools import chain
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.linking.matching import Names, Party
from svc_core.intel.linking.name_forms import labels, normal_name
from svc_core.intel.linking.screening import index_tokens
from svc_core.operation.members import CreatedAt, EntityId, Share, UpdatedAt, micros
from svc_core.operation.ports import BASE_V2, Collection
from svc_core.operation.source_members import Designator, SourceRef
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.wire.constraints import Doc, Example, Ge

EntityType = Literal[
    "company", "organization", "government", "person", "vessel", "aircraft", "country",
    "threatActor", "malware", "tool", "attackPattern", "courseOfAction", "campaign",
    "vulnerability", "product", "sector", "indicator",
]  # fmt: skip
EntityStatus = Literal["active", "inactive", "merged", "unknown"]


# -- parts of an entity ------------------------------------------------------------------------


@frozen
class EntityRef:
    """An entity that takes part in something."""

    entity_id: EntityId
    name: Annotated[str, Doc("As the row names it."), Example("Port of Antwerp")]
    role: Annotated[str, Doc("The part that it plays."), Example("mentioned")]


@frozen
class Industry:
    """What an entity does, by a classification."""

    scheme: Annotated[str, Doc("SIC, NACE or ISIC."), Example("SIC")]
    code: Annotated[str, Doc("Its code there."), Example("7372")]
    label: Annotated[str | None, Doc("In words."), Example("Services-Prepackaged Software")] = None


@frozen
class Listing:
    """Where shares of a company are traded."""

    ticker: Annotated[str, Doc("The symbol."), Example("MSFT")]
    exchange_name: Annotated[str | None, Doc("The exchange in words."), Example("Nasdaq")] = None
    mic: Annotated[str | None, Doc("ISO 10383 code of the market."), Example("XNAS")] = None


@frozen
class Sanction:
    """An entry of a sanctions list."""

    program_id: Annotated[str | None, Doc("The programme."), Example("CYBER2")] = None
    authority: Annotated[
        str | None, Doc("Who lists."), Example("Office of Foreign Assets Control")
    ] = None
    list_name: Annotated[str | None, Doc("The list."), Example("SDN List")] = None
    listed_date: Annotated[date | None, Doc("Since when."), Example("2024-02-20")] = None
    reason: Annotated[str | None, Doc("Why, in its words."), Example(None)] = None
    status: Annotated[str | None, Doc("`active` or `delisted`."), Example("active")] = None


@frozen
class Identifier:
    """A number in a register or of a document."""

    kind: Annotated[str, Doc("What it is of."), Example("passport")]
    value: Annotated[str, Doc("As it is written there."), Example("A1234567")]
    country_code: Annotated[str | None, Doc("Who issued it."), Example("RU")] = None


@frozen
class Validity:
    """From when to when something existed; null is unknown, or has not ended."""

    from_: Annotated[str | None, Doc("The first day."), Example("1975-04-04")] = None
    to: Annotated[str | None, Doc("The last day."), Example(None)] = None


@frozen
class Attribution:
    """The country that an actor is attributed to."""

    code: Annotated[str, Doc("ISO 3166-1 alpha-2 code."), Example("RU")]
    basis: Annotated[str, Doc("What it was read from."), Example("attribution")]
    confidence: Annotated[Share | None, Doc("Null where untold."), Example(0.5)] = None


@frozen
class CrossReference:
    """What another catalogue calls it."""

    provider: Annotated[str, Doc("The catalogue."), Example("Crowdstrike")]
    id: Annotated[str, Doc("Its name there."), Example("FANCY BEAR")]


@frozen
class ActorAlias:
    """A name of an actor, and who uses it."""

    name: Annotated[str, Doc("The name."), Example("Fancy Bear")]
    provider: Annotated[str, Doc("Who uses it."), Example("mitre-attack")]


@frozen(kw_only=True, slots=False)
class ActorFacet:
    """What is known of a threat actor beside what every entity has."""

    attack_id: Annotated[str | None, Doc("ATT&CK group."), Example("G0007")] = None
    aliases: Annotated[tuple[ActorAlias, ...], Doc("Its other names, with who uses each.")] = ()
    country: Annotated[Attribution | None, Doc("Attributed to; null where untold.")] = None
    motivations: Annotated[tuple[str, ...] | None, Doc("STIX attack-motivation-ov.")] = None
    sophistication: Annotated[str | None, Doc("STIX threat-actor-sophistication-ov.")] = None
    first_seen_date: Annotated[date | None, Doc("When it was first seen.")] = None
    last_seen_date: Annotated[date | None, Doc("When it was last seen.")] = None
    target_countries: Annotated[tuple[str, ...], Doc("ISO 3166-1 alpha-2 codes.")] = ()
    target_sectors: Annotated[tuple[str, ...], Doc("In the words of who told of it.")] = ()
    cross_references: Annotated[tuple[CrossReference, ...], Doc("Other catalogues' names.")] = ()
    replaced_by_id: Annotated[EntityId | None, Doc("What stands in its place.")] = None


# -- the row -----------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class EntityCore:
    """What every entity has."""

    id: EntityId
    type: Annotated[EntityType, Doc("What it is."), Example("company")]
    name: Annotated[str, Doc("As its strongest source names it."), Example("MICROSOFT CORP")]
    aliases: Annotated[tuple[str, ...], Doc("Other names."), Example([])] = ()
    weak_aliases: Annotated[tuple[str, ...], Doc("Names of many, which identify nobody.")] = ()
    description: Annotated[str | None, Doc("In some words; null where untold.")] = None
    designators: Annotated[tuple[Designator, ...], Doc("By which others know it.")] = ()
    jurisdiction: Annotated[str | None, Doc("ISO 3166: where it is from."), Example("US-WA")] = None
    country_codes: Annotated[tuple[str, ...], Doc("ISO 3166-1 alpha-2 codes.")] = ()
    status: Annotated[EntityStatus, Doc("Whether it exists."), Example("active")] = "unknown"
    industry: Annotated[Industry | None, Doc("What it does; null where untold.")] = None
    listings: Annotated[Maybe[tuple[Listing, ...]], Doc("Of companies: where it trades.")] = UNSET
    sanctions: Annotated[tuple[Sanction, ...] | None, Doc("Null while no list was read.")] = None
    topics: Annotated[tuple[str, ...], Doc("What others file it under."), Example([])] = ()
    birth_dates: Annotated[Maybe[tuple[str, ...]], Doc("Each a day, month, year or span.")] = UNSET
    birth_places: Annotated[Maybe[tuple[str, ...]], Doc("As they are told.")] = UNSET
    gender: Annotated[Maybe[str], Doc("As it is told.")] = UNSET
    addresses: Annotated[Maybe[tuple[str, ...]], Doc("As they are told.")] = UNSET
    identifiers: Annotated[Maybe[tuple[Identifier, ...]], Doc("Papers; they join nothing.")] = UNSET
    validity: Annotated[Validity | None, Doc("When it existed; null where untold.")] = None
    revoked: Annotated[bool, Doc("Whether its source revoked or deprecated it.")] = False
    merged_ids: Annotated[tuple[str, ...], Doc("Other ids that answer with this row.")] = ()
    sources: Annotated[tuple[SourceRef, ...], Doc("What the row was made from.")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Doc("Counts its versions from 1."), Example(1)]
    match: MatchMember = UNSET

    @property
    def names(self) -> Iterator[str]:
        """Its names but for the weak ones."""
        yield self.name
        yield from self.aliases


@frozen(kw_only=True, slots=False)
class Entity(EntityCore):
    """One entity, with what is known of a threat actor where it is one."""

    actor: Annotated[Maybe[ActorFacet], Doc("Of threat actors and campaigns alone.")] = UNSET


def keys_of(entity: Any) -> tuple[str, ...]:
    """All ids under which other rows may name it, its own first."""
    return (entity.id, *entity.merged_ids)


def _labels(entity: Entity) -> tuple[str, ...]:
    """The names by which rows may mean it (`svc_core.intel.linking`)."""
    return tuple(chain.from_iterable(labels(name, entity.type) for name in entity.names))


WORDS: FieldIndex[Entity] = FieldIndex(
    lambda entity: {
        "name": [entity.name],
        "aliases": entity.aliases,
        "weakAliases": entity.weak_aliases,
    },
    is_names=True,
    bare=normal_name,
)
"""Whole words of names, folded (`svc_core.text.words`)."""


def _search(entity: Entity) -> str:
    """Its tokens, and by how its names sound, those by which candidates are sought."""
    names = Names.of(entity.names), Names.of(entity.weak_aliases)
    return " ".join([WORDS(entity), *index_tokens(Party(*names))])


def _sanction_status(entity: Entity) -> str:
    """`yes`, `delisted`, or `no` list ever had it."""
    if not entity.sanctions:
        return "no"
    return "yes" if any(item.status == "active" for item in entity.sanctions) else "delisted"


def _targets(entity: Entity) -> tuple[str, ...]:
    return () if entity.actor is UNSET else entity.actor.target_countries


def _attributed_countries(entity: Entity) -> tuple[str, ...]:
    country = None if entity.actor is UNSET else entity.actor.country
    return () if country is None else (country.code,)


def _sectors(entity: Entity) -> tuple[str, ...]:
    return () if entity.actor is UNSET else tuple(map(str.casefold, entity.actor.target_sectors))


ENTITIES: Collection[Entity] = Collection(
    name="entities",
    model=Entity,
    prefix="ent",
    order=lambda entity: micros(entity.updated_at),
    scope="global",
    keys={
        "type": lambda entity: entity.type,
        "revoked": lambda entity: "yes" if entity.revoked else "no",
        "sanctioned": _sanction_status,
    },
    facets={
        "key": keys_of,
        "designator": lambda entity: [f"{item.scheme}:{item.value}" for item in entity.designators],
        "country": lambda entity: entity.country_codes,
        "topic": lambda entity: entity.topics,
        "label": _labels,
        "attributed": _attributed_countries,
        "targets_country": _targets,
        "targets_sector": _sectors,
    },
    search=_search,
    kind="entity",
    base=BASE_V2,
)
"""Ordered by the last change. `key` finds a row by any id that it answers to."""
