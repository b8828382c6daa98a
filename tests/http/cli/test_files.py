"""Files that commands write: whole or not at all, and nothing else is ever replaced by one."""

import ast
import json
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svc_http.run.cli import files

Svc = Callable[..., Any]

WRITERS = {
    "ledger export": "ledger export OUT",
    "ledger export --checkpoint": "ledger export all.ndjson --checkpoint OUT",
    "ledger append --receipt": "ledger append records.ndjson --again --receipt OUT",
    "changes tail --state": "changes tail --state OUT",
    "ledger stix --out": "ledger stix SUBJECT --out OUT",
}
"""Every way in which a command is told of a file to write; each `--out` is written alike."""


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest, svc: Svc, cwd: Path) -> Callable[[object], Any]:
    """Runs one of the commands with a file to write."""
    svc("keys", "create", "--name", "a")
    line = ("--type", "organization", "--label", "Pier 7 AG", "--json")
    subject = svc("ledger", "open", *line).json["id"]
    claim = {"kind": "claim", "subject": subject, "predicate": "headquarters", "value": "Antwerp"}
    (cwd / "records.ndjson").write_text(json.dumps(claim))

    def run(out: object) -> Any:
        words = WRITERS[request.param].replace("SUBJECT", subject).split()
        return svc(*(out if word == "OUT" else word for word in words))

    return run


def test_a_command_replaces_regular_files_alone(write: Any, cwd: Path) -> None:
    plain, link, loose = cwd / "plain", cwd / "link", cwd / "loose"
    plain.write_bytes(b"")
    plain.chmod(0o640)
    link.symlink_to("target")
    (cwd / "target").write_bytes(b"")
    loose.symlink_to("made")
    for out in (plain, link, loose, cwd / "new"):
        ran = write(out)
        assert (ran.code, out.stat().st_size > 0) == (0, True), (out, ran.err)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert loose.is_symlink()
    null = os.stat("/dev/null")
    assert write("/dev/null").code == 0
    after = os.stat("/dev/null")
    assert (after.st_ino, after.st_rdev, after.st_mode) == (null.st_ino, null.st_rdev, null.st_mode)
    assert list(cwd.glob("*.new")) == []


def test_what_cannot_be_written_is_told_in_a_line_and_nothing_is_left(
    write: Any, cwd: Path
) -> None:
    (cwd / "folder").mkdir()
    (cwd / "other.new").write_text("of somebody else")
    for out in ("folder", "none/out", "/dev/full", "/proc/version", "x" * 256):
        ran = write(out)
        assert (ran.code > 0, ran.err.count("\n"), "Traceback" in ran.err) == (True, 1, False), out
        assert out == "/proc/version" or "cannot be" in ran.err or "more than" in ran.err
    assert [path.name for path in cwd.glob("*.new")] == ["other.new"]
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


def test_a_pipe_is_written_through(write: Any, cwd: Path, request: Any) -> None:
    pipe = cwd / "pipe"
    os.mkfifo(pipe)
    if "state" in request.node.name:  # it is read first, which a pipe would never end
        assert write(pipe).code == 2
        return
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    ran = write(pipe)
    reader.join(20)
    assert (ran.code, pipe.is_fifo()) == (0, True)
    assert read[0]


def test_no_command_writes_a_file_in_another_way() -> None:
    own = Path(files.__file__)
    for path in own.parent.glob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            name = getattr(call.func, "attr", "") if isinstance(call, ast.Call) else ""
            assert path == own or name not in {
                "write_bytes",
                "write_text",
                "rename",
                "replace_file",
            }
