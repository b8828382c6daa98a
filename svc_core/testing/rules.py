"""Makes a failing test begin with the sentence of the rule that it breaks.

A rule is a function that raises AssertionError where it does not hold. Its sentence is the first
paragraph of its docstring, else its name.
"""

import traceback
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def rule_text(rule: Callable[..., object]) -> str:
    """The sentence of a rule: the first paragraph of its docstring, else its name in words."""
    sentence = (rule.__doc__ or "").partition("\n\n")[0]
    return " ".join(sentence.split()) or rule.__name__.removeprefix("test_").replace("_", " ")


def explain_failures(rule: Callable[P, R]) -> Callable[P, R]:
    """Decorates a rule so that its failures begin with its sentence.

    Exceptions that are no AssertionError carry the sentence as a note.
    """
    note = f"broken rule: {rule_text(rule)}"

    @wraps(rule)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return rule(*args, **kwargs)
        except AssertionError as error:
            raise AssertionError(f"{note}\n{_failure_detail(error)}") from error
        except Exception as failure:
            failure.add_note(note)
            raise

    return wrapper


def _failure_detail(error: AssertionError) -> str:
    """The source line of the failed assertion, and its message."""
    line = traceback.extract_tb(error.__traceback__)[-1].line
    return "\n".join(part for part in (line, str(error)) if part)
