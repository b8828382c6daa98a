"""What is imported is declared, so that an installation from pyproject.toml works."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

# Distributions whose import name is not their own name with underscores.
IMPORTED_AS = {"markdown_it_py": "markdown_it", "pycryptodome": "Crypto"}
# Brought by a declared one and part of its interface.
TRANSITIVE = {"httpcore2": "the network below httpx2"}


def _names(requirements: list[str]) -> set[str]:
    plain = (re.split(r"[\[<>=!;~ ]", text, maxsplit=1)[0] for text in requirements)
    names = {name.lower().replace("-", "_") for name in plain}
    return {IMPORTED_AS.get(name, name) for name in names}


def _imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module.partition(".")[0]


@pytest.fixture(scope="module")
def declarations(root: Path) -> dict[str, set[str]]:
    """The import names that each kind of installation has."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    core = _names(project["dependencies"])
    server = core | _names(extras["server"]) | set(TRANSITIVE)
    return {
        "core": core,
        "testing": core | _names(extras["testing"]),
        "speech": _names(extras["speech"]),
        "semantic": server | _names(extras["semantic"]),
        "server": server,
        "passkeys": server | _names(extras["passkeys"]),
        "postgres": server | _names(extras["postgres"]),
        "redis": server | _names(extras["redis"]),
        "s3": server | _names(extras["s3"]),
        "x402": server | _names(extras["x402"]),
        "mcp": server | _names(extras["mcp"]) | {"mcp_types"},
    }


def _kind(module: str) -> str:
    if module.startswith("svc_core.testing"):
        return "testing"
    if module == "svc_http.outside.voices.espeak_process":
        return "speech"  # a program of its own, which imports nothing of ours
    if module in {
        "svc_http.outside.embeddings.matrix",
        "svc_http.outside.embeddings.vector_process",
    }:
        return "semantic"  # where numpy is there; a program of its own
    if module.startswith("svc_http.stores.postgres"):
        return "postgres"  # loaded where the settings name a database on a server
    if module in {
        "svc_http.stores.counters.postgres_coordination",
        "svc_http.stores.counters.redis_coordination",
    }:
        return module.rpartition(".")[2].removesuffix("_coordination")  # where settings name it
    if module == "svc_http.outside.webauthn_judge":
        return "passkeys"  # loaded by a server where it is installed
    if module == "svc_http.stores.media.bucket":
        return "s3"  # loaded when a bucket is used, and says which extra it needs
    if module == "svc_http.outside.facilitators.ethereum":
        return "x402"  # loaded where the settings name whom payments go to
    if module in {"svc_http.mcp.protocol", "svc_http.mcp.message", "svc_http.run.cli.tool_callers"}:
        return "mcp"  # loaded by the first message, or by `svc mcp`
    # The feed reader is loaded when a feed is read, and says which extra it needs; so is what
    # compares names.
    is_lazy = ".formats." in module or module == "svc_core.intel.linking.similarity"
    return "core" if module.startswith("svc_core") and not is_lazy else "server"


def test_every_library_that_is_imported_is_declared(
    product: Any, declarations: dict[str, set[str]]
) -> None:
    modules = {*sys.stdlib_module_names, "svc_core", "svc_http"}
    missing = {
        (module.name, name)
        for module in product
        for name in _imports(module.nodes)
        if name not in modules | declarations[_kind(module.name)]
    }

    assert missing == set()
