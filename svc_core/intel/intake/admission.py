"""Whether a document that has come is to be taken in, and how it is remembered.

Rule 1: bytes that were taken in are known; so is a delta that was taken in before others.
Rule 2: a snapshot that is older by its own stamp than the one that is known says nothing.
Rule 3: a snapshot that lacks a fifth of what was known is refused whole.
"""

from hashlib import sha256

import attrs

from svc_core.formats.model import DocumentRefused
from svc_core.formats.table import Document, is_older
from svc_core.intel.folding.model import Source

SHRUNK_SHARE = 0.8
"""A snapshot with fewer of the records that were known is refused: catalogues were published cut
off, and none of them loses a fifth of its entries in a day."""

DELTAS_KEPT, DELTA_CHARS = 500, 16
"""Deltas of one source that are remembered, each by the beginning of its digest."""


def digest(body: bytes) -> str:
    """What the bytes of a document are known by."""
    return sha256(body).hexdigest()


def is_known(source: Source, digest: str) -> bool:
    """Whether the document with this digest was taken in from the source."""
    return digest == source.digest or digest[:DELTA_CHARS] in source.deltas


def is_outdated(source: Source, document: Document) -> bool:
    """Whether the source had a newer snapshot than this one before."""
    return is_older(document.about.stamp, source.stamp)


def check_size(source: Source, document: Document, row_count: int) -> None:
    """Pass a snapshot of a source that contributes to `row_count` rows.

    Raises:
        DocumentRefused: `shrunk`.
    """
    count = len(document.records)
    if count < row_count * SHRUNK_SHARE:
        raise DocumentRefused(
            "shrunk",
            f"The document holds {count} records, and {row_count} were known: if that is right, "
            f"svc sources pull {source.id} --force",
        )


def remembered(source: Source, document: Document, digest: str) -> Source:
    """The source, which knows the document again where it is a delta."""
    if document.format.kind != "delta":
        return source
    return attrs.evolve(source, deltas=(*source.deltas, digest[:DELTA_CHARS])[-DELTAS_KEPT:])
