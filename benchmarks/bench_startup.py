"""What it costs to start: help, a command that asks a running server, a store, the core, all of it.

Each is a process of its own, with its modules compiled before; all take turns with the bare imports
that they are compared with, and the CPU time of each (user and system, the median) is printed as a
ratio to those. The server that is asked here answers every command with the same twenty rows.
Goals: help 0.6, `svc --version` 0.9 and commands 1.3 times `import cyclopts, rich.console`, the
SQLite store 1.3 times `import aiosqlite, attrs, cattrs`, the core 1.2 times
`import attrs, cattrs, cryptography`; what the whole catalogue costs is shown. Then the demo is
started, cold (nothing compiled) and warm: goals are a first line within 1 s and, warm, 5 s of CPU
until it answers.
Run: python benchmarks/bench_startup.py [--quick]
"""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from outcome import close_run, is_quick

ROOT = Path(__file__).parents[1]
ROUNDS, ROUNDS_QUICK = 15, 5
FIRST_LINE_SECONDS, DEMO_CPU_SECONDS = 1.0, 5.0
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


def demo_start(env: Mapping[str, str]) -> tuple[float, float, float]:
    """Seconds until the demo prints its first line, until it answers, and of its CPU until then."""
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", SVC, "serve", "--demo", "--port", "0"],
        env={**env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        assert run.stderr is not None
        run.stderr.readline()
        first = time.monotonic() - began
        while "Ctrl-C" not in run.stdout.readline():
            assert run.poll() is None
        fields = Path(f"/proc/{run.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        cpu = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        ready = time.monotonic() - began
        run.send_signal(signal.SIGINT)
    return first, ready, cpu


def demo_starts(rounds: int) -> tuple[float, float]:
    """Print how the demo starts, cold and warm; seconds to its first line and of its CPU, warm."""
    with TemporaryDirectory(prefix="svc-") as name:
        env = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": name, "SVC_REQUEST_LOG": "off"}
        env["PATH"] = os.environ["PATH"]  # noqa: TID251 - where Python looks for itself
        cold, *warm = [demo_start(env) for _ in range(1 + rounds)]
    usual = [median(row[n] for row in warm) for n in range(3)]
    for kind, (first, ready, cpu) in (("cold", cold), ("warm", usual)):
        print(f"demo, {kind}: first line {first:.2f} s, ready {ready:.1f} s, CPU {cpu:.1f} s")
    return usual[0], usual[2]


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
    first, cpu = demo_starts(3)
    figure += f"; {first:.1f} s, {cpu:.1f} s"
    is_prompt = first <= FIRST_LINE_SECONDS and cpu <= DEMO_CPU_SECONDS
    return close_run(is_prompt and all(ratio <= goal for goal, ratio in worst.items()), figure)


if __name__ == "__main__":
    sys.exit(main())
