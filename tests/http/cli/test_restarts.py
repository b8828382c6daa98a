"""What outlives the process: where a walk stands, when a key was used, whose the files are."""

import re
import stat
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from svc_http import system

OLD, NEW, NEXT = "0123456789abcdef" * 4, "fedcba9876543210" * 4, "89abcdef01234567" * 4


def start(serving: Callable[..., Any], folder: Path, **env: str) -> Any:
    return serving("--db", "svc.db", "--port", 0, cwd=folder, SVC_ENV="production", **env)


def page(running: Any, key: str, cursor: str | None) -> Any:
    query = "?limit=2" + (f"&cursor={cursor}" if cursor else "")
    return running.get(f"/api/v1/profiles{query}", key)


def test_a_walk_goes_on_through_rotations_of_the_secret_and_ends_with_its_own(
    tmp_path: Path, serving: Callable[..., Any], svc_in: Callable[..., Any]
) -> None:
    previous = tmp_path / "previous"
    previous.write_text(f"{OLD}\n")
    with start(serving, tmp_path, SVC_SECRET=OLD) as running:
        api_key = svc_in("keys", "create", "--name", "a", "--json", cwd=tmp_path).json
        key = api_key["key"]
        for number in range(7):
            creation = running.http.post(
                running.addresses["api"] + "/profiles",
                json={"name": f"P{number}", "topic": "Port strikes", "frequency": "manual"},
                headers={"authorization": f"Bearer {key}", "idempotency-key": f"k{number:08}"},
            )
            assert creation.status_code == 201
        first = page(running, key, None).json()
    with start(
        serving, tmp_path, SVC_SECRET=NEW, SVC_SECRET_PREVIOUS_FILE=str(previous)
    ) as running:
        second = page(running, key, first["meta"]["page"]["nextCursor"]).json()
        again = page(running, key, first["meta"]["page"]["nextCursor"]).json()
        assert again["data"] == second["data"]
    # The second page was sealed with the present secret: the old one may go now.
    with start(serving, tmp_path, SVC_SECRET=NEXT, SVC_SECRET_PREVIOUS=NEW) as running:
        third = page(running, key, second["meta"]["page"]["nextCursor"]).json()
        last = page(running, key, third["meta"]["page"]["nextCursor"]).json()
        drop = page(running, key, first["meta"]["page"]["nextCursor"])
        assert (drop.status_code, drop.json()["code"]) == (400, "INVALID_CURSOR")
    walk = [row["name"] for part in (first, second, third, last) for row in part["data"]]
    assert walk == [f"P{number}" for number in reversed(range(7))]
    assert last["meta"]["page"]["nextCursor"] is None


def test_when_a_key_was_last_used_is_kept_over_the_end_of_the_server(
    tmp_path: Path, serving: Callable[..., Any], svc_in: Callable[..., Any]
) -> None:
    with serving("--db", "svc.db", "--port", 0, cwd=tmp_path) as running:
        api_key = svc_in("keys", "create", "--name", "a", "--json", cwd=tmp_path).json
        assert (
            svc_in("keys", "show", api_key["id"], "--json", cwd=tmp_path).json["lastUsedAt"] is None
        )
        assert running.get("/api/v1/profiles", api_key["key"]).status_code == 200
        assert running.get("/api/v2/changes", api_key["key"]).json()["data"] == []
        assert running.stop() == (0, "")
    (listing,) = svc_in("keys", "list", "--json", cwd=tmp_path).json
    view = svc_in("keys", "show", api_key["id"], "--json", cwd=tmp_path).json
    assert listing["lastUsedAt"] == view["lastUsedAt"]
    used = datetime.fromisoformat(re.sub("Z$", "+00:00", view["lastUsedAt"]))
    assert timedelta() <= system.now() - used < timedelta(minutes=5)
    svc_in("keys", "regenerate", api_key["id"], "--json", cwd=tmp_path)
    assert svc_in("keys", "show", api_key["id"], "--json", cwd=tmp_path).json["lastUsedAt"] is None


def test_every_file_beside_the_database_is_its_owners_alone(
    tmp_path: Path, serving: Callable[..., Any], svc_in: Callable[..., Any]
) -> None:
    with serving("--db", "svc.db", "--port", 0, cwd=tmp_path):
        svc_in("keys", "create", "--name", "a", "--json", cwd=tmp_path)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    names = ["svc.db", "svc.db-shm", "svc.db-wal", "svc.db.lock", "svc.db.secret", "svc.db.sock"]
    assert modes == dict.fromkeys(names, 0o600)
