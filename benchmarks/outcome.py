"""How a benchmark is asked for its short form, and how it says what came of it.

A script ends with 0 where its goals are met and with `GOAL_MISSED` where one is not. Any other end
means that it could not run, or that its own check of the work failed: its figures then say nothing.
"""

import sys

GOAL_MISSED = 3
FIGURE = "figure: "


def is_quick() -> bool:
    """Whether `--quick` asks for the short form."""
    return "--quick" in sys.argv[1:]


def close_run(is_met: bool, figure: str) -> int:
    """Say in a line what was measured, as the table in README.md has it; the exit code."""
    print(f"{FIGURE}{figure}{'' if is_met else ': missed'}")
    return 0 if is_met else GOAL_MISSED
