"""The examples run as their first lines say."""

import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import httpx2

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
FEEDS = ROOT / "svc_http" / "demo" / "feeds"

PROFILE = {"name": "Ports", "topic": "Strikes at container ports", "frequency": "manual"}


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
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


def test_the_worker_writes_a_cited_report_from_feed_files() -> None:
    feeds = sorted(FEEDS.iterdir())

    done = _run(EXAMPLES / "worker.py", "Port strikes", PROFILE["topic"], *feeds)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("# Port strikes: ")
    assert "[1](#source-1)" in done.stdout
    assert len(done.stderr.splitlines()) == len(feeds)


def test_the_worker_says_how_it_is_used() -> None:
    done = _run(EXAMPLES / "worker.py")

    assert done.returncode == 1
    assert done.stderr == "usage: worker.py NAME TOPIC FEED...\n"


def test_the_property_tests_pass() -> None:
    done = _run("-m", "pytest", "-q", "-p", "no:cacheprovider", EXAMPLES / "property_tests.py")

    assert done.returncode == 0, done.stdout[-2_000:]
    assert "passed" in done.stdout


def test_fastapi_serves_the_mounted_service() -> None:
    example = _example("fastapi_embed")

    async def visit() -> None:
        transport = httpx2.ASGITransport(example.host)
        async with (
            example.host.router.lifespan_context(example.host),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
        ):
            opened = await client.post("/desks/ports")
            access = {"Authorization": f"Bearer {opened.json()['key']}"}
            made = await client.post(
                "/intel/api/v1/profiles",
                json=PROFILE,
                headers=access | {"Idempotency-Key": "from-the-host"},
            )
            found = await client.get(made.headers["location"], headers=access)

        assert opened.status_code == 201
        assert made.status_code == 201
        assert made.headers["location"].startswith("http://127.0.0.1:8000/intel/api/v1/profiles/")
        assert found.json()["data"] == made.json()["data"]

    asyncio.run(visit())


def test_django_serves_the_operations() -> None:
    done = _run("-W", "error", "-c", _DJANGO_VISIT)

    assert done.returncode == 0, done.stderr[-2_000:]
    assert done.stdout.splitlines() == ["201", "200 Ports", "404 NOT_FOUND", "412 stale", "405"]


_DJANGO_VISIT = f"""
import json, sys
sys.path.insert(0, {str(EXAMPLES)!r})
import django_embed
from django.test import Client

ours, others = Client(headers={{"X-Team": "ours"}}), Client(headers={{"X-Team": "others"}})
made = ours.post("/api/v1/profiles", {PROFILE!r}, content_type="application/json",
                 headers={{"Idempotency-Key": "from-django"}})
print(made.status_code)
place = made["Location"].removeprefix("http://127.0.0.1:8000")
found = ours.get(place)
print(found.status_code, found.json()["data"]["name"])
missed = others.get(place)
print(missed.status_code, missed.json()["code"])
stale = ours.delete(place, headers={{"If-Match": '"another"'}})
print(stale.status_code, "stale" if "ETag" in stale else "no tag")
print(ours.post(place, {{}}, content_type="application/json").status_code)
"""
