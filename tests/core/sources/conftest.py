"""Real documents for the parsers of news sources, from a folder the environment names."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def real_documents() -> Callable[[str], list[Path]]:
    """The files of one folder of real documents; whoever asks is left out where there are none."""
    root = os.environ["SVC_REAL_DATA"]  # noqa: TID251 - what the tests are given

    def listed(folder: str) -> list[Path]:
        files = sorted(path for path in (Path(root) / folder).iterdir() if path.is_file())
        assert files
        return files

    return listed
