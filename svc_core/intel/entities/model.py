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
from svc_core.intel.linking.name_forms import NAME_ORDERS, labels, name_order, normal_name
from svc_core.intel.linking.screening import index_tokens
from svc_core.operation.filters import (
    Countries,
    FilterFields,
    FilterValues,
    Flag,
    IncludeRevoked,
    LatestFirst,
    Name,
    sort_orders,
)
from svc_core.operation.members import CreatedAt, EntityId, PageRequest, Share, UpdatedAt
from svc_core.operation.period import UpdatedSince
from svc_core.operation.ports import BASE_V2, Collection, Layout
from svc_core.operation.source_members import Designator, SourceRef
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.search.row_names import PROMINENCE_MAX, RowNames
from svc_core.wire.constraints import Example, Ge, Pattern

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
    name: Annotated[str, Example("Port of Antwerp")]
    """As the row names it."""
    role: Annotated[str, Example("mentioned")]
    """The part that it plays."""


@frozen
class Industry:
    """What an entity does, by a classification."""

    scheme: Annotated[str, Example("SIC")]
    """SIC, NACE or ISIC."""
    code: Annotated[str, Example("7372")]
    """Its code there."""
    label: Annotated[str | None, Example("Services-Prepackaged Software")] = None
    """In words."""


@frozen
class StockListing:
    """Where shares of a company are traded."""

    __schema_name__ = "Listing"

    ticker: Annotated[str, Example("MSFT")]
    """The symbol."""
    exchange_name: Annotated[str | None, Example("Nasdaq")] = None
    """The exchange in words."""
    mic: Annotated[str | None, Example("XNAS")] = None
    """ISO 10383 code of the market."""


@frozen
class Sanction:
    """An entry of a sanctions list."""

    program_id: Annotated[str | None, Example("CYBER2")] = None
    """The programme."""
    authority: Annotated[str | None, Example("Office of Foreign Assets Control")] = None
    """Who lists."""
    list_name: Annotated[str | None, Example("SDN List")] = None
    """The list."""
    listed_date: Annotated[date | None, Example("2024-02-20")] = None
    """Since when."""
    reason: Annotated[str | None, Example(None)] = None
    """Why, in its words."""
    status: Annotated[str | None, Example("active")] = None
    """`active` or `delisted`."""


@frozen
class Identifier:
    """A number in a register or of a document."""

    kind: Annotated[str, Example("passport")]
    """What it is of."""
    value: Annotated[str, Example("A1234567")]
    """As it is written there."""
    country_code: Annotated[str | None, Example("RU")] = None
    """Who issued it."""


@frozen
class Validity:
    """From when to when something existed; null is unknown, or has not ended."""

    from_: Annotated[str | None, Example("1975-04-04")] = None
    """The first day."""
    to: Annotated[str | None, Example(None)] = None
    """The last day."""


@frozen
class Attribution:
    """The country that an actor is attributed to."""

    code: Annotated[str, Example("RU")]
    """ISO 3166-1 alpha-2 code."""
    basis: Annotated[str, Example("attribution")]
    """What it was read from."""
    confidence: Annotated[Share | None, Example(0.5)] = None
    """Null where untold."""


@frozen
class CrossReference:
    """What another catalogue calls it."""

    provider: Annotated[str, Example("Crowdstrike")]
    """The catalogue."""
    id: Annotated[str, Example("FANCY BEAR")]
    """Its name there."""


@frozen
class ActorAlias:
    """A name of an actor, and who uses it."""

    name: Annotated[str, Example("Fancy Bear")]
    """The name."""
    provider: Annotated[str, Example("mitre-attack")]
    """Who uses it."""


@frozen(kw_only=True, slots=False)
class ActorFacet:
    """What is known of a threat actor beside what every entity has."""

    attack_id: Annotated[str | None, Example("G0007")] = None
    """ATT&CK group."""
    aliases: tuple[ActorAlias, ...] = ()
    """Its other names, with who uses each."""
    country: Attribution | None = None
    """Attributed to; null where untold."""
    motivations: tuple[str, ...] | None = None
    """STIX attack-motivation-ov."""
    sophistication: str | None = None
    """STIX threat-actor-sophistication-ov."""
    first_seen_date: date | None = None
    """When it was first seen."""
    last_seen_date: date | None = None
    """When it was last seen."""
    target_countries: tuple[str, ...] = ()
    """ISO 3166-1 alpha-2 codes."""
    target_sectors: tuple[str, ...] = ()
    """In the words of who told of it."""
    cross_references: tuple[CrossReference, ...] = ()
    """Other catalogues' names."""
    replaced_by_id: EntityId | None = None
    """What stands in its place."""


# -- the row -----------------------------------------------------------------------------------


@frozen(kw_only=True, slots=False)
class EntityCore:
    """What every entity has."""

    id: EntityId
    type: Annotated[EntityType, Example("company")]
    """What it is."""
    name: Annotated[str, Example("MICROSOFT CORP")]
    """As its strongest source names it."""
    aliases: Annotated[tuple[str, ...], Example([])] = ()
    """Other names."""
    weak_aliases: tuple[str, ...] = ()
    """Names of many, which identify nobody."""
    description: str | None = None
    """In some words; null where untold."""
    designators: tuple[Designator, ...] = ()
    """By which others know it."""
    jurisdiction: Annotated[str | None, Example("US-WA")] = None
    """ISO 3166: where it is from."""
    country_codes: tuple[str, ...] = ()
    """ISO 3166-1 alpha-2 codes."""
    status: Annotated[EntityStatus, Example("active")] = "unknown"
    """Whether it exists."""
    industry: Industry | None = None
    """What it does; null where untold."""
    listings: Maybe[tuple[StockListing, ...]] = UNSET
    """Of companies: where it trades."""
    sanctions: tuple[Sanction, ...] | None = None
    """Null while no list was read."""
    topics: Annotated[tuple[str, ...], Example([])] = ()
    """What others file it under."""
    birth_dates: Maybe[tuple[str, ...]] = UNSET
    """Each a day, month, year or span."""
    birth_places: Maybe[tuple[str, ...]] = UNSET
    """As they are told."""
    gender: Maybe[str] = UNSET
    """As it is told."""
    addresses: Maybe[tuple[str, ...]] = UNSET
    """As they are told."""
    identifiers: Maybe[tuple[Identifier, ...]] = UNSET
    """Papers; they join nothing."""
    validity: Validity | None = None
    """When it existed; null where untold."""
    revoked: bool = False
    """Whether its source revoked or deprecated it."""
    merged_ids: tuple[str, ...] = ()
    """Other ids that answer with this row."""
    sources: tuple[SourceRef, ...]
    """What the row was made from."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""
    match: MatchMember = UNSET

    @property
    def names(self) -> Iterator[str]:
        """Its names but for the weak ones."""
        yield self.name
        yield from self.aliases


@frozen(kw_only=True, slots=False)
class Entity(EntityCore):
    """One entity, with what is known of a threat actor where it is one."""

    actor: Maybe[ActorFacet] = UNSET
    """Of threat actors and campaigns alone."""


def keys_of(entity: Any) -> tuple[str, ...]:
    """All ids under which other rows may name it, its own first."""
    return (entity.id, *entity.merged_ids)


def _labels(entity: Entity) -> tuple[str, ...]:
    """The names by which rows may mean it (`svc_core.intel.linking`)."""
    return tuple(chain.from_iterable(labels(name, entity.type) for name in entity.names))


def _parents(entity: Entity) -> list[str]:
    """The technique of ATT&CK that a sub-technique is one of: of T1566.001 it is T1566."""
    codes = (item.value.partition(".") for item in entity.designators if item.scheme == "attack")
    return [technique for technique, _, part in codes if part]


_CARRIERS = frozenset(["indicator", "courseOfAction"])
"""Kinds that carry the names of others: a host that is called like a company."""


def _names(entity: Entity) -> RowNames:
    """By what it is known; the more names and numbers it has, the more prominent it is."""
    size = len(entity.aliases) + len(entity.designators)
    return RowNames(
        entity.name,
        entity.aliases,
        (item.value for item in entity.designators),
        0 if entity.type in _CARRIERS else min(1 + size.bit_length() // 2, PROMINENCE_MAX),
    )


WORDS: FieldIndex[Entity] = FieldIndex(
    lambda entity: {
        "name": [entity.name],
        "aliases": entity.aliases,
        "weakAliases": entity.weak_aliases,
    },
    is_names=True,
    bare=normal_name,
    names=_names,
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

    type: Annotated[FilterValues[EntityType], Example(["company"])] = _ENTITY.key(
        lambda entity: entity.type
    )
    """Comma list of types."""
    designator: Annotated[
        FilterValues[Annotated[str, Pattern("[a-z0-9-]{2,20}:.{1,200}", "`scheme:value`")]],
        Example(["cik:0000789019"]),
    ] = _ENTITY.facet(
        lambda entity: [f"{item.scheme}:{item.value}" for item in entity.designators],
        choose=_designators,
    )
    """Comma list of designators, exactly as others write them. Check digits are verified; a CIK may
    lack its zeros."""
    country: Countries = _ENTITY.facet(lambda entity: entity.country_codes, form=str.upper)
    topic: FilterValues[Name] = _ENTITY.facet(lambda entity: entity.topics)
    """Identifiers that others file it under, separated by commas."""
    sanctioned: Flag = _ENTITY.key(
        _sanction_status, choose=lambda is_now: ("yes",) if is_now else ("no", "delisted")
    )
    """Whether a sanctions list has it now; `false` finds nothing while none was read."""
    include_revoked: IncludeRevoked = _ENTITY.key(
        lambda entity: "yes" if entity.revoked else "no",
        "revoked",
        choose=_live_alone,
        default=False,
    )
    updated_since: UpdatedSince = _ENTITY.later(lambda entity: entity.updated_at, "updated")
    q: lists.Q = UNSET
    sort: LatestFirst = sort_orders(updatedAt="updated")
    include: FilterValues[Literal["match", "candidates"]] = UNSET
    """With `q` why each was found, and who else it may be."""


@frozen
class ListActors(PageRequest):
    """Threat actors."""

    country: Countries = _ENTITY.facet(_attributed_countries, "attributed", form=str.upper)
    """Comma list of countries they are attributed to."""
    targets_country: Countries = _ENTITY.facet(
        lambda entity: _actor(entity).target_countries, form=str.upper
    )
    """Comma list of countries they target."""
    targets_sector: FilterValues[Name] = _ENTITY.facet(
        lambda entity: _actor(entity).target_sectors, form=str.casefold
    )
    """Comma list of sectors, in any case."""
    technique: Annotated[
        FilterValues[
            Annotated[str, Pattern("[Tt][0-9]{4}(?:[.][0-9]{3})?", "a technique of ATT&CK")]
        ],
        Example(["T1566"]),
    ] = _ENTITY.facet(index="key", form=str.upper)
    """Comma list of techniques of ATT&CK that they use, or that they use a sub-technique of."""
    include_revoked: IncludeRevoked = _ENTITY.key(
        index="revoked", choose=_live_alone, default=False
    )
    updated_since: UpdatedSince = _ENTITY.later(index="updated")
    include: FilterValues[Literal["match", "candidates", LinkName]] = UNSET
    """Theirs, with `q` why each was found, and who else each may be."""
    q: lists.Q = UNSET
    sort: LatestFirst = sort_orders(updatedAt="updated")


def alphabetical_order(name: str, *, is_indicator: bool = False) -> int:
    """The sort key of a name in a list of entities, indicators after all others."""
    return (0 if is_indicator else NAME_ORDERS) - 1 - name_order(name)


ENTITIES: Collection[Entity] = Collection(
    name="entities",
    model=Entity,
    prefix="ent",
    order=lambda entity: alphabetical_order(entity.name, is_indicator=entity.type == "indicator"),
    scope="global",
    layout=Layout(is_compressed=True),
    **_ENTITY.indexes(
        ListEntities, ListActors, facets={"key": keys_of, "label": _labels, "parent": _parents}
    ),
    search=_search,
    form=3,
    kind="entity",
    base=BASE_V2,
)
"""Ordered by name, indicators last. `key` finds a row by any id that it answers to."""
