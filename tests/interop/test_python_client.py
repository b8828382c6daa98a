"""Clients for Python: one made of the flat document, and OpenAI's."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from svc_core.catalog import OPERATIONS
from svc_core.catalog.openapi.openapi_document import build_openapi

FOLDER = Path(__file__).parent


@pytest.mark.needs("openapi_python_client")
def test_a_generated_python_client_works(service: dict[str, str], tmp_path: Path) -> None:
    source = tmp_path / "openapi.flat.json"
    openapi = build_openapi(OPERATIONS, base_url=service["origin"], flat=True)
    source.write_text(json.dumps(openapi), encoding="utf-8")
    config = tmp_path / "config.yml"
    config.write_text("literal_enums: true\npost_hooks: []\n", encoding="utf-8")
    process = subprocess.run(
        [
            sys.executable, "-m", "openapi_python_client", "generate",
            "--path", str(source), "--config", str(config), "--meta", "none",
            "--output-path", str(tmp_path / "svc_client"),
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert process.returncode == 0, process.stdout + process.stderr
    # Whatever the generator cannot read it leaves out with a warning.
    assert "arning" not in process.stdout + process.stderr

    arguments = [service["origin"], service["key"], service["reportId"]]
    used = subprocess.run(
        [sys.executable, str(shutil.copy(FOLDER / "sample.py", tmp_path)), *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert used.returncode == 0, used.stderr


@pytest.mark.needs("openai")
def test_openai_s_client_reads_what_the_agent_answers(service: dict[str, str]) -> None:
    used = subprocess.run(
        [sys.executable, FOLDER / "agent" / "completions.py", service["origin"], service["key"]],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert used.returncode == 0, used.stderr
