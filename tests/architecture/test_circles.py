"""No file leads back to itself: what a file uses can be read before it."""

import ast
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from typing import Any


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Every module that a file may name, also where only types are checked, or in a function."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_no_file_uses_itself_by_way_of_others(product: Any) -> None:
    modules = {module.name for module in product}
    uses: dict[str, set[str]] = {}
    for module in product:
        names = {name for name in _names(module.nodes) if name in modules}
        # `from room import file` names the room only where the file stands in it.
        rooms = {name.rpartition(".")[0] for name in names}
        uses[module.name] = names - rooms - {module.name}

    try:
        TopologicalSorter(uses).prepare()
    except CycleError as circle:
        raise AssertionError(" -> ".join(circle.args[1])) from None
