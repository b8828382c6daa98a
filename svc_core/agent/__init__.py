"""The agent: it answers questions with the service's own tools, and cites what it found."""

from svc_core.agent.credits import CREDITS, LOCAL_OPERATIONS
from svc_core.agent.operations import OPERATIONS
from svc_core.agent.threads import THREAD_TURNS, THREADS
from svc_core.agent.transcript import Transcript, transcribe

__all__ = [
    "CREDITS",
    "LOCAL_OPERATIONS",
    "OPERATIONS",
    "THREADS",
    "THREAD_TURNS",
    "Transcript",
    "transcribe",
]
