"""Runs every benchmark of this folder, one after another, and says which missed its goal.

    python benchmarks/run.py [--quick]

Exit code 1 when one missed its goal or could not run.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
NO_MODELS = {"SVC_SPEECH": "none", "SVC_EMBEDDINGS": "none"}
"""No voice and no model of meaning, for whichever does not ask for one."""


def run(script: Path, *, quick: bool) -> bool:
    """Run one script, show what it printed, and say how it ended."""
    # A script that has no short form is short.
    arguments = ["--quick"] if quick and '"--quick"' in script.read_text("utf-8") else []
    print(f"== {script.name} {' '.join(arguments)}".rstrip(), flush=True)
    began = time.monotonic()
    process = subprocess.run(
        [sys.executable, script, *arguments],
        env=os.environ | NO_MODELS | {"PYTHONPATH": str(FOLDER.parent)},  # noqa: TID251 - no part of it
        check=False,
    )
    outcome = "ok" if process.returncode == 0 else "MISSED OR BROKEN"
    print(f"-- {outcome}, {time.monotonic() - began:.1f} s\n", flush=True)
    return process.returncode == 0


def main() -> int:
    """Run all; the exit code."""
    quick = "--quick" in sys.argv[1:]
    outcomes = {path.name: run(path, quick=quick) for path in sorted(FOLDER.glob("bench_*.py"))}
    width = max(map(len, outcomes))
    for name, is_met in outcomes.items():
        print(f"{name.ljust(width)}  {'ok' if is_met else 'MISSED OR BROKEN'}")
    return 0 if all(outcomes.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
