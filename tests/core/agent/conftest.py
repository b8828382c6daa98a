"""Somebody who asks about the demo, for all tests that only ask."""

from typing import Any

import pytest

from tests.core.agent.asker import Asker, asker_of


@pytest.fixture(scope="session")
def asker(house_factory: Any) -> Asker:
    """Nobody adds to its house."""
    return asker_of(house_factory())
