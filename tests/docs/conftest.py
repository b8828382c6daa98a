"""The documents, the script that writes parts of them, and a demo server to try them on."""

import importlib.util
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from attrs import frozen

from tests.extras import NONE
from tests.nursery import DEVNULL, Child

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the source tree."""
    return ROOT


@pytest.fixture(scope="session")
def documents() -> dict[str, str]:
    """Every document by its path from the top."""
    paths = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "benchmarks" / "README.md"]
    paths += sorted(DOCS.rglob("*.md"))
    return {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in paths}


@pytest.fixture(scope="session")
def generator() -> ModuleType:
    """The script that writes the generated pages."""
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "_generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@frozen
class Demo:
    """A running demo: its port, its key and the address for commands."""

    port: int
    key: str
    admin: str


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """A demo server, started once and ended with SIGTERM."""
    process = Child(
        *("serve", "--demo", "--port", "0", "--json"),
        cwd=tmp_path_factory.mktemp("demo"),
        env={**NONE, "PYTHONPATH": str(ROOT), "SVC_REQUEST_LOG": "off"},
        stderr=DEVNULL,
    )
    addresses = json.loads(process.stdout.readline())
    port = int(addresses["api"].rpartition(":")[2].partition("/")[0])
    yield Demo(port, addresses["key"], addresses["admin"])
    process.send_signal(signal.SIGTERM)
    assert process.wait(30) == 0
    process.stdout.close()
