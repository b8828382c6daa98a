"""News: items taken from feeds, the sources they come from, and the 40 topics."""

from svc_core.news.operations import OPERATIONS

__all__ = ["OPERATIONS"]
