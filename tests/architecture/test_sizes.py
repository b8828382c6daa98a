"""The house has a size: code lines of each package, in a table that falls or says why it rises.

Code lines are those without docstrings, comments, blanks and imports.
"""

import ast
from collections import Counter
from typing import Any

FUNCTION_LINES = 60

SLACK = 20
"""Lines that a package may fall before the table is to follow."""

CODE_LINES: dict[str, int] = {
    "svc_http.mcp": 164,  # knowledge, the agent, projects, automations, MCP
    "svc_core.projects": 126,
    "svc_core.knowledge": 473,  # by the letter of the specification
    "svc_core.automations": 386,  # a secondary data origin
    "svc_core.agent": 2900,  # a secondary data origin
    "svc_core.stix": 91,  # incidents, entities, graphs, cyber, markets, fusion
    "svc_core.linking": 493,  # incidents, entities, graphs, cyber, markets, fusion
    "svc_core.intel": 3104,  # by the letter of the specification: places, pages of graphs
    "svc_core.osint": 465,
    "svc_core.intake": 2631,  # a kind says what it does otherwise, and is asked for no name
    "svc_core.text": 435,  # requests are paid for: x402
    "svc_core.retrieval": 341,  # knowledge, the agent, projects, automations, MCP
    "svc_core.data": 7,  # incidents, entities, graphs, cyber, markets, fusion
    "svc_http.pages": 69,  # faults that strangers found are mended
    "svc_http.shared": 515,  # many processes share a store
    "svc_core": 4472,  # by the letter of the specification
    "svc_core.access": 804,  # keys and plans by the letter of the specification
    "svc_core.accounts": 484,  # keys and plans by the letter of the specification
    "svc_core.analysis": 2016,  # knowledge, the agent, projects, automations, MCP
    "svc_core.changes": 284,  # by the letter of the specification: a cursor on every list
    "svc_core.ledger": 6770,  # requests are paid for: x402
    "svc_core.news": 483,  # knowledge, the agent, projects, automations, MCP
    "svc_core.openapi": 826,  # a description of the running service
    "svc_core.payments": 1398,  # a description of the running service
    "svc_core.ports": 416,  # requests are paid for: x402
    "svc_core.profiles": 366,  # by the letter of the specification
    "svc_core.reports": 1897,  # by the letter of the specification
    "svc_core.resources": 2990,  # by the letter of the specification
    "svc_core.sources": 4748,  # by the letter of the specification: places have ids
    "svc_core.testing": 2566,  # by the letter of the specification
    "svc_core.webhooks": 643,
    "svc_core.wire": 603,  # knowledge, the agent, projects, automations, MCP
    "svc_http": 916,  # what is installed is on
    "svc_http.cli": 2324,  # by the letter of the specification
    "svc_http.control": 385,  # requests are paid for: x402
    "svc_http.demo": 328,  # what is installed is on
    "svc_http.fetch": 556,  # documents of every format are taken in
    "svc_http.media": 370,  # a store is moved between backends and compared: svc db copy
    "svc_http.providers": 1335,  # what is installed is on
    "svc_http.requests": 2112,  # a description of the running service
    "svc_http.runtime": 1021,  # by the letter of the specification
    "svc_http.server": 967,
    "svc_http.storage": 4368,  # what few rows have costs no walk of all
    "svc_http.workers": 1099,  # by the letter of the specification
}
"""The most that each package may have. A line that rises has its reason beside it."""


PRODUCT_LINES = 59_955
"""The most that all packages may have together."""


def _code_lines(module: Any) -> int:
    passed_over: set[int] = set()
    for node in ast.walk(module.tree):
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


def _packages(product: Any) -> Counter[str]:
    """The lines of each package; the loose modules of a root stand under its name."""
    found: Counter[str] = Counter()
    for module in product:
        parts = module.name.split(".")
        is_loose = len(parts) < 3 and module.path.name != "__init__.py"
        found[parts[0] if is_loose or len(parts) < 2 else ".".join(parts[:2])] += _code_lines(
            module
        )
    return found


def test_no_package_outgrows_its_line_in_the_table(product: Any) -> None:
    found = _packages(product)

    assert {name: lines for name, lines in found.items() if lines > CODE_LINES.get(name, 0)} == {}
    assert sum(CODE_LINES.values()) <= PRODUCT_LINES


def test_the_table_follows_what_fell(product: Any) -> None:
    found = _packages(product)

    assert {
        name: found[name] for name, most in CODE_LINES.items() if found[name] < most - SLACK
    } == {}


def test_no_function_is_long(product: Any) -> None:
    assert {
        f"{module.name}.{node.name}": node.end_lineno - node.lineno + 1
        for module in product
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    } == {}


def test_no_module_is_named_for_nothing(product: Any) -> None:
    empty_words = {"util", "utils", "helper", "helpers", "manager", "common", "base", "misc"}

    assert [m.name for m in product if empty_words & set(m.name.split("."))] == []
