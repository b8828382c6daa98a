"""Feeds as the documents that they are read as."""

from svc_core.sources import ParsedFeed
from svc_core.sources.formats import FORMATS, Document, whole
from svc_core.sources.news import told


def document_of(feed: ParsedFeed) -> Document:
    """The document that a feed was read from."""
    return whole(FORMATS["rss" if feed.format == "rss-json" else feed.format], told(feed))
