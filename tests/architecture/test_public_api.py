"""What a package offers is documented, and its list of names is true."""

import ast
import builtins
import importlib
import inspect
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import svc_core

FACES = ("svc_core", "svc_core.ledger", "svc_core.payments", "svc_core.webhooks")
"""The packages whose names an embedder may rely on, with the test kit."""

SERVER = {"svc_http.run.hosting", "svc_http.settings", "svc_http.stores", "svc_http.system"}
"""The modules of the server that a host may use."""

RAISED = re.compile(r"^\s+([A-Z]\w+(?:, [A-Z]\w+)*):", re.MULTILINE)
"""The names before the colon of a line below `Raises:`."""

EXPORTS = "svc_core.base.public_names"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _public(body: list[ast.stmt]) -> list[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return [
        node
        for node in body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
    ]


def _without_docstring(module: Any) -> list[str]:
    names = [] if ast.get_docstring(module.tree) else [module.name]
    for node in _public(module.tree.body):
        if not ast.get_docstring(node):
            names.append(f"{module.name}.{node.name}")
        if isinstance(node, ast.ClassDef):
            names += [
                f"{module.name}.{node.name}.{inner.name}"
                for inner in _public(node.body)
                if not ast.get_docstring(inner) and not _is_rule(inner)
            ]
    return names


def _is_rule(node: ast.AST) -> bool:
    """Steps of a state machine and promises of a contract say by their names what they do."""
    marks = ("rule", "invariant", "initialize")
    return any(
        getattr(getattr(mark, "func", mark), "id", "") in marks
        for mark in getattr(node, "decorator_list", [])
    ) or getattr(node, "name", "").startswith("test_")


def test_every_public_thing_says_what_it_promises(product: Any) -> None:
    missing = [
        name for module in product if not module.is_private for name in _without_docstring(module)
    ]

    assert missing == []


def test_every_exception_that_a_docstring_names_exists(product: Any) -> None:
    nodes = [(module, node) for module in product for node in module.nodes]
    exceptions = {node.name for _, node in nodes if isinstance(node, ast.ClassDef)}
    exceptions |= {
        alias.name for _, node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    missing = [
        f"{module.name}.{node.name}: {name}"
        for module, node in nodes
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for names in RAISED.findall((ast.get_docstring(node) or "").partition("Raises:")[2])
        for name in names.split(", ")
        if name not in exceptions and not hasattr(builtins, name)
    ]

    assert missing == []


def test_a_package_lists_only_names_that_it_has(product: Any) -> None:
    listing = [module for module in product if "\n__all__ = " in module.text]
    false = [
        f"{module.name}.{name}"
        for module in listing
        for name in importlib.import_module(module.name).__all__
        if not hasattr(importlib.import_module(module.name), name)
    ]

    assert len(listing) >= 5
    assert false == []


@pytest.mark.parametrize("package", FACES)
def test_a_public_name_is_the_one_that_type_checkers_see(package: str) -> None:
    face = importlib.import_module(package)
    imports = _imports(inspect.getsource(face))
    homes = {name: home for home, name in imports if home not in ("typing", EXPORTS)}

    assert sorted(homes) == face.__all__ == sorted(set(dir(face)))
    for name, home in homes.items():
        module = importlib.import_module(home)
        assert getattr(face, name) is getattr(module, name, None) or importlib.import_module(
            f"{home}.{name}"
        )


def test_what_people_copy_imports_public_names_alone(root: Path) -> None:
    documents = [root / "README.md", *(root / "docs").rglob("*.md")]
    programs = [(path, path.read_text("utf-8")) for path in (root / "examples").glob("*.py")]
    programs += [
        (path, block) for path in documents for block in BLOCK.findall(path.read_text("utf-8"))
    ]
    private = [
        f"{path.relative_to(root)}: from {home} import {name}"
        for path, text in programs
        for home, name in _imports(text)
        if home.startswith("svc_") and not _is_public(home, name)
    ]

    assert len(programs) > 10
    assert private == []


def _is_public(home: str, name: str) -> bool:
    if home in FACES:
        return name in importlib.import_module(home).__all__
    return home.startswith("svc_core.testing") or home in SERVER or f"{home}.{name}" in SERVER


def _imports(text: str) -> list[tuple[str, str]]:
    return [
        (node.module or "", alias.name)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]


def test_a_name_that_the_core_does_not_have_is_refused() -> None:
    process = subprocess.run(
        [sys.executable, "-c", "from svc_core import Unknown"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert process.returncode == 1
    assert "cannot import name 'Unknown'" in process.stderr
    assert not hasattr(svc_core, "Unknown")


def test_the_package_and_the_distribution_have_one_version(root: Path) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))

    assert svc_core.__version__ == project["project"]["version"]


def test_both_packages_say_that_they_are_typed(root: Path) -> None:
    assert (root / "svc_core" / "py.typed").exists()
    assert (root / "svc_http" / "py.typed").exists()
