"""The catalogue: every operation and every collection of the service, read by everything above."""

from typing import Any

from svc_core import (
    accounts,
    agent,
    automations,
    changes,
    indexing,
    intel,
    knowledge,
    news,
    osint,
    profiles,
    projects,
    publications,
    reports,
    webhooks,
)
from svc_core.accounts import KEYS, MEMBERS, USERS, WORKSPACES, lockouts
from svc_core.agent import CREDITS, THREAD_TURNS, THREADS
from svc_core.changes import operations as feed
from svc_core.corpus import TERM_COUNTS, TERMS
from svc_core.embeddings import VECTORS
from svc_core.intake import offers, settling
from svc_core.intake import operations as sources
from svc_core.intake.contributions import CONTRIBUTIONS, MERGED_ROWS
from svc_core.ledger import local_operations as ledger_local
from svc_core.ledger import operations as ledger
from svc_core.ledger.signing_key import SIGNING_KEYS
from svc_core.operation import Operation
from svc_core.payments import operations as payments
from svc_core.payments import store as payment_rows
from svc_core.ports import Collection
from svc_core.reports import local_operations as reports_local
from svc_core.resources import audio, profile, webhook
from svc_core.resources import news as news_rows
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

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *reports.OPERATIONS,
    *profiles.OPERATIONS,
    *projects.OPERATIONS,
    *automations.OPERATIONS,
    *news.OPERATIONS,
    *osint.OPERATIONS,
    *intel.OPERATIONS,
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
    *agent.LOCAL_OPERATIONS,
    *sources.LOCAL_OPERATIONS,
    *offers.LOCAL_OPERATIONS,
    *settling.LOCAL_OPERATIONS,
    *intel.LOCAL_OPERATIONS,
    *knowledge.LOCAL_OPERATIONS,
    *publications.LOCAL_OPERATIONS,
    *reports_local.LOCAL_OPERATIONS,
    *ledger_local.LOCAL_OPERATIONS,
    *feed.LOCAL_OPERATIONS,
    *payments.LOCAL_OPERATIONS,
)
"""What no public route serves: the control socket, the command line and the dashboard run them."""

COLLECTIONS: tuple[Collection[Any], ...] = (
    WORKSPACES,
    USERS,
    MEMBERS,
    KEYS,
    CREDITS,
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
