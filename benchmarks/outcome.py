"""How a benchmark is asked for its short form, and how it says what came of it.

A script ends with 0 where its goals are met and with `GOAL_MISSED` where one is not. Any other end
means that it could not run, or that its own check of the work failed: its figures then say nothing.
"""

import sys

GOAL_MISSED = 3


def is_quick() -> bool:
    """Whether `--quick` asks for the short form."""
    return "--quick" in sys.argv[1:]


def exit_code(is_met: bool) -> int:
    """The exit code of a benchmark that ran to its end."""
    return 0 if is_met else GOAL_MISSED
