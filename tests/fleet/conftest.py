"""Fleets: started once for a module, and ended well at its end."""

from collections.abc import Callable, Iterator

import pytest

from svc_core import catalog
from tests.fleet.fleet import Fleet
from tests.http.cli.test_webhooks import Sink
from tests.http.shared.conftest import Valkey
from tests.postgres import PostgresServer


@pytest.fixture(scope="module")
def valkey() -> Iterator[Valkey]:
    server = Valkey()
    yield server
    server.close()


@pytest.fixture(scope="module")
def fleet_of(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Callable[..., Fleet]]:
    """Makes fleets over databases with their tables, or over one that is named by `db`."""
    fleets: list[Fleet] = []

    def make(server: PostgresServer | None = None, *, db: str = "", **env: str) -> Fleet:
        address = db if server is None else server.made_for(catalog.COLLECTIONS)
        fleets.append(Fleet(address, tmp_path_factory.mktemp("fleet"), **env))
        return fleets[-1]

    yield make
    for fleet in fleets:
        fleet.close()


@pytest.fixture
def sink() -> Iterator[Sink]:
    sink = Sink()
    yield sink
    sink.close()
