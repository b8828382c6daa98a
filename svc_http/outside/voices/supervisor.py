"""A program that supervises another: `supervisor.py ALIVE SECONDS BYTES PROGRAM ARGUMENT...`.

It imports nothing of the service, and leads a process group with all processes that the program
starts. The whole group is killed after SECONDS, and when the other end of the pipe ALIVE is closed,
which also happens when the service is killed. No file may grow beyond BYTES.
"""

import os
import resource
import select
import signal
import sys
import threading
from typing import Final

CANNOT_RUN: Final = 127
"""The exit code of a shell whose command was not found (POSIX, 2.8.2)."""


def supervise_program(alive: int, seconds: float, size: int, argv: list[str]) -> int:
    """Run the program to its end; return its exit code, or 128 plus the signal that ended it."""
    os.set_inheritable(alive, False)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    threading.Thread(target=_end_all, args=(alive, seconds), daemon=True).start()
    try:
        # Python ignores these two, and a program would inherit that.
        pid = os.posix_spawnp(argv[0], argv, os.environ, setsigdef=(signal.SIGPIPE, signal.SIGXFSZ))
    except OSError as error:
        sys.stderr.write(f"cannot be run: {error.strerror}")
        return CANNOT_RUN
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code if code >= 0 else 128 - code


def _end_all(alive: int, seconds: float) -> None:
    select.select([alive], [], [], seconds)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(
        supervise_program(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
    )
