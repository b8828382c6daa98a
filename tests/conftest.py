"""What holds for every test: the time that an example takes is no promise of ours."""

import pytest
from coverage import Coverage
from hypothesis import HealthCheck, settings

from tests.backends import BACKEND, NAMES
from tests.postgres import PostgresServer

settings.register_profile("svc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("svc")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tests that need a store, and do not say which, take the one that is named here."""
    parser.addoption("--backend", choices=NAMES, default="memory", help="where the server stores")


def pytest_configure(config: pytest.Config) -> None:
    BACKEND.name = config.getoption("--backend")


def pytest_sessionfinish() -> None:
    """Give back the server and keep what was measured, while nobody counts the seconds.

    A worker of xdist that takes more than ten seconds to end after this is killed, and what it
    measured would be lost with it.
    """
    BACKEND.close()
    if (measured := Coverage.current()) is not None:
        measured.save()


@pytest.fixture(scope="session")
def postgres() -> PostgresServer:
    """A server for all tests of this process; each makes databases of its own on it."""
    return BACKEND.server
