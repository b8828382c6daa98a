"""Decides whether a fetched document is processed, and how it is recognised later.

Rule 1: bytes that were taken in are known; so is a delta that was taken in before others. What
        readers of another state made of a document is made anew, even where it is the same.
Rule 2: a snapshot that is older by its own stamp than the one that is known says nothing.
Rule 3: a snapshot that lacks a fifth of what was known is refused whole.
"""

from hashlib import sha256

import attrs

from svc_core.formats.model import DocumentRefused
from svc_core.formats.table import Document, is_older
from svc_core.intel.folding.model import Source

SHRUNK_SHARE = 0.8
"""The least share of the known records that a snapshot must have: catalogues have been published
cut off, and none of them loses a fifth of its records in a day."""

READING = "2"
"""The state of the readers of documents: another one whenever they read a document otherwise."""

DELTAS_KEPT, DELTA_CHARS = 500, 16
"""How many deltas of a source are remembered, and how many characters of each one's digest."""


def document_digest(body: bytes) -> str:
    """The SHA-256 of a document behind the state of its readers, by which it is recognised."""
    return f"{READING}-{sha256(body).hexdigest()}"


def is_read_alike(source: Source) -> bool:
    """Whether the last document of a source was read as one is read now."""
    return (source.digest or "").startswith(f"{READING}-")


def _delta(digest: str) -> str:
    return digest.rpartition("-")[2][:DELTA_CHARS]


def is_known(source: Source, digest: str) -> bool:
    """Whether the document with this digest was processed before."""
    return digest == source.digest or _delta(digest) in source.deltas


def is_outdated(source: Source, document: Document) -> bool:
    """Whether a newer snapshot of the source was processed before."""
    return is_older(document.metadata.stamp, source.stamp)


def check_size(source: Source, document: Document, row_count: int) -> None:
    """Refuse a snapshot that has far fewer records than the `row_count` rows of its source.

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


def with_delta(source: Source, document: Document, digest: str) -> Source:
    """The source, with the digest of the document remembered where it is a delta."""
    if document.format.kind != "delta":
        return source
    return attrs.evolve(source, deltas=(*source.deltas, _delta(digest))[-DELTAS_KEPT:])
