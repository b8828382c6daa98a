"""The receivers and the recipe that the page shows do what it says."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from email.message import Message
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import httpx2
import pytest

from svc_core.outbox.model import REPORT_GENERATED, OutboxEvent
from svc_core.webhooks import signing
from svc_http import system

PAGE = "docs/webhooks.md"
KEY, OLD = b"k" * 32, b"o" * 32
SECRET = signing.secret_text(KEY)


def _blocks(documents: dict[str, str], language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", documents[PAGE], re.DOTALL | re.MULTILINE)


@pytest.fixture
def program(documents: dict[str, str]) -> dict[str, Any]:
    """What the page's Python defines."""
    names: dict[str, Any] = {"__name__": PAGE}
    for block in _blocks(documents, "python"):
        exec(compile(block, PAGE, "exec"), names)
    return names


# -- receivers ---------------------------------------------------------------------------------


def _delivery(*, minutes: int = 0, keys: tuple[bytes, ...] = (KEY,)) -> tuple[dict[str, str], str]:
    at = system.now() - timedelta(minutes=minutes)
    event = OutboxEvent("evt_65f1c0de8badf00d12345678", REPORT_GENERATED, "rpt_1", '{"a":"é"}', at)
    fields = signing.fields(event, attempt_id="att_1", number=1, at=at, keys=keys)
    return {name.lower(): value for name, value in fields.items()}, event.body


def _cases() -> Iterator[tuple[str, dict[str, str], str, bool]]:
    fields, body = _delivery()
    yield "as sent", fields, body, True
    yield "another body", fields, body.replace("é", "e"), False
    yield "another event", {**fields, "webhook-id": "evt_" + "0" * 24}, body, False
    yield "another time", {**fields, "webhook-timestamp": "1"}, body, False
    yield "no signature", {**fields, "webhook-signature": "v1,"}, body, False
    yield "by another secret", *_delivery(keys=(OLD,)), False
    yield "by the one before it", *_delivery(keys=(OLD, KEY)), True
    yield "too old", *_delivery(minutes=6), False


def test_the_python_receiver_takes_what_is_signed_and_nothing_else(program: Any) -> None:
    for name, fields, body, is_taken in _cases():
        try:
            program["verify"](SECRET, fields, body.encode())
        except ValueError:
            assert not is_taken, name
        else:
            assert is_taken, name


@pytest.mark.needs("node")
def test_the_javascript_receiver_takes_what_is_signed_and_nothing_else(
    documents: dict[str, str], tmp_path: Path
) -> None:
    (block,) = _blocks(documents, "javascript")
    assert len([line for line in block.splitlines() if line.startswith("  ")]) <= 10
    calls = """
import { readFileSync } from "node:fs";
const told = JSON.parse(readFileSync(0)).map(([secret, headers, body]) => {
  try { verify(secret, headers, Buffer.from(body)); return true; } catch { return false; }
});
console.log(JSON.stringify(told));
"""
    (tmp_path / "verify.mjs").write_text(block + calls, "utf-8")
    cases = list(_cases())
    request = json.dumps([[SECRET, fields, body] for _, fields, body, _ in cases])
    process = subprocess.run(
        ["node", tmp_path / "verify.mjs"],
        input=request,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(process.stdout) == [is_taken for *_, is_taken in cases]


# -- the recipe --------------------------------------------------------------------------------


def _http_error(code: int) -> HTTPError:
    return HTTPError("http://a.example", code, "refused", Message(), None)


def test_a_copy_is_rebuilt_and_kept_from_the_change_feed(program: Any, demo: Any) -> None:
    origin = f"http://127.0.0.1:{demo.port}"
    read = program["reader"](origin, demo.key)
    catch_up = program["catch_up"]
    copy = {"watermark": None, "reports": {}}
    catch_up(copy, read)
    ids = {row["id"] for row in read("/api/v1/reports?limit=100")["data"]}
    assert set(copy["reports"]) == ids != set()
    before, watermark = set(copy["reports"]), copy["watermark"]

    profile_id = next(iter(copy["reports"].values()))["profileId"]
    bearer = {"Authorization": f"Bearer {demo.key}"}
    answer = httpx2.delete(f"{origin}/api/v1/profiles/{profile_id}", headers=bearer)
    assert answer.status_code == 204
    catch_up(copy, read)
    ids = {row["id"] for row in read("/api/v1/reports?limit=100")["data"]}
    assert set(copy["reports"]) == ids < before
    assert copy["watermark"] != watermark


def test_after_a_restore_the_copy_begins_again(program: Any) -> None:
    paths: list[str] = []

    def read(path: str) -> Any:
        paths.append(path)
        if "after=" in path:
            raise _http_error(410)
        return {"data": [], "meta": {"watermark": "w1.new"}, "links": {"next": None}}

    copy: dict[str, Any] = {"watermark": "w1.old", "reports": {"rpt_1": {}}}
    program["catch_up"](copy, read)
    assert copy == {"watermark": "w1.new", "reports": {}}
    assert ["after=" in path for path in paths] == [True, False]


@pytest.mark.parametrize("place", ["/api/v2/changes", "/api/v1/reports"])
def test_what_stops_the_recipe_leaves_the_watermark(program: Any, place: str) -> None:
    copy: dict[str, Any] = {"watermark": "w1.old", "reports": {}}
    with pytest.raises(HTTPError):
        program["catch_up"](copy, _reader(place, 500))
    assert copy["watermark"] == "w1.old"


def test_a_report_that_is_gone_meanwhile_is_not_kept(program: Any) -> None:
    copy: dict[str, Any] = {"watermark": None, "reports": {}}
    program["catch_up"](copy, _reader("/api/v1/reports", 404))
    assert copy == {"watermark": "w1.new", "reports": {}}


def _reader(place: str, code: int) -> Callable[[str], Any]:
    """Reads a feed of one report; one of the two places refuses."""

    def read(path: str) -> Any:
        if path.startswith(place):
            raise _http_error(code)
        change = {"resourceId": "rpt_1", "tombstone": False, "links": {"self": "/api/v1/reports/1"}}
        return {"data": [change], "meta": {"watermark": "w1.new"}, "links": {"next": None}}

    return read
