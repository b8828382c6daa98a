"""Clients of x402 as they are published pay for requests to the demo."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent
README = FOLDER.parents[1] / "README.md"


def _run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=300
    )


@pytest.mark.needs("x402")
def test_the_clients_of_pypi_pay_every_price_and_no_other(demo: dict[str, Any]) -> None:
    used = _run(FOLDER / "pay" / "pay.py", demo["docs"].removesuffix("/docs"))
    assert used.returncode == 0, used.stdout + used.stderr


@pytest.mark.needs("x402")
def test_what_the_first_page_shows_of_paying_works(demo: dict[str, Any]) -> None:
    (program,) = re.findall(
        r"^```python\n(.*?x402.*?)^```$", README.read_text("utf-8"), re.M | re.S
    )
    assert len([line for line in program.splitlines() if line]) <= 7  # five and what is imported
    used = _run("-c", program.replace("http://127.0.0.1:8000/api/v1", demo["api"]))
    assert used.returncode == 0, used.stderr
    assert used.stdout.startswith("200 rpt_")
