"""What is promised of a place for recordings, wherever it is."""

import asyncio
import sys
import tracemalloc
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import obstore
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from svc_core import catalog
from svc_core.operation.ports import SYSTEM, StorageUnavailable
from svc_core.reports.audio import PIECES, Recording, is_file_name
from svc_http.extras import install_line
from svc_http.settings import Settings, SettingsError, load
from svc_http.stores import MemoryStorage
from svc_http.stores.media.bucket import MediaBucket
from svc_http.stores.media.folder import MediaFiles
from svc_http.stores.media.media_choice import media_of
from svc_http.stores.media.media_port import CHUNK_BYTES
from svc_http.stores.media.pieces import PIECE_BYTES, REMOVAL_BATCH, MediaRows
from tests.sampling import examples

pytestmark = pytest.mark.anyio
NAME = "ab" * 32 + ".mp3"


async def whole(media: Any, name: str) -> bytes:
    """A file as it is served: a chunk at a time."""
    span, data = range(await media.size(name)), b""
    while span:
        chunk = await media.read(name, span)
        assert 0 < len(chunk) <= CHUNK_BYTES
        data, span = data + chunk, span[len(chunk) :]
    return data


# -- every place -------------------------------------------------------------------------------


async def test_what_is_kept_is_there_under_its_name(media: Any, places: Any) -> None:
    for size in (1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 700_000):
        data = places.bytes_of(size)
        await media.check()
        name = await places.keep(media, data)
        assert is_file_name(name)
        assert await media.size(name) == size
        assert await whole(media, name) == data


async def test_a_range_is_read_from_its_first_byte(media: Any, places: Any) -> None:
    data = places.bytes_of(2 * CHUNK_BYTES + 9)
    name = await places.keep(media, data)

    @examples(25, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def check(draw: Any) -> None:
        start = draw.draw(st.integers(0, len(data) - 1))
        part = range(start, draw.draw(st.integers(start + 1, len(data))))
        ranges.append(part)

    ranges: list[range] = [range(CHUNK_BYTES - 1, CHUNK_BYTES + 1)]
    check()
    for part in ranges:
        chunk = await media.read(name, part)
        assert 0 < len(chunk) <= min(len(part), CHUNK_BYTES)
        assert chunk == data[part.start : part.start + len(chunk)]


async def test_to_keep_a_file_again_changes_nothing(media: Any, places: Any) -> None:
    data = places.bytes_of(CHUNK_BYTES + 1)
    name = await places.keep(media, data)
    assert await places.keep(media, data) == name
    assert await whole(media, name) == data


async def test_two_may_keep_the_same_file_at_once(media: Any, places: Any) -> None:
    data = places.bytes_of(3 * CHUNK_BYTES)
    (name, *names) = await asyncio.gather(*(places.keep(media, data) for _ in range(3)))
    assert set(names) == {name}
    assert await whole(media, name) == data


async def test_a_file_goes_once_and_may_be_gone(media: Any, places: Any) -> None:
    data = places.bytes_of(CHUNK_BYTES + 1)
    name = await places.keep(media, data)
    second = await places.keep(media, b"other")
    for _ in range(2):
        await media.remove(name)
        with pytest.raises(FileNotFoundError):
            await media.size(name)
        with pytest.raises(FileNotFoundError):
            await media.read(name, range(1))
    assert await whole(media, second) == b"other"
    assert await places.keep(media, data) == name
    assert await whole(media, name) == data


NO_NAMES = (
    "", "..", "../svc.db", "a.mp3", ".making", "A" * 64 + ".mp3", "a" * 64, "a" * 64 + ".exe",
    "a" * 64 + ".mp3/", "a" * 64 + ".mp3\n", "/" + "a" * 64 + ".mp3", "a" * 63 + "٣.mp3",
)  # fmt: skip


async def test_nothing_but_a_name_gets_through(media: Any, tmp_path: Path) -> None:
    (tmp_path / "draft").write_bytes(b"a")
    for name in NO_NAMES:
        recording = Recording(name, "audio/mpeg", 1, "ab" * 32, 1.0)
        assert not is_file_name(name)
        for call in (
            media.size(name),
            media.read(name, range(1)),
            media.remove(name),
            media.keep(tmp_path / "draft", recording),
        ):
            with pytest.raises(ValueError, match="named after its bytes"):
                await call


async def test_a_large_file_is_read_in_little_memory(media: Any, places: Any) -> None:
    name = await places.keep(media, places.bytes_of(100 * CHUNK_BYTES))
    span = range(await media.size(name))
    tracemalloc.start()
    try:
        while span:
            span = span[len(await media.read(name, span)) :]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20 * CHUNK_BYTES


# -- in the store ------------------------------------------------------------------------------


class Frail(MemoryStorage):
    """A store that takes so many units of work, and then no more."""

    reads_left = 10**9

    async def write(self, tenant: str, unit: Any) -> Any:
        self.reads_left -= 1
        if self.reads_left < 0:
            raise StorageUnavailable("killed")
        return await super().write(tenant, unit)


async def pieces(storage: Any) -> int:
    page = await storage.read(SYSTEM, lambda tx: tx.documents.scan(PIECES, limit=10_000))
    return len(page.rows)


Work = Callable[[Any, str], Awaitable[Any]]
DATA = bytes(range(256)) * (PIECE_BYTES // 256) * (REMOVAL_BATCH + 1) + b"end"


@pytest.mark.parametrize("after", ["keep", "remove"])
@pytest.mark.parametrize("fault", ["keep", "remove"])
async def test_what_a_kill_leaves_in_the_store_is_made_whole_or_goes(
    places: Any, fault: str, after: str
) -> None:
    for units in count():
        storage = Frail(catalog.COLLECTIONS)
        media = MediaRows(storage)
        name = await places.keep(media, DATA)
        if fault == "keep":
            await media.remove(name)
        storage.reads_left = units
        try:
            await (places.keep(media, DATA) if fault == "keep" else media.remove(name))
        except StorageUnavailable:
            storage.reads_left = 10**9
        else:
            break
        if fault == "keep" or units:
            with pytest.raises(FileNotFoundError):
                await media.size(name)
        if after == "keep":
            await places.keep(media, DATA)
            assert await whole(media, name) == DATA
        else:
            await media.remove(name)
            assert await pieces(storage) == 0
    assert units > 3


async def test_a_piece_that_went_while_it_was_read_is_gone(places: Any) -> None:
    media = places.make("rows in memory")
    name = await places.keep(media, places.bytes_of(2 * PIECE_BYTES))
    assert await media.read(name, range(10))
    await media.remove(name)
    with pytest.raises(FileNotFoundError):
        await media.read(name, range(PIECE_BYTES, 2 * PIECE_BYTES))


# -- in a bucket -------------------------------------------------------------------------------


async def test_an_object_is_under_the_prefix_with_its_kind(places: Any, s3: Any) -> None:
    media = places.make("bucket")
    name = await places.keep(media, b"sound")
    assert f"of/reports/{name}" in s3.names()
    about = obstore.get(media._answers, name).attributes
    assert about["Content-Type"] == "audio/mpeg"
    assert "immutable" in about["Cache-Control"]


async def test_a_bucket_without_a_prefix_will_do(places: Any, s3: Any) -> None:
    media = MediaBucket("s3://sounds")
    name = await places.keep(media, b"at the top")
    assert name in s3.names()
    assert await whole(media, name) == b"at the top"


async def test_a_bucket_that_is_missing_is_told_in_one_line(s3: Any) -> None:
    with pytest.raises(SettingsError) as refusal:
        await MediaBucket("s3://nothing/here").check()
    assert str(refusal.value) == (
        "setting 'media' names the bucket nothing, which is not there; make it"
    )


async def test_a_key_that_may_not_is_told_in_one_line(s3: Any) -> None:
    httpx2.post(f"{s3.url}/moto-api/reset-auth", content=b"0").raise_for_status()
    try:
        with pytest.raises(
            SettingsError, match=r"bucket sounds, which refuses us; look at AWS_"
        ) as refusal:
            await MediaBucket("s3://sounds").check()
        assert "\n" not in str(refusal.value)
    finally:
        httpx2.post(f"{s3.url}/moto-api/reset-auth", content=b"1000000").raise_for_status()


async def test_a_bucket_that_does_not_answer_may_answer_later(
    places: Any, s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = type(s3)().start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", own.url)
    media = MediaBucket("s3://sounds")
    own.stop()
    for call in (
        media.check(),
        media.size(NAME),
        media.read(NAME, range(1)),
        media.remove(NAME),
        places.keep(media, b"a"),
    ):
        with pytest.raises(OSError, match="the bucket sounds cannot be used now: ") as refusal:
            await call
        assert not isinstance(refusal.value, FileNotFoundError)
        assert "\n" not in str(refusal.value)
    own.start()
    try:
        assert await whole(media, await places.keep(media, b"a")) == b"a"
    finally:
        own.stop()


async def test_a_library_that_is_missing_is_named_with_its_cure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(SettingsError) as refusal:
        media_of(Settings(media="s3://sounds/x"), MemoryStorage(()))
    assert str(refusal.value) == (
        "setting 'media' is s3://sounds/x, which needs: " + install_line("s3")
    )


# -- which one ---------------------------------------------------------------------------------


async def test_the_settings_name_the_place(tmp_path: Path, s3: Any) -> None:
    def of(**options: Any) -> Any:
        return media_of(Settings(**options), MemoryStorage(()))

    beside = of(db=str(tmp_path / "svc.db"))
    assert isinstance(beside, MediaFiles)
    assert beside.folder == tmp_path / "svc.db.media"
    assert of(db=":memory:", media=str(tmp_path / "m")).folder == tmp_path / "m"
    assert of(db=":memory:") is None
    assert isinstance(of(db=":memory:", media="database"), MediaRows)
    assert isinstance(of(db="postgresql://localhost/svc"), MediaRows)
    assert isinstance(of(media="s3://sounds/of/reports"), MediaBucket)


@pytest.mark.parametrize(
    "place", ["", "s3://", "s3://a", "s3://Bucket", "gs://bucket", "s3://sounds?x", "http://a/b"]
)
async def test_a_place_that_is_none_is_refused(place: str) -> None:
    with pytest.raises(SettingsError, match=r"'media' .*for example SVC_MEDIA=s3://"):
        load({"SVC_MEDIA": place})


async def test_no_cdn_serves_a_database() -> None:
    with pytest.raises(SettingsError, match="'media' is database"):
        load({"SVC_MEDIA": "database", "SVC_MEDIA_BASE_URL": "https://cdn.example.org"})
