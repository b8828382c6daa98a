"""The next step that a problem tells is a sentence of its own, and fits the occurrence."""

import ast
import re
from collections.abc import Iterator
from typing import Any

from svc_core.contract import problem
from svc_http.run.cli.app import command_tree


def _problems(product: Any) -> Iterator[tuple[str, str | None, str]]:
    """Where a problem is made, of which type, and the step that it tells by itself."""
    for module in product:
        for call in module.nodes:
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Problem":
                kind = call.args[0] if call.args else None
                for keyword in call.keywords:
                    if keyword.arg == "resolution":
                        for text in ast.walk(keyword.value):
                            if isinstance(text, ast.Constant) and text.value:
                                yield (
                                    f"{module.name}:{call.lineno}",
                                    getattr(kind, "attr", None),
                                    text.value,
                                )


def test_every_step_of_an_occurrence_is_one_sentence_that_its_type_does_not_say(
    product: Any,
) -> None:
    problems = list(_problems(product))

    assert problems
    for place, code, step in problems:
        assert step[0].isupper(), place
        assert step.endswith("."), place
        assert code is None or step != getattr(problem, code).resolution, place


_COMMAND = re.compile(r"\bsvc ([a-z]+)(?: ([a-z]+(?:-[a-z]+)*))?")
_LABELS = {"svc ledger salt", "svc counters"}
"""Texts that keys are derived from: nobody reads them."""


def test_every_command_that_a_text_names_exists(product: Any) -> None:
    app = command_tree()
    commands = {
        (module.name, match[0], match[1], match[2])
        for module in product
        for part in module.nodes
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
        for match in _COMMAND.finditer(part.value)
        if part.value.strip() not in _LABELS
    }

    assert len(commands) > 20
    for place, text, first, second in commands:
        assert first in app, (place, text)
        verbs = [name for name in app[first] if not name.startswith("-")]
        assert not verbs or second is None or second in verbs, (place, text)


def test_the_step_of_a_type_names_no_parameter() -> None:
    """A type is met at many operations, of which few have the parameter."""
    names = {"datetime", "since", "until", "after", "cursor", "limit"}
    for kind in problem.CATALOGUE.values():
        if "PARAMETER" in kind.code:
            assert names.isdisjoint(kind.resolution.replace("/", " ").split()), kind.code
