"""Media files: whole or not there, and over HTTP for whoever has a pass (RFC 9110, 13 and 14)."""

import asyncio
import os
import stat
import tempfile
from collections.abc import Callable
from hashlib import sha256, shake_128
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core import catalog
from svc_core.base import passes
from svc_core.contract import problem
from svc_core.reports.audio import Recording
from svc_http.pages.sound_files import MediaPages, UnreachableError, byte_span
from svc_http.service.runtime import application as app
from svc_http.service.runtime.assembly import check_media
from svc_http.settings import Settings, SettingsError
from svc_http.stores import MemoryStorage
from svc_http.stores.media.draft_files import ABANDONED_SECONDS, PREFIX, Drafts, measure
from svc_http.stores.media.folder import WORK, MediaFiles
from svc_http.stores.media.media_port import CHUNK_BYTES
from svc_http.stores.media.sound import NoSound

SIZE = 1_000


def bytes_of(size: int) -> bytes:
    """Bytes of which no part is like another."""
    return shake_128(b"sound").digest(size)


SOUND = bytes_of(SIZE)
NAME = f"{sha256(SOUND).hexdigest()}.mp3"
TAG = f'"{NAME[:64]}"'


# -- files -------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path: Path) -> MediaFiles:
    return MediaFiles(tmp_path / "media")


def stored_file(files: MediaFiles, data: bytes) -> Recording:
    with files.draft() as draft:
        draft.write_bytes(data)
        recording = measure(draft)
        asyncio.run(files.keep(draft, recording))
    return recording


def file_names(files: MediaFiles) -> list[str]:
    return sorted(path.name for path in files.folder.rglob("*") if path.is_file())


def test_a_file_is_kept_under_the_name_of_its_bytes(files: MediaFiles, sounds: Any) -> None:
    data = sounds.wav(12_000)
    recording = stored_file(files, data)
    digest = sha256(data).hexdigest()
    assert (recording.name, recording.sha256) == (f"{digest}.wav", digest)
    assert (recording.mime_type, recording.size_bytes) == ("audio/wav", len(data))
    assert recording.duration_seconds == 1.5
    assert stored_file(files, data) == recording
    assert file_names(files) == [recording.name]
    assert (files.folder / recording.name).read_bytes() == data
    assert stat.S_IMODE((files.folder / recording.name).stat().st_mode) == 0o644


def test_a_folder_that_is_made_is_read_by_its_owner_unless_a_cdn_serves_it(
    tmp_path: Path, sounds: Any
) -> None:
    alone = MediaFiles(tmp_path / "a" / "media")
    shared = MediaFiles(tmp_path / "cdn", is_shared=True)
    copy_, plain = tmp_path / "copy", tmp_path / "plain"
    plain.mkdir()
    for files in (alone, shared):
        stored_file(files, sounds.wav(800))
    assert alone.copy_to(copy_) == 1
    modes = [stat.S_IMODE(folder.stat().st_mode) for folder in (alone.folder, copy_)]
    assert modes == [0o700, 0o700]
    assert shared.folder.stat().st_mode == plain.stat().st_mode


def test_a_folder_that_stands_keeps_its_rights(files: MediaFiles, sounds: Any) -> None:
    files.folder.mkdir()
    files.folder.chmod(0o750)
    stored_file(files, sounds.wav(800))
    assert stat.S_IMODE(files.folder.stat().st_mode) == 0o750


def test_a_draft_that_is_given_up_leaves_nothing(files: MediaFiles) -> None:
    with files.draft() as draft:
        draft.write_bytes(b"no sound")
        with pytest.raises(NoSound):
            measure(draft)
    assert file_names(files) == []
    assert list((files.folder / WORK).iterdir()) == []


@pytest.mark.parametrize("folder", ["in the folder", "on this machine"])
def test_what_a_killed_worker_left_goes_once_nobody_can_be_at_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    drafts = Drafts() if folder == "on this machine" else MediaFiles(tmp_path / "media")
    drafts.tidy()
    assert list(tmp_path.iterdir()) == []
    with drafts.draft() as at_work:
        at_work.write_bytes(b"a")
        leftover = at_work.parent.with_name(f"{PREFIX}left")
        leftover.mkdir()
        (leftover / "sound").write_bytes(b"a")
        foreign = leftover.with_name("others")
        foreign.mkdir()
        drafts.tidy()
        assert leftover.exists()
        long_ago = leftover.stat().st_mtime - ABANDONED_SECONDS - 1
        for path in (leftover, foreign):
            os.utime(path, (long_ago, long_ago))
        drafts.tidy()
        assert not leftover.exists()
        assert at_work.exists()
        assert foreign.exists()


def test_another_folder_is_given_what_it_lacks(
    files: MediaFiles, sounds: Any, tmp_path: Path
) -> None:
    target = tmp_path / "copy"
    assert files.copy_to(target) == 0
    assert not target.exists()
    names = sorted(stored_file(files, sounds.wav(size)).name for size in (8, 9))
    (files.folder / "notes.txt").write_text("not ours")
    assert files.copy_to(target) == 2
    assert files.copy_to(target) == 0
    assert sorted(path.name for path in target.iterdir()) == names


# -- ranges ------------------------------------------------------------------------------------

RANGES: dict[str, range | type | None] = {
    "bytes=0-0": range(1),
    "bytes=0-": range(SIZE),
    "bytes=10-19": range(10, 20),
    "Bytes=10-19": range(10, 20),
    "bytes=999-": range(999, SIZE),
    "bytes=990-5000": range(990, SIZE),
    "bytes=-1": range(999, SIZE),
    "bytes=-5000": range(SIZE),
    "bytes=1000-": UnreachableError,
    "bytes=5000-6000": UnreachableError,
    "bytes=-0": UnreachableError,
    # What is not understood is not refused (RFC 9110, 14.2).
    "bytes=20-10": None,
    "bytes=-": None,
    "bytes=a-b": None,
    "bytes=0-1,5-6": None,
    "bytes=٣-٤": None,
    "seconds=0-1": None,
    "bytes=" + "9" * 19 + "-": None,
    "": None,
}  # fmt: skip


def range_of(text: str) -> range | type | None:
    try:
        return byte_span(text, SIZE)
    except UnreachableError:
        return UnreachableError


@pytest.mark.parametrize("text", RANGES)
def test_a_range_is_read(text: str) -> None:
    assert range_of(text) == RANGES[text]


@given(st.integers(0, 2_000), st.integers(0, 2_000), st.integers(0, 2_000))
def test_a_range_is_that_of_the_bytes_as_they_are_sliced(first: int, last: int, size: int) -> None:
    data = bytes_of(2_000)[:size]
    expected = data[first : last + 1]
    try:
        range_ = byte_span(f"bytes={first}-{last}", size)
    except UnreachableError:
        assert expected == b""
        return
    if range_ is None:
        assert last < first
    else:
        assert data[range_.start : range_.stop] == expected != b""


# -- in process --------------------------------------------------------------------------------


@pytest.fixture
def serve(make_house: Callable[..., Any], places: Any) -> Callable[..., Any]:
    """Makes a service with one file in a place of that kind, over `storage`."""

    def make(kind: str = "folder", storage: Any = None, **options: Any) -> Any:
        places.storage = storage or places.storage
        media = places.make(kind)
        house = make_house(parts={"storage": places.storage, "media": media}, **options)
        assert house.run(places.keep(media, SOUND)) == NAME
        return house

    return make


@pytest.fixture
def server(serve: Callable[..., Any]) -> Any:
    return serve()


def address(house: Any, name: str = NAME) -> str:
    query = passes.issue(house.service.runtime.keyring, name, house.clock()).query
    return f"/media/{name}?{query}"


def test_a_file_is_given_whole_to_whoever_has_its_pass(server: Any) -> None:
    answer = server.ask("GET", address(server))
    assert (answer.status_code, answer.content) == (200, SOUND)
    assert answer.headers["content-type"] == "audio/mpeg"
    assert answer.headers["etag"] == TAG
    assert answer.headers["accept-ranges"] == "bytes"
    assert answer.headers["content-length"] == str(SIZE)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["access-control-allow-origin"] == "*"
    kept_for = answer.headers["cache-control"]
    assert kept_for.startswith("private, max-age=")
    assert 3_600 <= int(kept_for.split("=")[1].split(",")[0]) <= 4_200


def test_the_address_ends(server: Any, check_problem: Any) -> None:
    old = address(server)
    server.clock.forward(seconds=passes.LIFETIME_SECONDS_MIN)
    assert server.ask("GET", old).status_code == 200
    server.clock.forward(seconds=passes.STEP_SECONDS)
    check_problem(server.ask("GET", old), problem.FORBIDDEN)
    assert server.ask("GET", address(server)).status_code == 200


SECOND_NAME = "b" * 64 + ".mp3"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda at: at.partition("?")[0],
        lambda at: at.replace("expires=1", "expires=2"),
        lambda at: at[:-1] + ("A" if at[-1] != "A" else "E"),
        lambda at: at + "&expires=9999999999",
        lambda at: at + "&more=1",
        lambda at: at.replace("key=", "key=1"),
        lambda at: at.replace(NAME, SECOND_NAME),
        lambda at: at.replace(NAME, "..%5Csvc.db"),
        lambda at: at.replace(NAME, "%2e%2e"),
        lambda at: at.replace(NAME, ".making"),
        lambda at: at.replace("pass=", "pass=%C3%A9"),
        lambda at: at.replace("?", "?" + "&".join("a" for _ in range(20)) + "&"),
    ],
)
def test_an_address_that_was_changed_opens_nothing(
    server: Any, check_problem: Any, spoil: Any
) -> None:
    assert server.ask("GET", address(server)).status_code == 200
    answer = server.ask("GET", spoil(address(server)))
    check_problem(answer, problem.FORBIDDEN)


def test_there_is_no_list_and_nothing_beside_the_files(server: Any, check_problem: Any) -> None:
    for path in ("/media", "/media/", f"/media/x/{NAME}", f"/media/..%2f{NAME}"):
        check_problem(server.ask("GET", path), problem.ROUTE_NOT_FOUND)
    check_problem(server.ask("POST", address(server)), problem.METHOD_NOT_ALLOWED)


def test_the_address_of_another_service_opens_nothing(
    server: Any, make_house: Any, check_problem: Any
) -> None:
    foreign = make_house(secret="fedcba9876543210" * 4)
    check_problem(server.ask("GET", address(foreign)), problem.FORBIDDEN)


def test_addresses_of_before_a_rotation_still_open(server: Any, make_house: Any) -> None:
    settings = server.service.runtime.settings
    rotation = make_house(
        secret="fedcba9876543210" * 4,
        secret_previous=(settings.secret,),
        parts={"media": server.service.runtime.media},
    )
    assert rotation.ask("GET", address(server)).status_code == 200
    assert address(rotation) != address(server)


def test_a_file_that_is_gone_is_told_to_whoever_may_know(server: Any, check_problem: Any) -> None:
    check_problem(server.ask("GET", address(server, SECOND_NAME)), problem.NOT_FOUND)


def test_a_service_without_a_disk_has_no_media(house: Any, check_problem: Any) -> None:
    check_problem(house.ask("GET", address(house)), problem.ROUTE_NOT_FOUND)


def test_every_place_serves_ranges(
    serve: Callable[..., Any], check_problem: Any, kind: str
) -> None:
    server = serve(kind)
    answer = server.ask("GET", address(server), headers={"Range": "bytes=900-"})
    assert (answer.status_code, answer.content) == (206, SOUND[900:])
    assert answer.headers["content-range"] == f"bytes 900-{SIZE - 1}/{SIZE}"
    assert server.ask("GET", address(server)).content == SOUND
    check_problem(server.ask("GET", address(server, SECOND_NAME)), problem.NOT_FOUND)
    server.run(server.storage.close())


class WatchedStorage(MemoryStorage):
    """A store that knows how many units of work are open."""

    open = 0
    read_so_far = 0

    async def read(self, tenant: str, unit: Any) -> Any:
        self.open += 1
        self.read_so_far += 1
        try:
            return await super().read(tenant, unit)
        finally:
            self.open -= 1


@pytest.mark.anyio
async def test_nothing_is_open_or_read_ahead_while_a_listener_is_slow(
    places: Any,
) -> None:
    storage = WatchedStorage(catalog.COLLECTIONS)
    settings = Settings(db=":memory:", media="database", secret="5" * 64, request_log="off")
    service = app.build(app.Runtime(settings, storage))
    media = service.runtime.media
    assert media is not None
    data = bytes_of(5 * CHUNK_BYTES)
    name = await places.keep(media, data)
    query = passes.issue(service.runtime.keyring, name, service.runtime.now()).query
    scope = {
        "type": "http", "http_version": "1.1", "method": "GET", "path": f"/media/{name}",
        "raw_path": f"/media/{name}".encode(), "query_string": query.encode(), "root_path": "",
        "headers": [], "client": ("127.0.0.1", 5000),
    }  # fmt: skip
    seen: list[int] = []
    await service.runtime.start()
    before = storage.read_so_far

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        assert storage.open == 0
        if body := message.get("body"):
            seen.append(len(body))
            assert storage.read_so_far - before == 1 + len(seen)  # the head, and a piece each

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    await service(scope, receive, send)
    await service.runtime.stop()
    assert seen == [CHUNK_BYTES] * 5


def test_a_bucket_that_does_not_answer_is_503_until_it_does(
    serve: Callable[..., Any],
    places: Any,
    check_problem: Any,
    s3: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = type(s3)().start()
    monkeypatch.setenv("AWS_ENDPOINT_URL", own.url)
    server = serve("bucket")
    own.stop()
    answer = server.ask("GET", address(server))
    check_problem(answer, problem.SERVICE_UNAVAILABLE)
    assert answer.headers["retry-after"] == "1"
    assert "the bucket sounds cannot be used now" in server.log.text
    own.start()
    server.run(places.keep(server.service.runtime.media, SOUND))
    assert server.ask("GET", address(server)).content == SOUND
    own.stop()


def test_a_bucket_that_does_not_answer_holds_up_no_start(
    make_house: Callable[..., Any], s3: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    house = make_house(media="s3://sounds")
    house.run(check_media(house.service.runtime))
    assert "the bucket sounds cannot be used now" in house.log.text
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3.url)
    house.run(check_media(make_house(media="s3://sounds").service.runtime))
    house.run(check_media(make_house().service.runtime))
    with pytest.raises(SettingsError, match="not there"):
        house.run(check_media(make_house(media="s3://nothing").service.runtime))


CONDITIONS = {
    "the same tag": ({"If-None-Match": TAG}, 304),
    "any tag": ({"If-None-Match": "*"}, 304),
    "another tag": ({"If-None-Match": '"other"'}, 200),
    "the same tag and a range": ({"If-None-Match": TAG, "Range": "bytes=0-1"}, 304),
    "a range": ({"Range": "bytes=0-1"}, 206),
    "a range of the same": ({"Range": "bytes=0-1", "If-Range": TAG}, 206),
    "a range of another": ({"Range": "bytes=0-1", "If-Range": '"other"'}, 200),
    "a range of a weak tag": ({"Range": "bytes=0-1", "If-Range": f"W/{TAG}"}, 200),
    "a range by date": ({"Range": "bytes=0-1", "If-Range": "Wed, 04 Mar 2026 05:06:00 GMT"}, 200),
    "a range behind the end of another": ({"Range": "bytes=5000-", "If-Range": '"other"'}, 200),
}


@pytest.mark.parametrize("case", CONDITIONS)
def test_conditions_are_judged_in_their_order(server: Any, case: str) -> None:
    headers, status = CONDITIONS[case]
    answer = server.ask("GET", address(server), headers=headers)
    assert answer.status_code == status
    if status in {200, 206, 304}:
        assert answer.headers["etag"] == TAG
    if status == 200:
        assert answer.content == SOUND
    if status == 304:
        assert answer.content == b""


def test_head_tells_of_the_file_and_knows_no_range(server: Any) -> None:
    for headers in ({}, {"Range": "bytes=0-1"}):
        answer = server.ask("HEAD", address(server), headers=headers)
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["content-length"] == str(SIZE)
        assert "content-range" not in answer.headers


def test_a_range_behind_the_end_is_refused_with_the_size(server: Any, check_problem: Any) -> None:
    answer = server.ask("GET", address(server), headers={"Range": f"bytes={SIZE}-"})
    check_problem(answer, problem.RANGE_NOT_SATISFIABLE)
    assert answer.headers["content-range"] == f"bytes */{SIZE}"


# -- over a real socket ------------------------------------------------------------------------

LARGE = bytes_of(3 * CHUNK_BYTES + 7)
LARGE_NAME = f"{sha256(LARGE).hexdigest()}.wav"


@pytest.fixture(scope="module")
def wire_media(wire_server: Any, tmp_path_factory: Any) -> Any:
    """The real server, with media."""
    folder = tmp_path_factory.mktemp("media")
    (folder / LARGE_NAME).write_bytes(LARGE)
    runtime = wire_server.service.runtime
    pages = MediaPages(MediaFiles(folder), runtime.keyring, runtime.now, runtime.journal.failure)
    (resource,) = pages.resources()
    wire_server.service.router._root.add(resource.path.split("/"), resource)
    return wire_server


def get(wire: Any, method: str = "GET", **headers: str) -> tuple[bytes, dict[str, str], bytes]:
    runtime = wire.service.runtime
    query = passes.issue(runtime.keyring, LARGE_NAME, runtime.now()).query
    fields = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    request = (
        f"{method} /media/{LARGE_NAME}?{query} HTTP/1.1\r\nHost: a\r\n"
        f"Connection: close\r\n{fields}\r\n"
    )
    bytes_ = wire.say(request.encode())
    head, _, body = bytes_.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    return status.split()[1].encode(), {name: value for name, _, value in pairs}, body


WIRE_RANGES = {
    "bytes=0-0": (0, 1),
    f"bytes=0-{CHUNK_BYTES - 1}": (0, CHUNK_BYTES),
    f"bytes={CHUNK_BYTES - 1}-{CHUNK_BYTES}": (CHUNK_BYTES - 1, CHUNK_BYTES + 1),
    "bytes=100-": (100, len(LARGE)),
    "bytes=-9": (len(LARGE) - 9, len(LARGE)),
    "bytes=5-99999999": (5, len(LARGE)),
}


@pytest.mark.parametrize("text", WIRE_RANGES)
def test_a_range_arrives_byte_for_byte(wire_media: Any, text: str) -> None:
    start, end = WIRE_RANGES[text]
    status, fields, body = get(wire_media, Range=text)
    assert (status, body) == (b"206", LARGE[start:end])
    assert fields["content-range"] == f"bytes {start}-{end - 1}/{len(LARGE)}"
    assert fields["content-length"] == str(end - start)
