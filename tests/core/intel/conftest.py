"""A house that has read the demo, for all tests that only ask."""

from typing import Any

import pytest

from tests.core import demo
from tests.core.intel.incident_documents import fold


@pytest.fixture(scope="session")
def demo_house(house_factory: Any) -> Any:
    """A house with the documents of the demo; nobody adds to it."""
    house = house_factory()
    demo.take_all(house)
    return house


@pytest.fixture(scope="module")
def folded_house(house_factory: Any) -> Any:
    """A house with the documents of the demo, and their incidents."""
    house = house_factory()
    demo.take_all(house)
    fold(house)
    return house
