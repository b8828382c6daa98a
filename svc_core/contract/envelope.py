"""Writes the bodies of answers: pages, GeoJSON collections, NDJSON and single resources.

The forms are those of the spec (Collection envelope, Representation rules). Rows arrive as wire
bytes and are spliced, never decoded: the cost of a page is one join.
"""

from collections.abc import Mapping
from datetime import datetime

from svc_core.base import instants
from svc_core.base.compact import compact_text
from svc_core.contract.result import Page, PagedResource

DEPRECATED_COUNT = "count"  # Spec: Versioning 4: meta.count stays beside meta.pageCount on v1


def page_body(result: Page[object], *, next_link: str | None, aliases: bool) -> bytes:
    """`{"data": [...], "meta": {...}, "links": {"next": ...}}` of one page of rows."""
    tail = compact_text({"meta": _meta(result, aliases), "links": {"next": next_link}})
    data = result.raw if isinstance(result, PagedResource) else b"[%b]" % b",".join(result.rows)
    return b'{"data":%b,%b' % (data, tail[1:].encode())


def feature_collection(
    result: Page[object], *, links: Mapping[str, str], timestamp: datetime, aliases: bool
) -> bytes:
    """A page whose rows are GeoJSON features as a FeatureCollection (RFC 7946).

    `links` are addresses by their relation; with `numberReturned` and `timeStamp` they stand as
    clients of OGC API Features (part 1, 7.16) expect them. `meta` is that of the envelope.
    """
    tail = compact_text(
        {
            "numberReturned": len(result.rows),
            "timeStamp": instants.render(timestamp),
            "links": [
                {"href": href, "rel": rel, "type": "application/geo+json"}
                for rel, href in links.items()
            ],
            "meta": _meta(result, aliases),
        }
    )
    rows = b",".join(result.rows)
    return b'{"type":"FeatureCollection","features":[%b],%b' % (rows, tail[1:].encode())


def _meta(result: Page[object], aliases: bool) -> dict[str, object]:
    meta: dict[str, object] = {"pageCount": len(result.rows)}
    if aliases:
        meta[DEPRECATED_COUNT] = len(result.rows)
    meta["page"] = {"nextCursor": result.next_cursor}
    return meta | dict(result.meta)


def ndjson(result: Page[object]) -> bytes:
    """The rows as NDJSON: one value and one line feed each, the last one too."""
    return b"".join(row + b"\n" for row in result.rows)


def resource_body(raw: bytes) -> bytes:
    """`{"data": ...}` around one resource."""
    return b'{"data":' + raw + b"}"
