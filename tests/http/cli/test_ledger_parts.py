"""`svc ledger export --size`: a beginning of the log whose content was erased after it is told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Svc = Callable[..., Any]
ERASING = "svc.toml"


@pytest.fixture
def claims(svc: Svc) -> list[str]:
    """Three claims, records 1 to 3; the last two were erased by the records 4 and 5."""
    Path(ERASING).write_text('allow_erasure = ["*"]\n')
    svc("workspaces", "create", "--name", "acme", "--plan", "elite")
    subject = svc("ledger", "open", "--type", "other", "--label", "Pier 7", "--json").json["id"]
    claim = {"kind": "claim", "subject": subject, "predicate": "status"}
    entries = [json.dumps({**claim, "value": value}) for value in ("a", "b", "c")]
    Path("in.ndjson").write_text("\n".join(entries))
    rows = svc("ledger", "append", "in.ndjson", "--json").json["records"]
    for row in rows[1:]:
        erased = svc("ledger", "erase", row["id"], "--reason", "asked", "--config", ERASING)
        assert erased.code == 0, erased.err
    return [row["id"] for row in rows]


@pytest.mark.usefixtures("claims")
@pytest.mark.parametrize(("size", "later"), [(1, 0), (2, 0), (3, 1), (4, 2), (5, 1), (6, 0)])
def test_a_part_says_how_many_of_its_records_were_erased_after_it(
    svc: Svc, size: int, later: int
) -> None:
    told = svc("ledger", "export", "part.ndjson", "--size", size, "--json").json
    assert (told["size"], told["erasedLater"]) == (size, later)

    shown = svc("ledger", "export", "part.ndjson", "--size", size)
    assert shown.code == 0
    assert ("PAYLOAD_MISSING" in shown.out) is (later > 0)
    verified = svc("ledger", "verify", "part.ndjson")
    assert verified.code == (1 if later else 0)
    assert ("export the whole ledger" in verified.out) is (later > 0)


@pytest.mark.usefixtures("claims")
def test_a_part_on_stdout_says_so_on_stderr(svc: Svc) -> None:
    part = svc("ledger", "export", "--size", 3)
    assert "PAYLOAD_MISSING" in part.err
    assert "PAYLOAD_MISSING" not in part.out
    whole = svc("ledger", "export")
    assert whole.err == ""
    assert whole.out.startswith(part.out)
