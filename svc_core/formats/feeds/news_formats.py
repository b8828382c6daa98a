"""Declares the formats of news feeds: RSS, Atom, RDF and JSON Feed."""

from collections.abc import Callable

from svc_core.formats.feeds.feed_document import parse_feed
from svc_core.formats.feeds.model import FeedItem, ParsedFeed
from svc_core.formats.model import Contents, Metadata, Origin, Record
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import MEBI, Format
from svc_core.formats.reading.values import rfc3339


def _parse(body: Body, origin: Origin) -> Contents:
    return feed_contents(
        parse_feed(
            body.data,
            base_url=origin.base_url,
            content_type=origin.content_type,
            zone=origin.zone,
            country_zone=origin.country_zone,
        )
    )


def feed_contents(feed: ParsedFeed) -> Contents:
    """Yields the metadata, the records and the rejections of a feed."""
    yield Metadata(title=feed.title, home_url=feed.home_url, language=feed.language)
    for item in feed.items:
        yield _record(item, feed.language)
    yield from feed.rejections


def _record(item: FeedItem, language: str | None) -> Record:
    members = {
        "title": item.title,
        "summary": item.summary,
        "text": item.text,
        "url": item.url,
        "sourceUrl": item.source_url,
        "publishedAt": rfc3339(item.published_at),
        "publishedBasis": item.published_basis,
        "updatedAt": rfc3339(item.updated_at),
        "language": item.language or language,
        "authors": item.authors,
        "categories": item.categories,
        "imageUrl": item.image_url,
    }
    return Record(
        "newsItem",
        item.natural_key,
        members,
        stamp=item.updated_at or item.published_at,
        record_id=item.natural_key,
        url=item.source_url,
        published_at=item.published_at,
    )


def _is_rss(body: Body) -> bool:
    return body.root == "rss" or (body.has("rss") and isinstance(body.json["rss"], dict))


def _is_json_feed(body: Body) -> bool:
    version = body.json.get("version") if body.has("version") else None
    return isinstance(version, str) and "jsonfeed.org/version" in version


def _feed(id_: str, title: str, recognise: Callable[[Body], bool]) -> Format:
    return Format(
        id=id_,
        title=title,
        kind="window",
        provider=None,
        resources=("newsItem",),
        recognise=recognise,
        parse=_parse,
        options={
            "timezone": "IANA zone of its dates that name none, such as Europe/Paris",
            "country": "where it is published, ISO 3166-1 alpha-2",
            "tier": "1 (wire or official) to 4",
            "stateAffiliated": "true or false",
        },
        cadence_seconds=900,  # most publishers ask readers not to come more than four times an hour
        bytes_max=10 * MEBI,
    )


FEEDS = (
    _feed("rss", "RSS 0.9x and 2.0, also as JSON", _is_rss),
    _feed("atom", "Atom", lambda body: body.root == "feed"),
    _feed("rdf", "RSS 0.90 and 1.0 (RDF)", lambda body: body.root == "RDF"),
    _feed("jsonfeed", "JSON Feed 1.0 and 1.1", _is_json_feed),
)
