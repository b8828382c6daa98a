"""What the service does of its own accord: take documents in, make reports that are due.

Each is a loop that claims work before it does it and ends when it is cancelled. Killed at any
point it leaves either nothing or a whole result.
"""

from svc_http.workers.ingest import Outcome, add_source, ingest_loop, pull, pull_all
from svc_http.workers.reporting import make_report
from svc_http.workers.schedule import schedule_loop

__all__ = [
    "Outcome",
    "add_source",
    "ingest_loop",
    "make_report",
    "pull",
    "pull_all",
    "schedule_loop",
]
