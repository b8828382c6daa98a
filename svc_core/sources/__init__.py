"""Parsers of news sources: bytes in, typed observations out; no input or output of their own."""

from svc_core.sources.feeds import parse_feed
from svc_core.sources.model import (
    DocumentRefused,
    FeedItem,
    FeedLimits,
    MissingExtra,
    ParsedFeed,
    Rejection,
)

__all__ = [
    "DocumentRefused",
    "FeedItem",
    "FeedLimits",
    "MissingExtra",
    "ParsedFeed",
    "Rejection",
    "parse_feed",
]
