"""Prediction markets: one row is one proposition with its outcomes."""

from datetime import datetime
from typing import Annotated, Literal

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.intel.entities.model import EntityRef, keys_of
from svc_core.intel.linking.references import text_references
from svc_core.operation.declaration import QUERY
from svc_core.operation.filters import (
    FilterFields,
    FilterValues,
    Name,
    Providers,
    ShareFilter,
    sort_orders,
)
from svc_core.operation.members import (
    CreatedAt,
    EntityId,
    IncidentId,
    PageRequest,
    Share,
    UpdatedAt,
    micros,
)
from svc_core.operation.period import UpdatedSince
from svc_core.operation.ports import BASE_V2, Collection
from svc_core.operation.source_members import Measurement, SourceRef
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.wire.constraints import Doc, Example, Ge, IdOf

MarketId = Annotated[str, IdOf("mkt")]
MarketStatus = Literal["open", "closed", "resolved", "cancelled"]
PriceBasis = Literal["mid", "last", "amm", "resolved"]

LABEL_CHARS = 200  # of an outcome's label, in the index by label
VOLUME_STEPS = 1_000_000  # volumes are indexed as a whole number of millionths
_VOLUME_MAX = 9 * 10**18  # larger volumes are indexed as this one: the index has 64 bits


@frozen
class Outcome:
    """One way in which a question may be decided."""

    label: Annotated[str | None, Doc("As its provider names it."), Example("Yes")]
    probability: Annotated[Share | None, Doc("Null where nobody quotes it."), Example(0.615)]
    price: Annotated[Maybe[Measurement], Doc("What a share of it costs.")] = UNSET
    token_id: Annotated[Maybe[str], Doc("What its provider calls it."), Example("11")] = UNSET


@frozen
class Resolution:
    """How a question was decided."""

    label: Annotated[str | None, Doc("The outcome; null where several share it."), Example("No")]
    resolved_at: Annotated[datetime | None, Doc("When, if told."), Example("2026-01-30T18:00:00Z")]


Amount = Annotated[Measurement | None, Doc("In its provider's unit; null where untold.")]


@frozen(kw_only=True)
class Market:
    """One proposition that people bet on, as its provider tells it."""

    id: MarketId
    question: Annotated[str, Doc("What is asked."), Example("Will the Fed cut rates in March?")]
    type: Annotated[Literal["prediction"], Doc("The kind of market.")]
    category: Annotated[str | None, Doc("As its provider files it."), Example("Economics")]
    status: Annotated[MarketStatus, Doc("How far it is."), Example("open")]
    outcomes: Annotated[tuple[Outcome, ...] | None, Doc("Null where its provider lacks them.")]
    mutually_exclusive: Annotated[bool | None, Doc("Whether at most one of its group comes true.")]
    price_basis: Annotated[
        PriceBasis | None,
        Doc("Of the probabilities: between quotes, the last trade, a maker's, or decided."),
    ]
    resolution: Annotated[Resolution | None, Doc("Null until it is resolved.")]
    volume: Amount
    volume24h: Amount
    liquidity: Amount
    open_interest: Amount
    opens_at: Annotated[datetime | None, Doc("When it opened; null where untold.")]
    closes_at: Annotated[datetime | None, Doc("When trading ends; null where untold.")]
    resolves_at: Annotated[datetime | None, Doc("When a decision is expected; null where untold.")]
    rules: Annotated[str | None, Doc("How it is decided; null where untold.")]
    url: Annotated[str | None, Doc("Its page there."), Example("https://polymarket.com/event/fed")]
    provider: Annotated[str, Doc("Who runs it."), Example("polymarket")]
    provider_market_id: Annotated[str, Doc("What that calls it."), Example("902001")]
    group_id: Annotated[str | None, Doc("What that calls its group, if any."), Example("90200")]
    entities: Annotated[tuple[EntityRef, ...], Doc("Whom its question names, where known.")] = ()
    incident_ids: Annotated[tuple[IncidentId, ...], Doc("Incidents that its question names.")] = ()
    merged_ids: Annotated[tuple[MarketId, ...], Doc("Other ids that answer with this row.")] = ()
    sources: Annotated[tuple[SourceRef, ...], Doc("What the row was made from.")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Doc("Counts its versions from 1."), Example(1)]
    match: MatchMember = UNSET


def volume_steps(volume: float) -> int:
    """A volume in millionths, as the index stores it."""
    return round(min(volume * VOLUME_STEPS, _VOLUME_MAX))


def _volume(market: Market) -> int | None:
    volume = None if market.volume is None else market.volume.value
    return None if volume is None else volume_steps(volume)


def label_key(label: str) -> str:
    """The index key of an outcome's label: casefolded and cut to `LABEL_CHARS`."""
    return label.casefold()[:LABEL_CHARS]


WORDS: FieldIndex[Market] = FieldIndex(
    lambda market: {
        "question": [market.question],
        "outcomes": [outcome.label or "" for outcome in market.outcomes or ()],
        "category": [market.category or ""],
        "rules": [market.rules or ""],
    }
)


def question_references(market: Market) -> dict[str, str]:
    """The entities that a market's question names, by reference, each with the name in the text.

    Names are resolved as of the day on which the market opened, else was first stored.
    """
    return text_references(market.question, (market.opens_at or market.created_at).date())


_MARKET = FilterFields[Market]()


@frozen
class ListMarkets(PageRequest):
    """Prediction markets of every provider."""

    status: Annotated[FilterValues[MarketStatus], Doc("Comma list of statuses.")] = _MARKET.key(
        lambda market: market.status
    )
    provider: Providers = _MARKET.key(lambda market: market.provider)
    category: Annotated[FilterValues[Name], Doc("Comma list of categories, in either case.")] = (
        _MARKET.key(lambda market: market.category, form=str.casefold)
    )
    entity_id: Annotated[FilterValues[EntityId], Doc("Comma list of entities that it names.")] = (
        _MARKET.facet(question_references, "entity")
    )
    min_volume: Annotated[Maybe[float], QUERY, Ge(0), Doc("The least volume, in its unit.")] = (
        _MARKET.number(_volume, "volume", lambda least: (volume_steps(least), None))
    )
    closes_before: Annotated[Maybe[datetime], QUERY, Doc("Whose trading ends before this.")] = (
        _MARKET.earlier(lambda market: market.closes_at, "closes")
    )
    label: Annotated[Maybe[Name], QUERY, Doc("With such an outcome, in either case.")] = (
        _MARKET.facet(
            lambda market: [label_key(item.label) for item in market.outcomes or () if item.label],
            choose=lambda label: (label_key(label),),
        )
    )
    min_probability: Annotated[
        ShareFilter, Doc("The least of that outcome, else of the first.")
    ] = UNSET
    max_probability: Annotated[ShareFilter, Doc("The most, likewise.")] = UNSET
    updated_since: UpdatedSince = _MARKET.later()
    q: lists.Q = UNSET
    sort: Annotated[
        Maybe[Literal["updatedAt", "volume", "closesAt"]],
        QUERY,
        Doc("The last written, the most traded, or the last to close."),
    ] = sort_orders(volume="volume", closesAt="closes")
    include: lists.Include = UNSET


MARKETS: Collection[Market] = Collection(
    name="markets",
    model=Market,
    prefix="mkt",
    order=lambda market: micros(market.updated_at),
    scope="global",
    **_MARKET.indexes(ListMarkets, facets={"key": keys_of}),
    search=WORDS,
    kind="market",
    base=BASE_V2,
)
"""Ordered by the last change. `key` finds a market by its id or a merged id, `entity` by a
reference to an entity that its question names."""
