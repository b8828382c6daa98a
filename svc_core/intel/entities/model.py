"""Entities: companies, people, states, vessels, threat actors, malware and what else takes part."""

from collections.abc import Iterable, Iterator
from datetime import date
from itertools import chain
from typing import Annotated, Any, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe, or_default
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.formats.reading.entity_keys import FORM_HINTS, normal_form
from svc_core.intel.linking.matching import Names, Party
from svc_core.intel.linking.name_forms import labels, normal_name
from svc_core.intel.linking.screening import index_tokens
from svc_core.operation.filters import (
    Countries,
    FilterFields,
    FilterValues,
    Flag,
    IncludeRevoked,
    LatestFirst,
    Name,
)
from svc_core.operation.members import CreatedAt, EntityId, PageRequest, Share, UpdatedAt, micros
from svc_core.operation.period import UpdatedSince
from svc_core.operation.ports import BASE_V2, Collection
from svc_core.operation.source_members import Designator, SourceRef
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.wire.constraints import Doc, Example, Ge, Pattern

EntityType = Literal[
    "company", "organization", "government", "person", "vessel", "aircraft", "country",
    "threatActor", "malware", "tool", "attackPattern", "courseOfAction", "campaign",
    "vulnerability", "product", "sector", "indicator",
]  # fmt: skip
LinkName = Literal["techniques", "software", "campaigns"]
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
class StockListing:
    """Where shares of a company are traded."""

    __schema_name__ = "Listing"

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
    listings: Annotated[Maybe[tuple[StockListing, ...]], Doc("Of companies: where it trades.")] = (
        UNSET
    )
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


def _actor(entity: Entity) -> ActorFacet:
    return or_default(entity.actor, ActorFacet())


def _attributed_countries(entity: Entity) -> tuple[str, ...]:
    country = _actor(entity).country
    return () if country is None else (country.code,)


def _designators(designators: Iterable[str]) -> Iterator[str]:
    """Designators in the form in which rows hold them.

    Raises:
        Problem: INVALID_PARAMETER for one that cannot be of its scheme.
    """
    for designator in designators:
        scheme, _, value = designator.partition(":")
        normal_value = normal_form(scheme, value)
        if normal_value is None:
            detail = f"designator: {value!r} is no {scheme}: {FORM_HINTS[scheme]}"
            raise Problem(problem.INVALID_PARAMETER, detail)
        yield f"{scheme}:{normal_value}"


def _live_alone(is_included: bool) -> tuple[str, ...] | None:
    """The values of `revoked` that are admitted, with what sources revoked or without."""
    return None if is_included else ("no",)


_ENTITY = FilterFields[Entity]()


@frozen
class ListEntities(PageRequest):
    """Entities of every kind."""

    type: Annotated[FilterValues[EntityType], Doc("Comma list of types."), Example(["company"])] = (
        _ENTITY.key(lambda entity: entity.type)
    )
    designator: Annotated[
        FilterValues[Annotated[str, Pattern("[a-z0-9-]{2,20}:.{1,200}", "`scheme:value`")]],
        Doc(
            "Comma list of designators, exactly as others write them. Check digits are verified; "
            "a CIK may lack its zeros."
        ),
        Example(["cik:0000789019"]),
    ] = _ENTITY.facet(
        lambda entity: [f"{item.scheme}:{item.value}" for item in entity.designators],
        choose=_designators,
    )
    country: Countries = _ENTITY.facet(lambda entity: entity.country_codes, form=str.upper)
    topic: Annotated[FilterValues[Name], Doc("Comma list of what others file it under.")] = (
        _ENTITY.facet(lambda entity: entity.topics)
    )
    sanctioned: Annotated[
        Flag, Doc("Whether a sanctions list has it now; `false` finds nothing while none was read.")
    ] = _ENTITY.key(
        _sanction_status, choose=lambda is_now: ("yes",) if is_now else ("no", "delisted")
    )
    include_revoked: IncludeRevoked = _ENTITY.key(
        lambda entity: "yes" if entity.revoked else "no",
        "revoked",
        choose=_live_alone,
        default=False,
    )
    updated_since: UpdatedSince = _ENTITY.later()
    q: lists.Q = UNSET
    sort: LatestFirst = UNSET
    include: lists.Include = UNSET


@frozen
class ListActors(PageRequest):
    """Threat actors."""

    country: Annotated[Countries, Doc("Comma list of countries they are attributed to.")] = (
        _ENTITY.facet(_attributed_countries, "attributed", form=str.upper)
    )
    targets_country: Annotated[Countries, Doc("Comma list of countries they target.")] = (
        _ENTITY.facet(lambda entity: _actor(entity).target_countries, form=str.upper)
    )
    targets_sector: Annotated[FilterValues[Name], Doc("Comma list of sectors, in any case.")] = (
        _ENTITY.facet(lambda entity: _actor(entity).target_sectors, form=str.casefold)
    )
    technique: Annotated[
        FilterValues[
            Annotated[str, Pattern("[Tt][0-9]{4}(?:[.][0-9]{3})?", "a technique of ATT&CK")]
        ],
        Doc("Comma list of techniques of ATT&CK that they use."),
        Example(["T1566"]),
    ] = _ENTITY.facet(index="key", form=str.upper)
    include_revoked: IncludeRevoked = _ENTITY.key(
        index="revoked", choose=_live_alone, default=False
    )
    updated_since: UpdatedSince = _ENTITY.later()
    include: Annotated[
        FilterValues[Literal["techniques", "software", "campaigns", "match"]],
        Doc("Theirs, and with `q` why each was found."),
    ] = UNSET
    q: lists.Q = UNSET
    sort: LatestFirst = UNSET


ENTITIES: Collection[Entity] = Collection(
    name="entities",
    model=Entity,
    prefix="ent",
    order=lambda entity: micros(entity.updated_at),
    scope="global",
    **_ENTITY.indexes(ListEntities, ListActors, facets={"key": keys_of, "label": _labels}),
    search=_search,
    kind="entity",
    base=BASE_V2,
)
"""Ordered by the last change. `key` finds a row by any id that it answers to."""
