"""The service that clients of others ask, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.extras import NONE

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent


@contextmanager
def _listening(*arguments: str, **how: Any) -> Iterator[dict[str, Any]]:
    """A process of Python, by the line of JSON in which it says where it listens."""
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **how) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield json.loads(line)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What a demo says when it listens."""
    command = ("-m", "svc_http", "serve", "--demo", "--port", "0", "--json")
    env = {**NONE, "SVC_SPEECH": "auto", "PYTHONPATH": str(ROOT), "SVC_REQUEST_LOG": "off"}
    with _listening(*command, cwd=tmp_path_factory.mktemp("demo"), env=env) as addresses:
        yield addresses


@pytest.fixture(scope="module")
def service() -> Iterator[dict[str, Any]]:
    """What the service says when it listens."""
    # By way of `-c`, so that the service is found in this folder where it is not installed.
    code = f"import runpy; runpy.run_path({str(FOLDER / 'service.py')!r}, run_name='__main__')"
    with _listening("-c", code, cwd=ROOT, stderr=subprocess.DEVNULL) as addresses:
        yield addresses
