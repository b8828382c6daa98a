"""The ledger of the demo, and `svc ledger` while a server runs."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http import system
from svc_http.commands import imports
from svc_http.commands.progress import Progress

Run = Callable[..., Any]


@pytest.fixture
def run(demo: Any, spawn: Run, tmp_path: Path) -> Run:
    """Runs `svc ledger` against the demo, from a folder that knows nothing of it."""
    return lambda *arguments: spawn(
        "ledger", *arguments, cwd=tmp_path, SVC_SERVER=demo.addresses["admin"]
    )


def test_the_demo_shows_what_contradicts_and_who_judged_it(demo: Any) -> None:
    (subject,) = demo.get("/api/v2/ledger/subjects").json()["data"]
    assert subject["label"] == "Kestrel Exchange"
    place = f"/api/v2/ledger/subjects/{subject['id']}"
    view = demo.get(f"{place}?include=history").json()["data"]
    seat, status = view["claims"]["headquarters"], view["claims"]["status"]
    assert (seat["value"], seat["contested"]) == ("Victoria, Seychelles", True)
    (best, other) = seat["candidates"]
    (verdict,) = best["support"][0]["verification"]["verdicts"]
    assert verdict["state"] == "corroborated"
    assert verdict["author"] != best["support"][0]["author"]
    assert other["value"] == "Singapore"
    assert len(view["observations"]) == 2
    assert (status["value"], len(view["history"])) == ("under court protection", 1)
    first = demo.get(f"{place}?recordTime={subject['openedAt']}").json()["data"]
    assert first["claims"] == {}
    early = demo.get(f"{place}?validTime=2020-01-01T00:00:00Z").json()["data"]
    assert early["claims"]["status"]["value"] == "trading"
    assert view["recordTime"] <= system.now().isoformat()


def test_a_served_ledger_leaves_arrives_and_verifies(run: Run, demo: Any, tmp_path: Path) -> None:
    out = run("export", "x.ndjson", "--checkpoint", "cp", "--json").json
    assert out["size"] >= 9
    held = ("--checkpoint", "cp", "--key", out["vkey"])
    assert run("verify", "x.ndjson", *held).code == 0
    served = demo.get("/api/v2/ledger/verify").json()["data"]
    assert (served["ok"], served["vkey"], served["ledger"]) == (True, out["vkey"], out["ledger"])
    # The file is the server's to read, so its path is told whole.
    again = run("import", "x.ndjson", "--json")
    assert again.json["imported"] == 0
    assert run("import", "cp").code == 1


def test_news_from_another_thread_arrives_in_the_loop() -> None:
    import asyncio  # noqa: PLC0415

    told: list[Progress] = []

    async def work() -> None:
        tell = imports._from_elsewhere(told.append)
        await asyncio.to_thread(tell, Progress(1, 2, "MiB verified"))
        await asyncio.sleep(0)

    asyncio.run(work())
    assert told == [Progress(1, 2, "MiB verified")]
