"""The service that clients of others ask, in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What a demo says when it listens."""
    with subprocess.Popen(
        [sys.executable, "-m", "svc_http", "serve", "--demo", "--port", "0", "--json"],
        cwd=tmp_path_factory.mktemp("demo"),
        env={"PYTHONPATH": str(ROOT), "SVC_REQUEST_LOG": "off"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield json.loads(line)
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def served() -> Iterator[dict[str, str]]:
    """What the service says when it listens."""
    # By way of `-c`, so that the service is found in this folder where it is not installed.
    code = f"import runpy; runpy.run_path({str(HERE / 'service.py')!r}, run_name='__main__')"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield json.loads(line)
        finally:
            process.terminate()
