"""Knowledge: reports and signals found by words and by meaning (Spec: Global knowledge)."""

from svc_core.knowledge.operations import OPERATIONS
from svc_core.knowledge.reindexing import LOCAL_OPERATIONS

__all__ = ["LOCAL_OPERATIONS", "OPERATIONS"]
