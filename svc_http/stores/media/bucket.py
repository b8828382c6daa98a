"""Stores recordings as objects of an S3 bucket (Amazon S3, MinIO, Ceph and compatible services).

Credentials, region and endpoint come from the usual variables: `AWS_ACCESS_KEY_ID`,
`AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_ENDPOINT_URL`.

Rule 1: an object is put in one request, so it is complete or absent, and a killed process leaves no
        parts of a multipart upload, which would be invisible and cost money.
Rule 2: a bucket that does not answer is given up soon, and the next request tries it again.
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyio import CapacityLimiter, to_thread

from svc_core.reports.audio import Recording
from svc_http.extras import install_line
from svc_http.settings import setting_fault
from svc_http.stores.media.draft_files import Drafts
from svc_http.stores.media.media_port import CHUNK_BYTES, media_file_name

if TYPE_CHECKING:
    from obstore.store import S3Store

T = TypeVar("T")

CONNECT_SECONDS: Final = 3
ANSWER_SECONDS: Final = 10
"""How long an answer may take: a chunk over a line of 256 kbit/s."""
PUT_SECONDS: Final = 60
"""How long an upload may take: the largest file needs half a minute over 30 Mbit/s."""
RETRIES: Final = 1
REQUESTS_MAX: Final = 16
"""Requests at a time, each on a thread of its own, so that a slow bucket delays nothing else."""
CACHE_CONTROL: Final = "public, max-age=31536000, immutable"
"""The Cache-Control header for a CDN: a file never changes."""

_REFUSAL: Final = re.compile("status code: 4|redirect")  # a redirect leads to another region


class MediaBucket(Drafts):
    """Recordings in a bucket, under a prefix."""

    def __init__(self, place: str) -> None:
        """Use the bucket and prefix of `s3://bucket/prefix`.

        Raises:
            SettingsError: the library is not installed; the message says how to install it.
        """
        super().__init__()
        try:
            import obstore  # noqa: PLC0415 - an extra
        except ModuleNotFoundError as error:
            raise setting_fault(
                "media", f"is {place}, which needs: {install_line('s3')}"
            ) from error
        self._library = obstore
        self._bucket = place.removeprefix("s3://").partition("/")[0]
        self._answers = _store(place, ANSWER_SECONDS)
        self._puts = _store(place, PUT_SECONDS)
        self._limiter = CapacityLimiter(REQUESTS_MAX)

    async def check(self) -> None:
        """Check that the bucket exists and can be used.

        Raises:
            SettingsError: it does not exist, or refuses these credentials.
            OSError: it does not answer now.
        """
        try:
            await self._run(self._first)
        except OSError as error:
            # The library raises one kind of error for everything that a listing may meet.
            reason = str(error.__cause__)
            if not _REFUSAL.search(reason):
                raise
            why = (
                "is not there; make it"
                if "NoSuchBucket" in reason
                else "refuses us; look at AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION, "
                "and whether that key may list, get, put and delete objects"
            )
            reason = f"names the bucket {self._bucket}, which {why}"
            raise setting_fault("media", reason) from error

    async def keep(self, draft: Path, recording: Recording) -> None:
        """Upload a draft as an object."""
        attributes = {"Content-Type": recording.mime_type, "Cache-Control": CACHE_CONTROL}
        await self._run(
            self._library.put,
            self._puts,
            media_file_name(recording.name),
            draft,
            attributes=attributes,
            use_multipart=False,
        )

    async def size(self, name: str) -> int:
        """How many bytes the file has.

        Raises:
            FileNotFoundError: it is not there.
        """
        return (await self._run(self._library.head, self._answers, media_file_name(name)))["size"]

    async def read(self, name: str, part: range) -> bytes:
        """The first bytes of a part of the file.

        Raises:
            FileNotFoundError: it is not there any more.
        """
        length = min(len(part), CHUNK_BYTES)
        return bytes(
            await self._run(
                self._library.get_range,
                self._answers,
                media_file_name(name),
                start=part.start,
                length=length,
            )
        )

    async def remove(self, name: str) -> None:
        """Remove a file; one that is not there is gone already."""
        await self._run(self._library.delete, self._answers, media_file_name(name))

    def _first(self) -> object:
        return next(iter(self._library.list(self._answers, chunk_size=1)), None)

    async def _run(self, work: Callable[..., T], *arguments: Any, **keywords: Any) -> T:
        # In a thread: the library's own futures end in threads that an exiting interpreter does not
        # wait for, which sometimes aborts the process.
        call = partial(work, *arguments, **keywords)
        try:
            return await to_thread.run_sync(call, limiter=self._limiter, abandon_on_cancel=True)
        except self._library.exceptions.BaseError as error:
            line = str(error).partition("\n")[0]
            raise OSError(f"the bucket {self._bucket} cannot be used now: {line}") from error


def _store(place: str, seconds: int) -> "S3Store":
    from obstore.store import S3Store  # noqa: PLC0415 - an extra

    return S3Store.from_url(
        place,
        # The scheme of the endpoint decides on TLS; without an endpoint it is Amazon, over TLS.
        client_options={
            "allow_http": True,
            "connect_timeout": f"{CONNECT_SECONDS}s",
            "timeout": f"{seconds}s",
        },
        retry_config={"max_retries": RETRIES},
    )
