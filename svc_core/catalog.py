"""The catalogue: every operation and every collection of the service, read by everything above."""

from typing import Any

from svc_core import indexing, publications
from svc_core.accounts import lockouts
from svc_core.accounts import operations as accounts
from svc_core.agent import credits
from svc_core.agent import operations as agent
from svc_core.agent.threads import THREAD_TURNS, THREADS
from svc_core.automations import operations as automations
from svc_core.changes import operations as changes
from svc_core.corpus import TERM_COUNTS, TERMS
from svc_core.embeddings import VECTORS
from svc_core.intake import offers, settling
from svc_core.intake import operations as sources
from svc_core.intake.contributions import CONTRIBUTIONS, MERGED_ROWS
from svc_core.intel import (
    actors,
    cves,
    cyber_graph,
    entities,
    finance,
    finint,
    graphs,
    markets,
    matching,
    signals,
)
from svc_core.intel.fusion import operations as fusion
from svc_core.intel.incidents import operations as incidents
from svc_core.knowledge import operations as knowledge
from svc_core.knowledge import reindexing
from svc_core.ledger import local_operations as ledger_local
from svc_core.ledger import operations as ledger
from svc_core.ledger.signing_key import SIGNING_KEYS
from svc_core.news import operations as news
from svc_core.operation import Operation
from svc_core.osint import countries, events, feeds, regional
from svc_core.osint import finint as country_finint
from svc_core.payments import operations as payments
from svc_core.payments import store as payment_rows
from svc_core.ports import Collection
from svc_core.profiles import operations as profiles
from svc_core.profiles import subscriptions
from svc_core.projects import operations as projects
from svc_core.reports import local_operations as reports_local
from svc_core.reports import operations as reports
from svc_core.resources import audio, profile, webhook
from svc_core.resources import news as news_rows
from svc_core.resources.account import KEYS, MEMBERS, USERS, WORKSPACES
from svc_core.resources.automation import AUTOMATIONS, RUNS, WORK
from svc_core.resources.countries import COUNTRIES
from svc_core.resources.cve import CVES
from svc_core.resources.entity import ENTITIES
from svc_core.resources.finance import FILINGS, OBSERVATIONS
from svc_core.resources.finint import FININT, FININT_SERIES
from svc_core.resources.incident import INCIDENTS, INCIDENTS_DUE
from svc_core.resources.market import MARKETS
from svc_core.resources.osint import OSINT_EVENTS
from svc_core.resources.project import PROJECTS
from svc_core.resources.relation import RELATIONS
from svc_core.resources.report import FACETS, REPORTS
from svc_core.resources.signal import DETECTIONS_DUE, MARKET_POINTS, SIGNALS
from svc_core.resources.source import SOURCES
from svc_core.webhooks import operations as webhooks

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *reports.OPERATIONS,
    *profiles.OPERATIONS,
    *subscriptions.OPERATIONS,
    *projects.OPERATIONS,
    *automations.OPERATIONS,
    *news.OPERATIONS,
    *events.OPERATIONS,
    *regional.OPERATIONS,
    *feeds.OPERATIONS,
    *countries.OPERATIONS,
    *country_finint.OPERATIONS,
    *incidents.OPERATIONS,
    *entities.OPERATIONS,
    *graphs.OPERATIONS,
    *cves.OPERATIONS,
    *actors.OPERATIONS,
    *cyber_graph.OPERATIONS,
    *markets.OPERATIONS,
    *finance.OPERATIONS,
    *finint.OPERATIONS,
    *fusion.OPERATIONS,
    *signals.OPERATIONS,
    *knowledge.OPERATIONS,
    *webhooks.OPERATIONS,
    *ledger.OPERATIONS,
    *agent.OPERATIONS,
    *changes.OPERATIONS,
    *payments.OPERATIONS,
)

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *accounts.LOCAL_OPERATIONS,
    *lockouts.LOCAL_OPERATIONS,
    *credits.LOCAL_OPERATIONS,
    *sources.LOCAL_OPERATIONS,
    *offers.LOCAL_OPERATIONS,
    *settling.LOCAL_OPERATIONS,
    *matching.LOCAL_OPERATIONS,
    *signals.LOCAL_OPERATIONS,
    *reindexing.LOCAL_OPERATIONS,
    *publications.LOCAL_OPERATIONS,
    *reports_local.LOCAL_OPERATIONS,
    *ledger_local.LOCAL_OPERATIONS,
    *changes.LOCAL_OPERATIONS,
    *payments.LOCAL_OPERATIONS,
)
"""What no public route serves: the control socket, the command line and the dashboard run them."""

COLLECTIONS: tuple[Collection[Any], ...] = (
    WORKSPACES,
    USERS,
    MEMBERS,
    KEYS,
    credits.CREDITS,
    THREADS,
    THREAD_TURNS,
    SOURCES,
    *news_rows.COLLECTIONS,
    VECTORS,
    TERMS,
    TERM_COUNTS,
    CONTRIBUTIONS,
    MERGED_ROWS,
    OSINT_EVENTS,
    ENTITIES,
    CVES,
    RELATIONS,
    INCIDENTS,
    INCIDENTS_DUE,
    COUNTRIES,
    FININT,
    FININT_SERIES,
    OBSERVATIONS,
    FILINGS,
    SIGNALS,
    MARKET_POINTS,
    DETECTIONS_DUE,
    *indexing.COLLECTIONS,
    MARKETS,
    *profile.COLLECTIONS,
    PROJECTS,
    AUTOMATIONS,
    RUNS,
    WORK,
    REPORTS,
    FACETS,
    *audio.COLLECTIONS,
    *webhook.COLLECTIONS,
    SIGNING_KEYS,
    *payment_rows.COLLECTIONS,
)
