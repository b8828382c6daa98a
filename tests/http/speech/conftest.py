"""Programs that speak, as tests write them, the sounds that they make, and where these are kept."""

import io
import os
import subprocess
import sys
import wave
from collections.abc import AsyncIterator, Callable, Iterator
from hashlib import sha256, shake_128
from pathlib import Path
from typing import Any

import httpx2
import pytest

from svc_core import catalog
from svc_core.reports.audio import Recording
from svc_http.outside.voices.command import CommandSpeech
from svc_http.outside.voices.program import Bounds
from svc_http.stores import MemoryStorage, SqliteStorage
from svc_http.stores.media.bucket import MediaBucket
from svc_http.stores.media.folder import MediaFiles
from svc_http.stores.media.pieces import MediaRows
from svc_http.stores.postgres import PostgresStorage


def wav_of(frames: int, *, rate: int = 8_000, channels: int = 1, width: int = 2) -> bytes:
    """A WAV file of silence, written by the standard library."""
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(bytes(frames * channels * width))
    return target.getvalue()


def mp3_of(frames: int, header: bytes = b"\xff\xf3\x80\xc4") -> bytes:
    """Frames of silence: MPEG 2 Layer III, 64 kbit/s at 22,050 Hz, so 208 bytes each."""
    return (header + bytes(204)) * frames


class Sounds:
    """Makes files."""

    wav = staticmethod(wav_of)
    mp3 = staticmethod(mp3_of)


@pytest.fixture
def sounds() -> Sounds:
    return Sounds()


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., CommandSpeech]:
    """Makes a speaker of a few lines of Python and the arguments after them."""

    def make(code: str, *arguments: str, seconds: float = 60.0, size: int = 10_000) -> Any:
        path = tmp_path / "speaker.py"
        path.write_text(code)
        bounds = Bounds(seconds, size)
        return CommandSpeech((sys.executable, "-IS", str(path), *arguments), bounds=bounds)

    return make


# -- places ------------------------------------------------------------------------------------

S3_SERVER = """
import sys, threading
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server
application, turn = DomainDispatcherApplication(create_backend_app), threading.Lock()
def one_at_a_time(*asked):
    with turn:
        return list(application(*asked))
server = make_server("127.0.0.1", int(sys.argv[1]), one_at_a_time, threaded=True)
print(server.port, flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
"""
"""Moto fails when one object is put twice at once, as S3 does not: it gets them in a row."""
PLACE = "s3://sounds/of/reports"


class S3:
    """A server that speaks S3, in a process of its own; what it holds is gone when it ends."""

    port = 0

    def start(self) -> "S3":
        self.process = subprocess.Popen(
            [sys.executable, "-c", S3_SERVER, str(self.port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        httpx2.put(f"{self.url}/sounds").raise_for_status()
        return self

    def stop(self) -> None:
        self.process.communicate()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def names(self) -> list[str]:
        listing = httpx2.get(f"{self.url}/sounds").text
        return [part.partition("<")[0] for part in listing.split("<Key>")[1:]]


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3]:
    server = S3().start()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server: S3, monkeypatch: pytest.MonkeyPatch) -> S3:
    """A server, and the environment that leads to it."""
    for name in list(os.environ):  # noqa: TID251 - cleared, not read
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ours")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_server.url)
    return s3_server


def bytes_of(size: int) -> bytes:
    """Bytes of which no part is like another."""
    return shake_128(b"sound").digest(size)


async def keep(media: Any, data: bytes) -> str:
    """Keep some bytes as if they were a sound; the name that they have now."""
    digest = sha256(data).hexdigest()
    recording = Recording(f"{digest}.mp3", "audio/mpeg", len(data), digest, 1.0)
    with media.draft() as draft:
        draft.write_bytes(data)
        await media.keep(draft, recording)
    return recording.name


class Places:
    """Makes media places by the name of their kind."""

    bytes_of = staticmethod(bytes_of)
    keep = staticmethod(keep)

    def __init__(self, folder: Path, request: Any) -> None:
        self.folder = folder
        self._request = request
        self.storage: Any = MemoryStorage(catalog.COLLECTIONS)

    def make(self, kind: str) -> Any:
        if kind == "folder":
            return MediaFiles(self.folder / "media")
        if kind == "bucket":
            self._request.getfixturevalue("s3")
            return MediaBucket(PLACE)
        if kind == "rows in SQLite":
            self.storage = SqliteStorage.open(
                self.folder / "svc.db", catalog.COLLECTIONS, epoch=b"12345678"
            )
        return MediaRows(self.storage)


@pytest.fixture
def places(tmp_path: Path, request: Any) -> Places:
    return Places(tmp_path, request)


@pytest.fixture(params=["folder", "rows in memory", "rows in SQLite", "bucket"])
def kind(request: Any) -> str:
    """Each kind of place."""
    return str(request.param)


@pytest.fixture(params=["folder", "bucket", "memory", "SQLite", "PostgreSQL"])
def dsn(request: Any) -> Iterator[str]:
    """What the places of a test are made of: an address, where it is PostgreSQL."""
    if request.param != "PostgreSQL":
        yield str(request.param)
        return
    server = request.getfixturevalue("postgres")
    dsn: str = server.lend(catalog.COLLECTIONS)
    yield dsn
    server.give_back(dsn)


@pytest.fixture
async def media(places: Places, dsn: str) -> AsyncIterator[Any]:
    """A place for recordings, of each kind, and over each store."""
    if "://" in dsn:
        places.storage = await PostgresStorage.open(dsn, catalog.COLLECTIONS, epoch=b"12345678")
        rows: Any = MediaRows(places.storage)
    else:
        rows = places.make(dsn if dsn in {"folder", "bucket"} else f"rows in {dsn}")
    yield rows
    await places.storage.close()
