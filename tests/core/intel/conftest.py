"""A house that has read the demo, for all tests that only ask."""

from typing import Any

import pytest

from tests.core import demo


@pytest.fixture(scope="session")
def demo_house(house_factory: Any) -> Any:
    """A house with the documents of the demo; nobody adds to it."""
    house = house_factory()
    demo.take_all(house)
    return house
