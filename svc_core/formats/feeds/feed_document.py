"""Parses a feed document of any format from bytes into a `ParsedFeed`.

The content of the document decides its format, not its address, name or content type.
"""

from datetime import tzinfo

from svc_core.formats.feeds.entry_drafts import Channel
from svc_core.formats.feeds.jsonfeed import parse_json
from svc_core.formats.feeds.model import FeedLimits, ParsedFeed
from svc_core.formats.feeds.xmlfeed import parse_xml
from svc_core.formats.model import DocumentRefused
from svc_core.formats.reading.document_body import Body


def parse_feed(
    body: bytes,
    *,
    base_url: str | None = None,
    content_type: str | None = None,
    zone: tzinfo | None = None,
    country_zone: tzinfo | None = None,
    limits: FeedLimits = FeedLimits(),  # noqa: B008  frozen
) -> ParsedFeed:
    """Parses one feed: RSS 0.9x/1.0/2.0, Atom, JSON Feed 1.x or RSS-in-JSON.

    `base_url` is the address the document came from; relative links that the document does not
    resolve itself are resolved against it. Of `content_type` only the charset is used. Dates
    without a zone are read by the clock of `zone`, else in the zone of the document's other dates,
    else by that of `country_zone`, else in UTC.

    Raises:
        DocumentRefused: the document is not a feed, not whole, or past one of `limits`.
        MissingExtra: it is XML, and feedparser is not installed.
    """
    if not body.strip():
        raise DocumentRefused("empty", "The document is empty.")
    if len(body) > limits.body_bytes:
        raise DocumentRefused("tooLarge", f"The document is larger than {limits.body_bytes} bytes.")
    document = Body(body, content_type)
    channel = Channel(limits, base_url=base_url, zone=zone, country_zone=country_zone)
    if document.text.startswith("<"):
        return parse_xml(document.text, channel)
    if document.text.startswith(("{", "[")):
        return parse_json(document.whole_json(), channel)
    raise DocumentRefused("notAFeed", "The document is neither XML nor JSON.")
