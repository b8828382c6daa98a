"""A report's audio: the recording, the request to speak a report, and the media files.

A recording is a file named after the SHA-256 of its bytes; a row says which report it belongs to.
"""

import re
from datetime import datetime
from typing import Annotated, Final

from attrs import frozen

from svc_core.base.unset import UNSET, Maybe
from svc_core.operation.members import CreatedAt, ReportId, micros
from svc_core.operation.ports import Collection
from svc_core.wire.constraints import Example, Ge, IdOf

_SHA256: Final = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

MIME_TYPES: Final = {"mp3": "audio/mpeg", "wav": "audio/wav"}
"""The kinds of files that are kept, by the ending of their names."""

_NAME: Final = re.compile(rf"[0-9a-f]{{64}}\.(?:{'|'.join(MIME_TYPES)})", re.ASCII)


@frozen
class AudioFacet:
    """A report's audio: the file, where it is, and how long it plays."""

    id: Annotated[str, IdOf("aud")]
    """Audio identifier; a new recording has a new one."""
    url: Annotated[str, Example(f"https://media.example.com/{_SHA256}.mp3")]
    """Where the file is. Without a CDN the address opens for at least an hour."""
    mime_type: Annotated[str, Example("audio/mpeg")]
    """Media type of the file."""
    size_bytes: Annotated[int, Ge(0), Example(1_045_315)]
    """Size of the file in bytes."""
    sha256: Annotated[str, Example(_SHA256)]
    """SHA-256 of the file, in hexadecimal."""
    duration_seconds: Annotated[float, Ge(0), Example(130.664)]
    """How long it plays, in seconds, measured on the file."""
    voice: Annotated[str, Example("espeak-ng en-us")]
    """The voice that reads it."""
    created_at: CreatedAt
    duration: Annotated[Maybe[float], Example(130.664)] = UNSET
    """Deprecated: use durationSeconds."""


@frozen
class Recording:
    """A whole audio file, as it was measured; `name` is its SHA-256 with the ending of its kind."""

    name: str
    mime_type: str
    size_bytes: int
    sha256: str
    duration_seconds: float


def is_file_name(text: str) -> bool:
    """Whether a text has the form of a media file's name."""
    return _NAME.fullmatch(text) is not None


@frozen
class Audio:
    """The recording of one report, stored under the report's id."""

    id: str
    report_id: ReportId
    recording: Recording
    voice: str
    created_at: datetime


@frozen
class SpeechRequest:
    """A request to speak a report: when it is tried next, and how often it was tried.

    One that a worker has claimed is due again when the claim lapses.
    """

    report_id: ReportId
    due_at: datetime
    attempts: int = 0
    is_claimed: bool = False


@frozen
class FileCheck:
    """A file that may not be needed: when to check whether a row still names it."""

    name: str
    look_at: datetime


@frozen
class FileLease:
    """A lease on a file, to store or remove it; after `until` it lapses and the file is checked."""

    name: str
    until: datetime


@frozen
class Piece:
    """A piece of a file, in base64; the head of a file has no data, and the size of the whole."""

    name: str
    number: int
    size: int
    data: str = ""
    is_whole: bool = False


AUDIO: Collection[Audio] = Collection(
    name="audio",
    model=Audio,
    prefix="rpt",
    keys={"file": lambda audio: audio.recording.name},
)

SPEECH_REQUESTS: Collection[SpeechRequest] = Collection(
    name="speaking",
    model=SpeechRequest,
    prefix="rpt",
    order=lambda speaking: micros(speaking.due_at),
    # A server that starts finds the claims of the one before it by this key.
    keys={"is_claimed": lambda speaking: "true" if speaking.is_claimed else None},
)
"""One row for each report that waits to be spoken, under the report's id."""

FILE_LEASES: Collection[FileLease] = Collection(
    name="media_turns",
    model=FileLease,
    prefix="med",
    order=lambda turn: micros(turn.until),
    scope="system",
)
"""One short-lived row for each leased file, whichever tenants need it."""

PIECES: Collection[Piece] = Collection(
    name="media_pieces",
    model=Piece,
    prefix="med",
    order=lambda piece: piece.number,
    scope="system",
)
"""The files that the database stores: a head for each, numbered 0, and its pieces from 1."""

FILE_CHECKS: Collection[FileCheck] = Collection(
    name="media_doubts", model=FileCheck, prefix="med", order=lambda doubt: micros(doubt.look_at)
)
"""One row for each file to be checked; the sweep reads the earliest."""

COLLECTIONS = (AUDIO, SPEECH_REQUESTS, FILE_CHECKS, FILE_LEASES, PIECES)
