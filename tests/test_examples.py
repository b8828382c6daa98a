"""The examples run as their first lines say."""

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import httpx2
import pytest

from svc_http import system
from svc_http.run.demo.demo_feeds import demo_file
from tests.nursery import PIPE, program

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FEEDS = ROOT / "svc_http" / "run" / "demo" / "feeds"

PROFILE = {"name": "Ports", "topic": "Strikes at container ports", "frequency": "manual"}


def _run(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def _example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # Django asks for its routes by the module's name
    spec.loader.exec_module(module)
    return module


def test_the_worker_writes_a_cited_report_from_feed_files(tmp_path: Path) -> None:
    feeds = [tmp_path / path.name for path in sorted(FEEDS.iterdir())]
    for feed in feeds:
        feed.write_bytes(demo_file(f"feeds/{feed.name}", system.now()))

    process = _run(EXAMPLES / "worker.py", "Port strikes", PROFILE["topic"], *feeds)

    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("# Port strikes: ")
    assert "[1](<https://" in process.stdout
    assert len(process.stderr.splitlines()) == len(feeds)


def test_the_worker_says_how_it_is_used() -> None:
    process = _run(EXAMPLES / "worker.py")

    assert process.returncode == 1
    assert process.stderr == "usage: worker.py NAME TOPIC FEED...\n"


def test_the_property_tests_pass() -> None:
    process = _run("-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLES / "property_tests.py")

    assert process.returncode == 0, process.stdout[-2_000:]
    assert "passed" in process.stdout


def test_fastapi_serves_the_mounted_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SVC_DB", str(tmp_path / "intel.db"))
    example = _example("fastapi_embed")

    async def visit() -> None:
        transport = httpx2.ASGITransport(example.host)
        async with (
            example.host.router.lifespan_context(example.host),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
        ):
            answer = await client.post("/desks/ports")
            access = {"Authorization": f"Bearer {answer.json()['key']}"}
            created = await client.post(
                "/intel/api/v1/profiles",
                json=PROFILE,
                headers=access | {"Idempotency-Key": "from-the-host"},
            )
            profile = await client.get(created.headers["location"], headers=access)
            command = ("-m", "svc_http", "keys", "list", "--json")
            keys = await asyncio.to_thread(_run, *command, SVC_DB=str(tmp_path / "intel.db"))

        assert keys.returncode == 0, keys.stderr
        assert "first" in keys.stdout
        assert answer.status_code == 201
        assert created.status_code == 201
        assert created.headers["location"].startswith(
            "http://127.0.0.1:8000/intel/api/v1/profiles/"
        )
        assert profile.json()["data"] == created.json()["data"]

    asyncio.run(visit())


@pytest.mark.parametrize("views", ["sync", "async"])
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])
def test_django_serves_the_operations(
    views: str, kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = ":memory:" if kind == "memory" else str(tmp_path / "svc.db")
    if kind == "postgres":
        server = request.getfixturevalue("postgres")
        place = server.dsn(server.fresh())
    settings = f"import os\nos.environ.update(SVC_DB={place!r}, SVC_VIEWS={views!r})\n"
    with program(settings + _DJANGO_VISITS[views], stdout=PIPE, stderr=PIPE) as process:
        out, err = process.communicate(60)

    assert process.returncode == 0, err[-2_000:]
    assert out.splitlines() == ["201", "200 Ports", "404 NOT_FOUND", "412 stale", "405"]


_DJANGO_VISIT = f"""
import asyncio, json, sys
sys.path.insert(0, {str(EXAMPLES)!r})
import django_embed
from django.test import AsyncClient as Client

async def visit():
    client, ours, others = Client(), {{"X-Team": "ours"}}, {{"X-Team": "others"}}
    made = await client.post("/api/v1/profiles", {PROFILE!r}, content_type="application/json",
                             headers=ours | {{"Idempotency-Key": "from-django"}})
    print(made.status_code)
    place = made["Location"].removeprefix("http://127.0.0.1:8000")
    found = await client.get(place, headers=ours)
    print(found.status_code, found.json()["data"]["name"])
    missed = await client.get(place, headers=others)
    print(missed.status_code, missed.json()["code"])
    stale = await client.delete(place, headers=ours | {{"If-Match": '"another"'}})
    print(stale.status_code, "stale" if "ETag" in stale else "no tag")
    print((await client.post(place, {{}}, content_type="application/json")).status_code)

asyncio.run(visit())
"""
_DJANGO_VISITS = {
    "async": _DJANGO_VISIT,
    "sync": _DJANGO_VISIT.replace("AsyncClient", "Client")
    .replace("async def", "def")
    .replace("await ", "")
    .replace("asyncio.run(visit())", "visit()"),
}
