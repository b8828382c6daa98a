"""Parsers of news sources: bytes in, typed observations out; no input or output of their own."""

from svc_core.sources.feeds import parse_feed
from svc_core.sources.model import (
    FeedItem,
    FeedLimits,
    FeedRefused,
    MissingExtra,
    ParsedFeed,
    Rejection,
)

__all__ = [
    "FeedItem",
    "FeedLimits",
    "FeedRefused",
    "MissingExtra",
    "ParsedFeed",
    "Rejection",
    "parse_feed",
]
