"""What the service does of its own accord: take documents in, make due reports, tell webhooks.

Each is a loop that claims work before it does it and ends when it is cancelled. Killed at any
point it leaves either nothing or a whole result.
"""

from svc_http.service.workers.deliveries import deliver_loop, purge_deliveries, take_over
from svc_http.service.workers.intake import add_source, ingest_loop, pull, pull_all, pull_now
from svc_http.service.workers.reports import make_report
from svc_http.service.workers.retention import forget_loop, forget_threads
from svc_http.service.workers.schedules import schedule_loop
from svc_http.service.workers.secrets import renew_secrets

__all__ = [
    "add_source",
    "deliver_loop",
    "forget_loop",
    "forget_threads",
    "ingest_loop",
    "make_report",
    "pull",
    "pull_all",
    "pull_now",
    "purge_deliveries",
    "renew_secrets",
    "schedule_loop",
    "take_over",
]
