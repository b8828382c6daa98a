"""The core does nothing but compute.

Three looks at the same promise: the built-in functions it calls, the modules it asks for while it
is imported, and what a process holds once all of it is imported.
"""

import ast
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

IMPURE_CALLS = frozenset(
    {"open", "print", "input", "exec", "eval", "__import__", "breakpoint", "compile"}
)
CLOCKS = frozenset({"now", "utcnow", "today"})

# The core may ask for none of these, however it spells the import. Libraries below it do
# (attrs reads a linecache, cryptography loads a shared object), so the asker is looked at.
FORBIDDEN_CALLS = (
    "aiosqlite", "anyio", "asyncio", "asyncpg", "concurrent", "ctypes", "fcntl", "getpass", "glob",
    "http", "httpx2", "hypercorn", "importlib.resources", "io", "linecache", "logging", "mmap",
    "multiprocessing", "os", "pathlib", "pkgutil", "platform", "queue", "random", "secrets",
    "select", "selectors", "shutil", "signal", "socket", "socketserver", "sqlite3", "ssl",
    "starlette", "subprocess", "tempfile", "threading", "time", "trio", "urllib.request", "uuid",
    "warnings",
)  # fmt: skip

# Each with the reason why a module may ask for it.
EXCEPTIONS = {
    ("svc_core.data", "importlib.resources"): "the tables that ship with it are read from there",
    ("svc_core.formats.feeds.xmlfeed", "io"): "feedparser is handed a stream of bytes in memory",
    ("svc_core.formats.reading.document_body", "io"): "expat is handed a stream of bytes in memory",
    ("svc_core.formats.reading.compression", "io"): "zipfile is handed a stream of bytes in memory",
}

THIRD_PARTY = frozenset({"attr", "attrs", "cattr", "cattrs", "annotated_types", "cryptography"})
# What those bring along: cffi under cryptography, the backports under cattrs.
FOREIGN = frozenset({"_cffi_backend", "cffi", "_openssl", "typing_extensions", "exceptiongroup"})

_IMPORT_EVERYTHING = """
import builtins, importlib, json, pkgutil, sys

denied, start = json.loads(sys.argv[1]), set(sys.modules)
asked = []
inner = builtins.__import__

def watched(name, globals=None, locals=None, fromlist=(), level=0):
    asker = (globals or {}).get("__name__", "")
    if asker.partition(".")[0] == "svc_core" and level == 0:
        wanted = [name, *(f"{name}.{part}" for part in fromlist or ())]
        asked.extend(
            (asker, module) for module in wanted
            for no in denied if module == no or module.startswith(no + ".")
        )
    return inner(name, globals, locals, fromlist, level)

builtins.__import__ = watched
import svc_core
for found in pkgutil.walk_packages(svc_core.__path__, "svc_core."):
    if not found.name.startswith("svc_core.testing"):  # needs the extra of that name
        importlib.import_module(found.name)
loaded = sorted(set(sys.modules) - start)
print(json.dumps({"asked": sorted(set(map(tuple, asked))), "loaded": loaded}))
"""


@pytest.fixture(scope="module")
def import_log() -> dict[str, Any]:
    """What a fresh process saw while it imported the whole core."""
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", _IMPORT_EVERYTHING, json.dumps(FORBIDDEN_CALLS)],
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


def _calls(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        match node.func:
            case ast.Name(name) if name in IMPURE_CALLS:
                yield node.lineno, name
            case ast.Attribute(ast.Name("datetime" | "date" as clock), name) if name in CLOCKS:
                yield node.lineno, f"{clock}.{name}"


def test_the_core_calls_nothing_that_reaches_outside(core: Any) -> None:
    calls = [(module.name, *call) for module in core for call in _calls(module.nodes)]

    assert calls == []


def test_the_tables_that_ship_are_read_in_one_place(core: Any) -> None:
    """By the tree, so that an import inside a function is seen as well."""
    readers = {
        module.name
        for module in core
        for node in module.nodes
        if (
            isinstance(node, ast.ImportFrom) and node.module in {"importlib", "importlib.resources"}
        )
        or (isinstance(node, ast.Import) and any("importlib" in name.name for name in node.names))
        if "resources" in ast.unparse(node)
    }

    assert readers == {"svc_core.data"}


def test_the_look_at_calls_sees_what_it_looks_for() -> None:
    source = "open('x')\ndatetime.now()\nre.compile('x')\nstore.open('x')"

    assert list(_calls(ast.walk(ast.parse(source)))) == [(1, "open"), (2, "datetime.now")]


def test_the_core_asks_for_no_module_that_waits_or_is_different_each_time(
    import_log: dict[str, Any],
) -> None:
    imports = {tuple(pair) for pair in import_log["asked"]}

    parts = {pair for pair in imports if (pair[0], pair[1].rpartition(".")[0]) in EXCEPTIONS}

    assert imports - parts - set(EXCEPTIONS) == set()


def test_no_grant_outlives_its_use(import_log: dict[str, Any]) -> None:
    assert set(EXCEPTIONS) <= {tuple(pair) for pair in import_log["asked"]}


def test_the_core_brings_four_libraries_and_no_more(import_log: dict[str, Any]) -> None:
    standard = sys.stdlib_module_names
    tops = {name.partition(".")[0] for name in import_log["loaded"]}
    libraries = {
        top for top in tops if top not in standard and not top.startswith("_sysconfigdata")
    }

    assert libraries - {"svc_core"} <= THIRD_PARTY | FOREIGN
    assert {"attrs", "cattrs", "cryptography"} <= libraries


def test_importing_the_package_alone_loads_nothing_else() -> None:
    code = (
        "import sys; start = set(sys.modules); import svc_core; "
        "print(sorted(name for name in set(sys.modules) - start))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "attr" not in ast.literal_eval(process.stdout)
    assert [name for name in ast.literal_eval(process.stdout) if "svc" in name] == [
        "svc_core",
        "svc_core.base",
        "svc_core.base.public_names",
    ]
