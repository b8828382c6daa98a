"""The table of all kinds of rows: how each is identified, folded and stored."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from svc_core.intel.countries.model import COUNTRIES
from svc_core.intel.economy import series, statements
from svc_core.intel.economy.indicator import FININT
from svc_core.intel.economy.market import MARKETS
from svc_core.intel.economy.statement import FILINGS, OBSERVATIONS
from svc_core.intel.entities import relations
from svc_core.intel.entities import rules as entities
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.events import rules as events
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding.contributions import Contribution
from svc_core.intel.folding.kind import RowKind
from svc_core.intel.folding.rules import Rules
from svc_core.intel.incidents import queue as incidents
from svc_core.intel.linking.references import id_of
from svc_core.intel.news import items
from svc_core.intel.news.model import NEWS
from svc_core.intel.signals import detection_queue as signals
from svc_core.intel.signals.scores import follow_scores
from svc_core.intel.vulnerabilities import rules as vulnerabilities
from svc_core.intel.vulnerabilities.cve_vectors import remove_cve_vectors


def _market_row(members: dict[str, Any], _: Sequence[Contribution]) -> dict[str, Any] | None:
    """The members of a market's row; None without its question."""
    return members if members.get("question") else None


_TABLE = (
    RowKind("newsItem", "obs", Rules(is_single=True), NEWS, own_members=("retrievedAt", "storyId"),
            locate=items.row_id, is_keyed_by_row=True, state=items.news_members,
            source_context=items.item_context, words=items.item_words,
            follows=(items.follow_news, incidents.queue_story_incidents,
            signals.follow_items)),
    RowKind("osintEvent", "obs", events.RULES, OSINT_EVENTS,
            own_members=("incidentId",), is_joined=True, finish=events.event_members,
            follows=(incidents.queue_event_incidents, signals.follow_events)),
    # A country has its code for an id.
    RowKind("country", "", Rules(("countries", "country-codes", "geonames")), COUNTRIES,
            identify=str),
    RowKind("place", "plc"),
    RowKind("indicator", "fin", Rules(is_single=True), FININT, is_idle=series.is_refetch,
            follows=(series.note_series, signals.follow_values)),
    entities.KIND,
    RowKind("cve", "ent", vulnerabilities.RULES, CVES, is_joined=True, identify=id_of,
            exclusive_names=entities.exclusive_names, finish=vulnerabilities.cve_row,
            is_quiet=vulnerabilities.is_quiet, earlier="epss",
            follows=(follow_scores, incidents.queue_exposed_incidents, remove_cve_vectors)),
    # A delta names what it changes by an id, a collection by its ends.
    RowKind("relation", "rel", relations.RULES, RELATIONS, is_joined=True,
            finish=relations.relation_row),
    RowKind("incident", "inc", listen=incidents.follow_reports),
    RowKind("market", "mkt", collection=MARKETS, is_joined=True, finish=_market_row),
    RowKind("financialObservation", "obs", collection=OBSERVATIONS,
    own_members=statements.DERIVED_MEMBERS,
            finish=statements.observation_members, settle=statements.settle_succession),
    RowKind("filing", "obs", collection=FILINGS, finish=statements.filing_members),
    RowKind("mention", "obs", locate=incidents.mention_of, listen=incidents.follow_mentions),
)  # fmt: skip

KINDS: Mapping[str, RowKind] = MappingProxyType({kind.resource: kind for kind in _TABLE})
