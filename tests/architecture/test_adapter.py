"""The adapter is small, and knows nothing of the server around it."""

import ast
import sys
from collections.abc import Iterator
from typing import Any

from tests.architecture.test_sizes import code_lines

ROOM = "svc_http.adapter"

LINES_MAX = 1_000

MAY_IMPORT = ("attrs", "starlette", "svc_core", ROOM, "svc_http.exchange", "svc_http.settings")


def _room(product: Any) -> list[Any]:
    return [module for module in product if f"{module.name}.".startswith(f"{ROOM}.")]


def _imports(module: Any) -> Iterator[str]:
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield f"{node.module}.{node.names[0].name}"


def test_the_adapter_is_read_in_an_hour(product: Any) -> None:
    assert sum(map(code_lines, _room(product))) <= LINES_MAX


def test_the_adapter_imports_the_core_and_the_request_under_way(product: Any) -> None:
    assert {
        f"{module.name}: {name}"
        for module in _room(product)
        for name in _imports(module)
        if name.partition(".")[0] not in sys.stdlib_module_names
        and not f"{name}.".startswith(tuple(f"{room}." for room in MAY_IMPORT))
    } == set()
