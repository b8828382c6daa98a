"""The catalogue: the lists of all operations and all collections of the service."""

from typing import Any

from svc_core.access import audit, chat_credits, lockouts, workspace_members
from svc_core.access import operations as accounts
from svc_core.access import person_operations as people
from svc_core.access.model import ENDINGS, KEYS, MEMBERS, USERS, WORKSPACES
from svc_core.access.one_use_links import LINKS
from svc_core.access.people import CREDENTIALS
from svc_core.access.person_sessions import SESSIONS
from svc_core.agent import operations as agent
from svc_core.agent import thread_commands as conversations
from svc_core.agent.threads import THREAD_HEADS, THREAD_TURNS, THREADS
from svc_core.automations import operations as automations
from svc_core.automations.model import AUTOMATIONS, RUNS, WORK
from svc_core.catalog.workspace_rows import workspace_operations
from svc_core.changes import operations as changes
from svc_core.intel.countries import operations as countries
from svc_core.intel.countries.model import COUNTRIES
from svc_core.intel.economy import finance, indicators
from svc_core.intel.economy import market_lists as markets
from svc_core.intel.economy.indicator import FININT, FININT_SERIES
from svc_core.intel.economy.market import MARKETS
from svc_core.intel.economy.statement import FILINGS, OBSERVATIONS
from svc_core.intel.entities import actors
from svc_core.intel.entities import bulk_screening as matching
from svc_core.intel.entities import operations as entities
from svc_core.intel.entities import settlement as settling
from svc_core.intel.entities.model import ENTITIES
from svc_core.intel.entities.relation import RELATIONS
from svc_core.intel.entities.vulnerability import CVES
from svc_core.intel.events import operations as events
from svc_core.intel.events import regional
from svc_core.intel.events.model import OSINT_EVENTS
from svc_core.intel.folding.contributions import CONTRIBUTIONS, MERGED_ROWS
from svc_core.intel.folding.model import SOURCES
from svc_core.intel.fusion import operations as fusion
from svc_core.intel.graphs import cyber_graph
from svc_core.intel.graphs import operations as graphs
from svc_core.intel.incidents import incident_signals
from svc_core.intel.incidents import operations as incidents
from svc_core.intel.incidents.model import INCIDENTS, INCIDENTS_DUE
from svc_core.intel.intake import catalogue as offers
from svc_core.intel.intake import operations as sources
from svc_core.intel.intake import source_reports as feeds
from svc_core.intel.news import model as news_rows
from svc_core.intel.news import operations as news
from svc_core.intel.news.news_corpus import ITEMS
from svc_core.intel.news.vectors import VECTORS
from svc_core.intel.signals import operations as signals
from svc_core.intel.signals.model import DETECTION_REVIEWS, DETECTIONS_DUE, MARKET_POINTS, SIGNALS
from svc_core.intel.signals.signal_index import SIGNAL_INDEX
from svc_core.intel.vulnerabilities import operations as cves
from svc_core.intel.vulnerabilities.cve_vectors import CVE_VECTORS
from svc_core.knowledge import index_upkeep as reindexing
from svc_core.knowledge import operations as knowledge
from svc_core.knowledge import row_search
from svc_core.ledger import local_operations as ledger_local
from svc_core.ledger import operations as ledger
from svc_core.ledger.signing_key import SIGNING_KEYS
from svc_core.operation.declaration import Operation
from svc_core.operation.ports import Collection
from svc_core.outbox import model as webhook
from svc_core.payments import operations as payments
from svc_core.payments import store as payment_rows
from svc_core.projects import operations as projects
from svc_core.projects.model import PROJECTS
from svc_core.reports import audio, publications, report_requests
from svc_core.reports import operations as reports
from svc_core.reports import report_commands as reports_local
from svc_core.reports.model import FACETS, REPORTS
from svc_core.reports.profiles import model as profile
from svc_core.reports.profiles import operations as profiles
from svc_core.reports.profiles import subscriptions
from svc_core.reports.report_index import REPORT_INDEX
from svc_core.webhooks import operations as webhooks

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *reports.OPERATIONS,
    *profiles.OPERATIONS,
    *report_requests.OPERATIONS,
    *subscriptions.OPERATIONS,
    *projects.OPERATIONS,
    *automations.OPERATIONS,
    *news.OPERATIONS,
    *events.OPERATIONS,
    *regional.OPERATIONS,
    *feeds.OPERATIONS,
    *countries.OPERATIONS,
    *indicators.OSINT_OPERATIONS,
    *incidents.OPERATIONS,
    *entities.OPERATIONS,
    *graphs.OPERATIONS,
    *cves.OPERATIONS,
    *actors.OPERATIONS,
    *cyber_graph.OPERATIONS,
    *markets.OPERATIONS,
    *finance.OPERATIONS,
    *indicators.OPERATIONS,
    *fusion.OPERATIONS,
    *incident_signals.OPERATIONS,
    *signals.OPERATIONS,
    *knowledge.OPERATIONS,
    *webhooks.OPERATIONS,
    *ledger.OPERATIONS,
    *agent.OPERATIONS,
    *changes.OPERATIONS,
    *payments.OPERATIONS,
)

COLLECTIONS: tuple[Collection[Any], ...] = (
    WORKSPACES,
    ENDINGS,
    USERS,
    MEMBERS,
    KEYS,
    CREDENTIALS,
    SESSIONS,
    LINKS,
    *audit.COLLECTIONS,
    chat_credits.CREDITS,
    THREADS,
    THREAD_TURNS,
    THREAD_HEADS,
    SOURCES,
    *news_rows.COLLECTIONS,
    VECTORS,
    ITEMS.state,
    ITEMS.counts,
    CONTRIBUTIONS,
    MERGED_ROWS,
    OSINT_EVENTS,
    ENTITIES,
    CVES,
    CVE_VECTORS,
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
    DETECTION_REVIEWS,
    *REPORT_INDEX.collections,
    *SIGNAL_INDEX.collections,
    MARKETS,
    *profile.COLLECTIONS,
    report_requests.REPORT_REQUESTS,
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

LOCAL_OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *accounts.LOCAL_OPERATIONS,
    *workspace_members.LOCAL_OPERATIONS,
    *people.LOCAL_OPERATIONS,
    *audit.LOCAL_OPERATIONS,
    *lockouts.LOCAL_OPERATIONS,
    *chat_credits.LOCAL_OPERATIONS,
    *conversations.LOCAL_OPERATIONS,
    *sources.LOCAL_OPERATIONS,
    *offers.LOCAL_OPERATIONS,
    *settling.LOCAL_OPERATIONS,
    *matching.LOCAL_OPERATIONS,
    *signals.LOCAL_OPERATIONS,
    *reindexing.LOCAL_OPERATIONS,
    *row_search.LOCAL_OPERATIONS,
    *publications.LOCAL_OPERATIONS,
    *reports_local.LOCAL_OPERATIONS,
    *ledger_local.LOCAL_OPERATIONS,
    *changes.LOCAL_OPERATIONS,
    *payments.LOCAL_OPERATIONS,
    *workspace_operations(COLLECTIONS),
)
"""Operations without a public route: run by the control socket, command line and dashboard."""
