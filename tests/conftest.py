"""What holds for every test: the time that an example takes is no promise of ours."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres import PostgresServer

settings.register_profile("svc", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("svc")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A server for all tests of this process; each makes databases of its own on it."""
    server = PostgresServer()
    yield server
    server.close()
