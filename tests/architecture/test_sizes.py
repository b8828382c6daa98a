"""What has grown too large is looked at twice: split, or listed here with the reason why not."""

import ast
from typing import Any

MODULE_LINES = 400
FUNCTION_LINES = 60

# Each with the reason why it is not split. A reason that no longer applies fails below.
LARGE_MODULES: dict[str, str] = {
    "svc_core.problem": "a table: one entry for each problem code",
}
LARGE_FUNCTIONS: dict[str, str] = {}


def _functions(module: Any) -> dict[str, int]:
    return {
        f"{module.name}.{node.name}": node.end_lineno - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    }


def _is_table(module: Any) -> bool:
    """Whether a module is words and numbers alone: no function, no class."""
    return not any(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(module.tree)
    )


def test_large_modules_have_a_reason(product: Any) -> None:
    large = {
        module.name: lines
        for module in product
        if (lines := len(module.text.splitlines())) > MODULE_LINES and not _is_table(module)
    }

    assert {name: large[name] for name in large if name not in LARGE_MODULES} == {}
    assert [name for name in LARGE_MODULES if name not in large] == []


def test_large_functions_have_a_reason(product: Any) -> None:
    large = {name: lines for module in product for name, lines in _functions(module).items()}

    assert {name: large[name] for name in large if name not in LARGE_FUNCTIONS} == {}
    assert [name for name in LARGE_FUNCTIONS if name not in large] == []


def test_no_module_is_named_for_nothing(product: Any) -> None:
    empty_words = {"util", "utils", "helper", "helpers", "manager", "common", "base", "misc"}

    assert [m.name for m in product if empty_words & set(m.name.split("."))] == []
