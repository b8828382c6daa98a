"""What was made once and is kept, so that it is made again byte for byte."""

from collections.abc import Callable, Mapping
from json import JSONDecodeError
from pathlib import Path

import pytest

from svc_core.problem import Problem

Cases = Mapping[str, Callable[[], object]]
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


@pytest.fixture
def kept_words(
    kept: Callable[[str, str], None],
) -> Callable[[str, Mapping[str, Callable[[], object]]], None]:
    """Holds the words of refusals, each by the name of its case, to the kept ones.

    Each case is called; what is shown is the problem with its code, or the error.
    """

    def check(name: str, cases: Cases) -> None:
        told = []
        for case, call in cases.items():
            with pytest.raises((ValueError, Problem)) as refused:
                call()
            error = refused.value
            words = f"{error.type.code} {error.detail}" if isinstance(error, Problem) else error
            if isinstance(error, UnicodeError | JSONDecodeError):
                words = type(error).__name__  # The words are Python's, which change.
            told.append(f"{case[:60]!r} {words}\n")
        kept(f"words-{name}.txt", "".join(told))

    return check
