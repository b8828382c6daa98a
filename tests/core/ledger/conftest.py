"""What was made once and is kept, so that it is made again byte for byte."""

from collections.abc import Callable
from pathlib import Path

import pytest

KEPT = Path(__file__).parents[2] / "data" / "ledger"


@pytest.fixture
def kept(tmp_path: Path) -> Callable[[str, str], None]:
    """Holds what was made to the kept file of that name."""

    def check(name: str, made: str) -> None:
        new, old = tmp_path / name, KEPT / name
        new.write_bytes(made.encode())
        is_same = old.exists() and old.read_bytes() == new.read_bytes()
        assert is_same, f"it changed; if that is wanted: cp {new} {old}"

    return check
