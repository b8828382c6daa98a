"""Failures that say which rule was broken, in words, before they say by what.

A rule is a function that raises AssertionError where it does not hold: its words are the first
sentence of its docstring, or its name.
"""

import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def words_of(rule: Callable[..., object]) -> str:
    """What a rule says, in words."""
    said = (rule.__doc__ or "").partition("\n\n")[0]
    return " ".join(said.split()) or rule.__name__.removeprefix("test_").replace("_", " ")


def named(rule: Callable[P, R]) -> Callable[P, R]:
    """The rule, whose failures begin with its words; other exceptions carry them as a note."""
    told = f"broken rule: {words_of(rule)}"

    @wraps(rule)
    def checked(*given: P.args, **how: P.kwargs) -> R:
        try:
            return rule(*given, **how)
        except AssertionError as broken:
            raise AssertionError(f"{told}\n{_shown(broken)}") from broken
        except Exception as failure:
            failure.add_note(told)
            raise

    return checked


def _shown(broken: AssertionError) -> str:
    """What was asserted, and what it was asserted of."""
    line = traceback.extract_tb(broken.__traceback__)[-1].line
    return "\n".join(part for part in (line, str(broken)) if part)
