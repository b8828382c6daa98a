"""A disk without room is named as the cause, by every command, with a server and without one."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.disks import mount
from tests.http.cli.conftest import Ran

NO_SPACE = "no space is left on the disk of the database"
PROFILE = ("--name", "Ports", "--topic", "Strikes at ports", "--frequency", "manual")
COMMANDS = {
    "write": ("keys", "create", "--name", "second"),
    "read": ("keys", "list"),
    "json": ("profiles", "create", *PROFILE, "--json"),
    "status": ("db", "status"),
    "new": ("keys", "create", "--name", "first", "--db", "new.db"),
}


@pytest.fixture(scope="module")
def disk() -> Iterator[Path]:
    with mount("6m") as folder:
        yield folder


@pytest.mark.parametrize("command", COMMANDS.values(), ids=list(COMMANDS))
def test_a_command_names_a_full_disk(
    command: tuple[str, ...],
    disk: Path,
    svc: Callable[..., Ran],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(disk)
    (disk / "filler").unlink(missing_ok=True)
    if not (disk / "svc.db").exists():
        assert svc("workspaces", "create", "--name", "W", "--plan", "elite").code == 0
        assert svc("keys", "create", "--name", "first").code == 0
    (disk / "filler").write_bytes(b"0" * shutil.disk_usage(disk).free)

    ran = svc(*command)

    assert ran.code == 1
    assert "no space" in ran.err.lower()
    assert "Traceback" not in ran.err
    assert "internal error" not in ran.err
