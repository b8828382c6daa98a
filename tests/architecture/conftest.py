"""The source tree as the architecture tests read it."""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from attrs import field, frozen

ROOT = Path(__file__).parents[2]


@frozen
class Module:
    """One module: its dotted name, its text and the nodes of its syntax tree."""

    name: str
    path: Path
    text: str = field(repr=False)
    tree: ast.Module = field(repr=False)
    nodes: tuple[ast.AST, ...] = field(repr=False)
    """What `ast.walk` gives: a dozen tests look at each, and to walk takes longer than to parse."""

    @property
    def is_private(self) -> bool:
        """Whether any part of its name says that nobody else should use it."""
        return any(part.startswith("_") for part in self.name.split("."))


def _modules(package: str) -> Iterator[Module]:
    for path in sorted((ROOT / package).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(part for part in parts if part != "__init__")
        text = path.read_text("utf-8")
        tree = ast.parse(text)
        yield Module(name, path, text, tree, tuple(ast.walk(tree)))


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def core() -> tuple[Module, ...]:
    """The modules of the core."""
    return tuple(_modules("svc_core"))


@pytest.fixture(scope="session")
def product(core: tuple[Module, ...]) -> tuple[Module, ...]:
    """Every module that is shipped."""
    return (*core, *_modules("svc_http"))


@pytest.fixture(scope="session")
def shipped_texts() -> Callable[[], Iterator[tuple[str, str]]]:
    """Every text file of the project as (path, text), without what others wrote."""

    def texts() -> Iterator[tuple[str, str]]:
        names = ["README.md", "CHANGELOG.md", "pyproject.toml"]
        paths = [ROOT / name for name in names]
        for folder in ("svc_core", "svc_http", "tests", "docs", "examples", "benchmarks"):
            paths += sorted((ROOT / folder).rglob("*"))
        for path in paths:
            inner = path.relative_to(ROOT).parts
            if not path.is_file() or "vendor" in inner or "__pycache__" in inner:
                continue
            try:
                yield "/".join(inner), path.read_text("utf-8")
            except UnicodeDecodeError:
                continue  # damaged documents are kept as files for the parsers' tests

    rows = tuple(texts())
    return lambda: iter(rows)
