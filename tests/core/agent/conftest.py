"""Somebody who asks about the demo, for all tests that only ask."""

from typing import Any

import pytest

from tests.core.agent.asker import Asker, filled


@pytest.fixture(scope="session")
def asker(house_factory: Any) -> Asker:
    """Nobody adds to its house."""
    return filled(house_factory())
