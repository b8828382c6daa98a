"""The flat document makes a Python client that works against the service."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from svc_core.catalog import OPERATIONS
from svc_core.openapi import document

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
# So that the service is found whether it is installed or not.
PATHS = {"PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="module")
def served() -> Iterator[dict[str, str]]:
    """What the service says when it listens."""
    command = [sys.executable, str(HERE / "service.py")]
    with subprocess.Popen(
        command,
        env=os.environ | PATHS,
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


def test_a_generated_python_client_works(served: dict[str, str], tmp_path: Path) -> None:
    pytest.importorskip(
        "openapi_python_client", reason="openapi-python-client is not installed (extra: interop)"
    )
    source = tmp_path / "openapi.flat.json"
    described = document(OPERATIONS, base_url=served["origin"], flat=True)
    source.write_text(json.dumps(described), encoding="utf-8")
    config = tmp_path / "config.yml"
    config.write_text("literal_enums: true\npost_hooks: []\n", encoding="utf-8")
    made = subprocess.run(
        [
            sys.executable, "-m", "openapi_python_client", "generate",
            "--path", str(source), "--config", str(config), "--meta", "none",
            "--output-path", str(tmp_path / "svc_client"),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert made.returncode == 0, made.stdout + made.stderr
    # Whatever the generator cannot read it leaves out with a warning.
    assert "arning" not in made.stdout + made.stderr

    told = [served["origin"], served["key"], served["reportId"]]
    used = subprocess.run(
        [sys.executable, str(HERE / "sample.py"), *told],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert used.returncode == 0, used.stderr
