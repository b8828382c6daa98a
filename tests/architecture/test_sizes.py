"""The house has a size: code lines of each package, in a table that falls or says why it rises.

Code lines are those without docstrings, comments, blanks and imports.
"""

import ast
from collections import Counter
from typing import Any

import pytest

FUNCTION_LINES = 60

SLACK = 20
"""Lines that a package may fall before the table is to follow."""

ROOMS_OF_ROOMS = {"svc_core.intel", "svc_http.run"}

CODE_LINES: dict[str, int] = {
    "svc_core": 40,
    "svc_core.access": 2738,
    "svc_core.agent": 3763,  # the one text with all names answers in other words
    "svc_core.automations": 428,
    "svc_core.base": 706,
    "svc_core.catalog": 1442,
    "svc_core.changes": 248,
    "svc_core.contract": 536,
    "svc_core.data": 7,
    "svc_core.formats": 5403,
    "svc_core.intel.countries": 158,
    "svc_core.intel.economy": 738,
    "svc_core.intel.entities": 1357,
    "svc_core.intel.events": 250,
    "svc_core.intel.folding": 769,
    "svc_core.intel.fusion": 506,
    "svc_core.intel.graphs": 719,
    "svc_core.intel.incidents": 1265,
    "svc_core.intel.intake": 1221,
    "svc_core.intel.linking": 560,
    "svc_core.intel.news": 737,  # vectors are read once for all subjects of a report
    "svc_core.intel.signals": 1126,
    "svc_core.intel.vulnerabilities": 155,
    "svc_core.knowledge": 545,
    "svc_core.ledger": 6274,
    "svc_core.operation": 2528,
    "svc_core.outbox": 253,
    "svc_core.payments": 1380,
    "svc_core.projects": 103,
    "svc_core.reports": 3377,
    "svc_core.search": 1019,
    "svc_core.testing": 3385,
    "svc_core.text": 3733,
    "svc_core.webhooks": 569,
    "svc_core.wire": 986,
    "svc_http": 500,
    "svc_http.adapter": 359,
    "svc_http.dashboard": 1728,
    "svc_http.exchange": 762,
    "svc_http.guard": 761,
    "svc_http.mcp": 164,
    "svc_http.outside": 1951,
    "svc_http.pages": 557,
    "svc_http.run": 32,
    "svc_http.run.cli": 2683,
    "svc_http.run.control": 397,
    "svc_http.run.demo": 232,
    "svc_http.run.server": 845,
    "svc_http.service": 2547,
    "svc_http.stores": 4546,
}
"""The most that each package may have. A line that rises has its reason beside it."""


PRODUCT_LINES = 67_088
"""The most that all packages may have together."""


def code_lines(module: Any) -> int:
    """The lines of a module that are code."""
    passed_over: set[int] = set()
    for node in module.nodes:
        is_text = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            passed_over.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return sum(
        1
        for number, line in enumerate(module.text.splitlines(), 1)
        if line.strip() and not line.strip().startswith("#") and number not in passed_over
    )


@pytest.fixture(scope="module")
def sizes(product: Any) -> Counter[str]:
    """The lines of each room; loose modules of a house or of a room of rooms under its name."""
    lines: Counter[str] = Counter()
    for module in product:
        package = module.name.split(".")
        if module.path.name != "__init__.py":
            package.pop()
        depth = 3 if ".".join(package[:2]) in ROOMS_OF_ROOMS else 2
        lines[".".join(package[:depth])] += code_lines(module)
    return lines


def test_no_package_outgrows_its_line_in_the_table(sizes: Counter[str]) -> None:
    assert {name: lines for name, lines in sizes.items() if lines > CODE_LINES.get(name, 0)} == {}
    assert sum(CODE_LINES.values()) <= PRODUCT_LINES


def test_the_table_follows_what_fell(sizes: Counter[str]) -> None:
    assert {
        name: sizes[name] for name, bound in CODE_LINES.items() if sizes[name] < bound - SLACK
    } == {}


def test_no_function_is_long(product: Any) -> None:
    assert {
        f"{module.name}.{node.name}": node.end_lineno - node.lineno + 1
        for module in product
        for node in module.nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    } == {}


def test_no_module_is_named_for_nothing(product: Any) -> None:
    empty_words = {"util", "utils", "helper", "helpers", "manager", "common", "misc"}

    assert [m.name for m in product if empty_words & set(m.name.split("."))] == []
