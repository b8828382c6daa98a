"""The collection envelope and its line form (Spec: Collection envelope, Representation rules).

Rows arrive as wire bytes and are spliced, never decoded: the cost of a page is one join.
"""

from svc_core import compact
from svc_core.result import Page

_text = compact.encoder()

DEPRECATED_COUNT = "count"  # Spec: Versioning 4: meta.count stays beside meta.pageCount on v1


def page(result: Page[object], *, next_link: str | None, aliases: bool) -> bytes:
    """`{"data": [...], "meta": {...}, "links": {"next": ...}}` of one page of rows."""
    meta: dict[str, object] = {"pageCount": len(result.rows)}
    if aliases:
        meta[DEPRECATED_COUNT] = len(result.rows)
    meta["page"] = {"nextCursor": result.next_cursor}
    meta.update(result.meta)
    tail = _text({"meta": meta, "links": {"next": next_link}})
    return b'{"data":[%b],%b' % (b",".join(result.rows), tail[1:].encode())


def lines(result: Page[object]) -> bytes:
    """The rows as NDJSON: one value and one line feed each, the last one too."""
    return b"".join(row + b"\n" for row in result.rows)


def one(raw: bytes) -> bytes:
    """`{"data": ...}` around one resource."""
    return b'{"data":' + raw + b"}"
