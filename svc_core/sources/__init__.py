"""Parsers of news sources: bytes in, typed observations out; no input or output of their own."""

from svc_core.sources.feeds import parse_feed
from svc_core.sources.links import canonical as canonical_url
from svc_core.sources.model import (
    FeedFormat,
    FeedItem,
    FeedLimits,
    FeedRefused,
    MissingExtra,
    ParsedFeed,
    Rejection,
)
from svc_core.sources.text import plain as plain_text

__all__ = [
    "FeedFormat",
    "FeedItem",
    "FeedLimits",
    "FeedRefused",
    "MissingExtra",
    "ParsedFeed",
    "Rejection",
    "canonical_url",
    "parse_feed",
    "plain_text",
]
