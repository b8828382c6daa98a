"""Runs every benchmark of this folder, one after another, and says what came of each.

    python benchmarks/run.py [--quick] [--write MACHINE] [NAME ...]

NAMEs are those of scripts, without `.py`. --write puts the figures, MACHINE (in general terms:
"2 cores, CPython 3.11, beside other work") and the day into the table of README.md. Exit code 1
when one could not run to its end, or found that the work it measured was not done. A goal that is
missed is said, and fails nothing here.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from outcome import FIGURE, GOAL_MISSED

FOLDER = Path(__file__).parent
TABLE = FOLDER / "README.md"
NO_MODELS = {"SVC_SPEECH": "none", "SVC_EMBEDDINGS": "none"}
"""No voice and no model of meaning, for whichever does not ask for one."""
PROGRAMS = {"bench_http": "wrk", "bench_scaling": "wrk"}
"""Programs beside Python that a script needs; it is left out where its own is missing."""
SECONDS_MAX = 3_600
SECONDS_MAX_QUICK = 600


class End(NamedTuple):
    """How a script ended, and the figure that it gave."""

    verdict: str
    figure: str = ""


def run(script: Path, *, quick: bool) -> End:
    """Run one script, show what it prints, and say how it ended."""
    program = PROGRAMS.get(script.stem)
    if program and not shutil.which(program):
        return End(f"left out: needs {program}")
    arguments = ["--quick"] if quick else []
    print(f"== {script.name} {' '.join(arguments)}".rstrip(), flush=True)
    began = time.monotonic()
    try:
        process = subprocess.run(
            [sys.executable, script, *arguments],
            env=os.environ | NO_MODELS | {"PYTHONPATH": str(FOLDER.parent)},  # noqa: TID251 - no part of it
            stdout=subprocess.PIPE,
            text=True,
            timeout=SECONDS_MAX_QUICK if quick else SECONDS_MAX,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        printed, verdict = bytes(error.stdout or b"").decode(), "BROKEN: does not end"
    else:
        printed = process.stdout
        verdict = {0: "goal met", GOAL_MISSED: "goal missed"}.get(process.returncode, "BROKEN")
    figures = [line for line in printed.splitlines() if line.startswith(FIGURE)]
    if not figures and verdict.startswith("goal"):
        verdict = "BROKEN: gives no figure"
    line = f"{verdict}, {time.monotonic() - began:.1f} s"
    print(f"{printed}-- {line}\n", flush=True)
    return End(line, figures[-1].removeprefix(FIGURE) if figures else "")


def with_figures(table: str, ends: dict[str, End], machine: str, day: str) -> str:
    """The text with its rows of these scripts as they were measured."""
    for name, (_, figure) in ends.items():
        if figure:
            columns = f" {figure} | {machine} | {day} |"
            row = rf"^(\| `{name}\.py` \|(?:[^|\n]*\|){{3}}).*$"
            table = re.sub(
                row, lambda match, columns=columns: match[1] + columns, table, flags=re.M
            )
    return table


def main() -> int:
    """Run all, or those that are named; 1 when one is broken."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="the short form of each")
    parser.add_argument("--write", metavar="MACHINE", help="write README.md, measured on this")
    parser.add_argument("names", metavar="NAME", nargs="*")
    options = parser.parse_args()
    scripts = [FOLDER / f"{name}.py" for name in options.names] or sorted(FOLDER.glob("bench_*.py"))
    ends = {script.stem: run(script, quick=options.quick) for script in scripts}
    width = max(map(len, ends))
    for name, end in ends.items():
        print(f"{name.ljust(width)}  {end.verdict}  {end.figure}")
    if options.write:
        machine = options.write + (", short form" if options.quick else "")
        day = time.strftime("%Y-%m-%d", time.gmtime())
        TABLE.write_text(with_figures(TABLE.read_text("utf-8"), ends, machine, day), "utf-8")
    return int(any(end.verdict.startswith("BROKEN") for end in ends.values()))


if __name__ == "__main__":
    sys.exit(main())
