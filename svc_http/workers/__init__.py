"""What the service does of its own accord: take documents in, make due reports, tell webhooks.

Each is a loop that claims work before it does it and ends when it is cancelled. Killed at any
point it leaves either nothing or a whole result.
"""

from svc_http.workers.deliver import deliver_loop, purge_deliveries, take_over
from svc_http.workers.forget import forget_loop, forget_threads
from svc_http.workers.ingest import add_source, ingest_loop, pull, pull_all, pull_now
from svc_http.workers.renew import renew_secrets
from svc_http.workers.reporting import make_report
from svc_http.workers.schedule import schedule_loop

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
