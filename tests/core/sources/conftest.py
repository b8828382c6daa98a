"""Real documents for the parsers of news sources, from a folder the environment names."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_documents() -> Callable[[str], list[Path]]:
    """The files of one folder of real documents; skips when there are none here."""
    root = os.getenv("SVC_REAL_DATA")

    def listed(folder: str) -> list[Path]:
        if not root:
            pytest.skip("SVC_REAL_DATA does not name a folder of real documents")
        files = sorted(path for path in (Path(root) / folder).iterdir() if path.is_file())
        assert files
        return files

    return listed
