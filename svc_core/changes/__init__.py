"""The change feed: every change that a caller can read, in commit order."""

from svc_core.changes.operations import OPERATIONS

__all__ = ["OPERATIONS"]
