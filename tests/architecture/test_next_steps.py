"""The next step that a problem tells is a sentence of its own, and fits the occurrence."""

import ast
from collections.abc import Iterator
from typing import Any

import pytest

from svc_core import problem


def _raised(product: Any) -> Iterator[tuple[str, str | None, str]]:
    """Where a problem is made, of which type, and the step that it tells by itself."""
    for module in product:
        for call in ast.walk(module.tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Problem":
                kind = call.args[0] if call.args else None
                for given in call.keywords:
                    if given.arg == "resolution":
                        for text in ast.walk(given.value):
                            if isinstance(text, ast.Constant) and text.value:
                                yield (
                                    f"{module.name}:{call.lineno}",
                                    getattr(kind, "attr", None),
                                    text.value,
                                )


def test_every_step_of_an_occurrence_is_one_sentence_that_its_type_does_not_say(
    product: Any,
) -> None:
    told = list(_raised(product))

    assert told
    for place, code, step in told:
        assert step[0].isupper(), place
        assert step.endswith("."), place
        assert code is None or step != getattr(problem, code).resolution, place


@pytest.mark.parametrize("kind", problem.CATALOGUE.values(), ids=list(problem.CATALOGUE))
def test_the_step_of_a_type_names_no_parameter(kind: problem.ProblemType) -> None:
    """A type is met at many operations, of which few have the parameter."""
    if "PARAMETER" in kind.code:
        assert not {"datetime", "since", "until", "after", "cursor", "limit"} & set(
            kind.resolution.replace("/", " ").split()
        )
