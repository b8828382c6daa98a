"""Runs every benchmark of this folder, one after another, and says what came of each.

    python benchmarks/run.py [--quick] [NAME ...]

NAMEs are those of scripts, without `.py`. Exit code 1 when one could not run to its end, or found
that the work it measured was not done. A goal that is missed is said, and fails nothing here.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from outcome import GOAL_MISSED, is_quick

FOLDER = Path(__file__).parent
NO_MODELS = {"SVC_SPEECH": "none", "SVC_EMBEDDINGS": "none"}
"""No voice and no model of meaning, for whichever does not ask for one."""
PROGRAMS = {"bench_http": "wrk", "bench_scaling": "wrk"}
"""Programs beside Python that a script needs; it is left out where its own is missing."""
SECONDS_MAX = 3_600
SECONDS_MAX_QUICK = 600


def run(script: Path, *, quick: bool) -> str:
    """Run one script, show what it prints, and say how it ended."""
    program = PROGRAMS.get(script.stem)
    if program and not shutil.which(program):
        return f"left out: needs {program}"
    arguments = ["--quick"] if quick else []
    print(f"== {script.name} {' '.join(arguments)}".rstrip(), flush=True)
    began = time.monotonic()
    try:
        process = subprocess.run(
            [sys.executable, script, *arguments],
            env=os.environ | NO_MODELS | {"PYTHONPATH": str(FOLDER.parent)},  # noqa: TID251 - no part of it
            timeout=SECONDS_MAX_QUICK if quick else SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired:
        outcome = "BROKEN: does not end"
    else:
        outcome = {0: "goal met", GOAL_MISSED: "goal missed"}.get(process.returncode, "BROKEN")
    line = f"{outcome}, {time.monotonic() - began:.1f} s"
    print(f"-- {line}\n", flush=True)
    return line


def main() -> int:
    """Run all, or those that are named; 1 when one is broken."""
    names = [name for name in sys.argv[1:] if not name.startswith("-")]
    scripts = [FOLDER / f"{name}.py" for name in names] or sorted(FOLDER.glob("bench_*.py"))
    outcomes = {script.stem: run(script, quick=is_quick()) for script in scripts}
    width = max(map(len, outcomes))
    for name, outcome in outcomes.items():
        print(f"{name.ljust(width)}  {outcome}")
    return int(any(outcome.startswith("BROKEN") for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
