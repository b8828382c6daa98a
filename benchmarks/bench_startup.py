"""What it costs to start: help, a command that asks a running server, a store, the core, all of it.

Each is a process of its own, with its modules compiled before; all take turns with the bare imports
that they are compared with, and the CPU time of each (user and system, the median) is printed as a
ratio to those. The server that is asked here answers every command with the same twenty rows.
Goals: help 0.6, `svc --version` 0.9 and commands 1.3 times `import cyclopts, rich.console`, the
SQLite store 1.3 times `import aiosqlite, attrs, cattrs`, the core 1.2 times
`import attrs, cattrs, cryptography`; what the whole catalogue costs is shown.
Run: python benchmarks/bench_startup.py [--quick]
"""

import json
import os
import resource
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from outcome import close_run, is_quick

ROOT = Path(__file__).parents[1]
ROUNDS, ROUNDS_QUICK = 15, 5
SVC = "import sys; from svc_http.run.cli import main; sys.exit(main(sys.argv[1:]))"
PARSER = "import cyclopts, rich.console"
DRIVER = "import aiosqlite, attrs, cattrs"
LIBRARIES = "import attrs, cattrs, cryptography.hazmat.primitives.hashes"

CASES: tuple[tuple[str, str, float | None], ...] = (
    ("svc --help", PARSER, 0.6),
    ("svc keys --help", PARSER, 0.6),
    ("svc keys create --help", PARSER, 0.6),
    ("svc serve --help", PARSER, 0.6),
    ("svc --version", PARSER, 0.9),
    ("svc keys list", PARSER, 1.3),
    ("svc keys list --server unix:svc.db.sock", PARSER, 1.3),
    ("svc sources list --json", PARSER, 1.3),
    ("svc news list --limit 20", PARSER, 1.3),
    ("svc keys create --name desk", PARSER, 1.3),
    ("import svc_http.run.cli.ask_commands, svc_http.run.cli.app", PARSER, 1.3),
    ("import svc_http.run.cli.match_commands, svc_http.run.cli.app", PARSER, 1.3),
    ("import svc_http.stores.sqlite", DRIVER, 1.3),
    ("import svc_core", LIBRARIES, 1.2),
    ("import svc_core.catalog", LIBRARIES, None),
)
"""What is started, what it is compared with, and how many times that it may cost."""

ROWS = [{"id": f"key_{number:024x}", "name": f"key {number}"} for number in range(20)]
BODY = {"data": ROWS, "meta": {}, "links": {"next": None}}
ANSWER = {"status": 200, "mediaType": "application/json", "headers": {}, "failed": False}
LINE = json.dumps({"ok": {**ANSWER, "encoding": None, "body": BODY}}).encode() + b"\n"


@contextmanager
def server(path: Path) -> Iterator[None]:
    """Answer whoever connects, in a thread."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            while True:
                try:
                    link, _ = listening.accept()
                except OSError:
                    return
                with link, link.makefile("rwb") as lines:
                    lines.readline()
                    lines.write(LINE)

        threading.Thread(target=serve, daemon=True).start()
        yield
        listening.shutdown(socket.SHUT_RDWR)


def cpu_seconds(text: str, folder: Path, env: Mapping[str, str]) -> float:
    """The CPU time of a process that runs a command line or a statement."""
    words = text.split()
    arguments = [SVC, *words[1:]] if words[0] == "svc" else [text]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-c", *arguments],
        cwd=folder, env=env, stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(rounds: int) -> dict[str, float]:
    """The median of each text, of so many rounds in which all take turns."""
    texts = dict.fromkeys([PARSER, DRIVER, LIBRARIES, *(text for text, _, _ in CASES)])
    with TemporaryDirectory(prefix="svc-") as name:
        folder = Path(name)
        env = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": f"{name}/compiled"}
        env["PATH"] = os.environ["PATH"]  # noqa: TID251 - where Python looks for itself
        with server(folder / "svc.db.sock"):
            for text in texts:
                cpu_seconds(text, folder, env)  # compiles what it imports
            reads = [
                {text: cpu_seconds(text, folder, env) for text in texts} for _ in range(rounds)
            ]
    return {text: median(row[text] for row in reads) for text in texts}


def main() -> int:
    """Print a line for each case; `GOAL_MISSED` when a goal is missed."""
    seconds = measure(ROUNDS_QUICK if is_quick() else ROUNDS)
    width = max(len(text) for text, _, _ in CASES)
    ratios: dict[float, list[float]] = {}
    for text, peer, goal in CASES:
        ratio = seconds[text] / seconds[peer]
        if goal is not None:
            ratios.setdefault(goal, []).append(ratio)
        milliseconds = f"{1000 * seconds[text]:6.0f} ms, {1000 * seconds[peer]:4.0f} ms"
        print(f"{text.ljust(width)}  {ratio:6.2f} ({milliseconds} of {peer!r}), goal {goal}")
    worst = {goal: max(column) for goal, column in ratios.items()}
    figure = "; ".join(f"{ratio:.2f}" for ratio in worst.values())
    return close_run(all(ratio <= goal for goal, ratio in worst.items()), figure)


if __name__ == "__main__":
    sys.exit(main())
