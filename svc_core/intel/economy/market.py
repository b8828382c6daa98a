"""Prediction markets: one row is one proposition with its outcomes."""

from collections.abc import Mapping
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
    UNDATED,
    CreatedAt,
    EntityId,
    IncidentId,
    PageRequest,
    Share,
    UpdatedAt,
    micros,
    micros_or_never,
)
from svc_core.operation.period import UpdatedSince
from svc_core.operation.ports import BASE_V2, Collection
from svc_core.operation.source_members import Measurement, SourceRef
from svc_core.search import lists
from svc_core.search.field_index import FieldIndex, MatchMember
from svc_core.search.row_names import RowNames
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

    label: Annotated[str | None, Example("Yes")]
    """As its provider names it."""
    probability: Annotated[Share | None, Example(0.615)]
    """Null where nobody quotes it."""
    price: Maybe[Measurement] = UNSET
    """What a share of it costs."""
    token_id: Annotated[Maybe[str], Example("11")] = UNSET
    """What its provider calls it."""


@frozen
class Resolution:
    """How a question was decided."""

    label: Annotated[str | None, Example("No")]
    """The outcome; null where several share it."""
    resolved_at: Annotated[datetime | None, Example("2026-01-30T18:00:00Z")]
    """When, if told."""


Amount = Annotated[Measurement | None, Doc("In its provider's unit; null where untold.")]


@frozen(kw_only=True)
class Market:
    """One proposition that people bet on, as its provider tells it."""

    id: MarketId
    question: Annotated[str, Example("Will the Fed cut rates in March?")]
    """What is asked."""
    type: Literal["prediction"]
    """The kind of market."""
    category: Annotated[str | None, Example("Economics")]
    """As its provider files it."""
    status: Annotated[MarketStatus, Example("open")]
    """How far it is; past its end it is not open."""
    outcomes: tuple[Outcome, ...] | None
    """Null where its provider lacks them."""
    mutually_exclusive: bool | None
    """Whether at most one of its group comes true."""
    price_basis: PriceBasis | None
    """Of the probabilities: between quotes, the last trade, a maker's, or decided."""
    resolution: Resolution | None
    """Null until it is resolved."""
    volume: Amount
    volume24h: Amount
    liquidity: Amount
    open_interest: Amount
    opens_at: datetime | None
    """When it opened; null where untold."""
    closes_at: datetime | None
    """When trading ends; null where untold."""
    resolves_at: datetime | None
    """When a decision is expected; null where untold."""
    rules: str | None
    """How it is decided; null where untold."""
    url: Annotated[str | None, Example("https://polymarket.com/event/fed")]
    """Its page there."""
    provider: Annotated[str, Example("polymarket")]
    """Who runs it."""
    provider_market_id: Annotated[str, Example("902001")]
    """What that calls it."""
    group_id: Annotated[str | None, Example("90200")]
    """What that calls its group, if any."""
    entities: tuple[EntityRef, ...] = ()
    """Whom its question names, where known."""
    incident_ids: tuple[IncidentId, ...] = ()
    """Incidents that its question names."""
    merged_ids: tuple[MarketId, ...] = ()
    """Other ids that answer with this row."""
    sources: tuple[SourceRef, ...]
    """What the row was made from."""
    created_at: CreatedAt
    updated_at: UpdatedAt
    revision: Annotated[int, Ge(1), Example(1)]
    """Counts its versions from 1."""
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


def open_until(market: Market) -> int | None:
    """The last instant at which a market is open: its end, or `NEVER` where it has none.

    For a closed one `UNDATED`, and none for one that is decided. So a range of this number selects
    what is open, or what is closed, at any time.
    """
    if market.status == "open":
        return micros_or_never(market.closes_at)
    return UNDATED if market.status == "closed" else None


def status_at(market: Market, now: datetime) -> MarketStatus:
    """The status of a market at a time: past its end one is closed, whatever was last read."""
    end = open_until(market)
    return "closed" if end is not None and end < micros(now) else market.status


WORDS: FieldIndex[Market] = FieldIndex(
    lambda market: {
        "question": [market.question],
        "outcomes": [outcome.label or "" for outcome in market.outcomes or ()],
        "category": [market.category or ""],
        "rules": [market.rules or ""],
    },
    names=lambda market: RowNames(market.question, (), [market.provider_market_id], prominence=0),
    levels=(0,),
)


def question_references(market: Market) -> Mapping[str, str]:
    """The entities that a market's question names, by reference, each with the name in the text.

    Names are resolved as of the day on which the market opened, else was first stored.
    """
    return text_references(market.question, (market.opens_at or market.created_at).date())


_MARKET = FilterFields[Market]()


@frozen
class ListMarkets(PageRequest):
    """Prediction markets of every provider."""

    status: FilterValues[MarketStatus] = _MARKET.key(lambda market: market.status)
    """Comma list of statuses, as they are now."""
    provider: Providers = _MARKET.key(lambda market: market.provider)
    category: FilterValues[Name] = _MARKET.key(lambda market: market.category, form=str.casefold)
    """Comma list of categories, in either case."""
    entity_id: FilterValues[EntityId] = _MARKET.facet(question_references, "entity")
    """Comma list of entities that it names."""
    min_volume: Annotated[Maybe[float], QUERY, Ge(0)] = _MARKET.number(
        _volume, "volume", lambda least: (volume_steps(least), None)
    )
    """The least volume, in its unit."""
    closes_before: Annotated[Maybe[datetime], QUERY] = _MARKET.earlier(
        lambda market: market.closes_at, "closes"
    )
    """Whose trading ends before this."""
    label: Annotated[Maybe[Name], QUERY] = _MARKET.facet(
        lambda market: [label_key(item.label) for item in market.outcomes or () if item.label],
        choose=lambda label: (label_key(label),),
    )
    """With such an outcome, in either case."""
    min_probability: ShareFilter = UNSET
    """The least of that outcome, else of the first."""
    max_probability: ShareFilter = UNSET
    """The most of that outcome, else of the first."""
    updated_since: UpdatedSince = _MARKET.later()
    q: lists.Q = UNSET
    sort: Annotated[Maybe[Literal["updatedAt", "volume", "closesAt"]], QUERY] = sort_orders(
        volume="volume", closesAt="closes"
    )
    """The last written, the most traded, or the last to close."""
    include: lists.Include = UNSET


MARKETS: Collection[Market] = Collection(
    name="markets",
    model=Market,
    prefix="mkt",
    order=lambda market: micros(market.updated_at),
    scope="global",
    **_MARKET.indexes(ListMarkets, facets={"key": keys_of}, numbers={"open_until": open_until}),
    search=WORDS,
    form=3,
    kind="market",
    base=BASE_V2,
)
"""Ordered by the last change. `key` finds a market by its id or a merged id, `entity` by a
reference to an entity that its question names."""
