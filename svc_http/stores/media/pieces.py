"""Stores recordings in the database, in pieces: for servers that share nothing else.

Rule 1: the head of a file is written before its first piece and deleted after its last one, so that
        the remains of a killed process can be found by the name of the file.
Rule 2: a file exists while its head says that it is whole.
Rule 3: each piece is written and read in a short unit of its own: no transaction is open while a
        client listens, and no other unit waits long behind a large file.
"""

import asyncio
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import attrs

from svc_core.base import ids
from svc_core.operation.ports import SYSTEM, Storage, Transaction
from svc_core.reports.audio import PIECES, Piece, Recording
from svc_http.stores.media.draft_files import Drafts
from svc_http.stores.media.media_port import CHUNK_BYTES, media_file_name

PIECE_BYTES: Final = CHUNK_BYTES
"""The bytes of one row. It must not change, because stored files depend on it."""
REMOVAL_BATCH: Final = 8  # pieces per unit, because a deletion also reads them


class MediaRows(Drafts):
    """Recordings in the store itself."""

    def __init__(self, storage: Storage) -> None:
        super().__init__()
        self._storage = storage

    async def check(self) -> None:
        """Do nothing: an open store can hold recordings."""

    async def keep(self, draft: Path, recording: Recording) -> None:
        """Write a draft piece by piece; concurrent writers of one file write the same pieces."""
        name, size = media_file_name(recording.name), recording.size_bytes
        head = await self._head(name)
        if head is not None and head.is_whole:
            return
        if head is None:
            await self._put(Piece(name, 0, size))
        for number in range(1, _pieces(size) + 1):
            await self._put(await asyncio.to_thread(_piece, draft, name, number))
        await self._put(Piece(name, 0, size, is_whole=True))

    async def size(self, name: str) -> int:
        """How many bytes the file has.

        Raises:
            FileNotFoundError: it is not there.
        """
        head = await self._head(media_file_name(name))
        if head is None or not head.is_whole:
            raise FileNotFoundError(name)
        return head.size

    async def read(self, name: str, part: range) -> bytes:
        """The first bytes of a part of the file.

        Raises:
            FileNotFoundError: it is not there any more.
        """
        number, start = divmod(part.start, PIECE_BYTES)
        piece = await self._get(media_file_name(name), number + 1)
        if piece is None:
            raise FileNotFoundError(name)
        return b64decode(piece.data)[start : start + len(part)]

    async def remove(self, name: str) -> None:
        """Remove a file; one that is not there is gone already."""
        head = await self._head(media_file_name(name))
        if head is None:
            return
        await self._put(attrs.evolve(head, is_whole=False))
        last = _pieces(head.size)
        for first in range(1, last + 1, REMOVAL_BATCH):
            await self._drop(name, range(first, min(first + REMOVAL_BATCH, last + 1)))
        await self._drop(name, range(1))

    async def _head(self, name: str) -> Piece | None:
        return await self._get(name, 0)

    async def _get(self, name: str, number: int) -> Piece | None:
        row = await self._storage.read(
            SYSTEM, lambda tx: tx.documents.get(PIECES, _id(name, number))
        )
        return None if row is None else PIECES.decode(row.raw)

    async def _put(self, piece: Piece) -> None:
        id_ = _id(piece.name, piece.number)
        await self._storage.write(SYSTEM, lambda tx: tx.documents.put(PIECES, id_, piece))

    async def _drop(self, name: str, numbers: range) -> None:
        async def unit(tx: Transaction) -> None:
            for number in numbers:
                await tx.documents.delete(PIECES, _id(name, number))

        await self._storage.write(SYSTEM, unit)


def rows_of(file: Path) -> Iterator[tuple[str, Piece]]:
    """The rows that store a media file, with their identifiers; the head comes last."""
    name, size = media_file_name(file.name), file.stat().st_size
    for number in range(1, _pieces(size) + 1):
        yield _id(name, number), _piece(file, name, number)
    yield _id(name, 0), Piece(name, 0, size, is_whole=True)


def _pieces(size: int) -> int:
    return -(-size // PIECE_BYTES)


def _piece(draft: Path, name: str, number: int) -> Piece:
    with draft.open("rb") as file:
        file.seek((number - 1) * PIECE_BYTES)
        data = file.read(PIECE_BYTES)
    return Piece(name, number, len(data), b64encode(data).decode())


def _id(name: str, number: int) -> str:
    return ids.derived_id("med", "piece", str(number), name)
