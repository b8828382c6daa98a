"""`svc lockouts` reaches what processes count together, with no server running."""

import asyncio
import json

import pytest

from svc_http import settings, system
from svc_http.run.cli import main
from svc_http.service.equipment import open_shared

ADDRESS = "203.0.113.9"


@pytest.fixture(params=["postgres", "redis"])
def environment(request, tmp_path, monkeypatch):
    """The settings of a store whose lockouts stand in that place."""
    variables = {"SVC_SECRET": "0123456789abcdef" * 4, "SVC_DB": str(tmp_path / "svc.db")}
    if request.param == "redis":
        variables["SVC_COUNTERS"] = request.getfixturevalue("valkey").address
    else:
        server = request.getfixturevalue("postgres")
        variables["SVC_DB"] = server.dsn(server.fresh())
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def test_an_address_is_listed_and_let_in_again(environment, capsys):
    async def lock():
        shared = open_shared(settings.load(environment))
        for _ in range(5):
            await shared.lockouts.record(ADDRESS, system.now())
        await shared.close()

    def output(*words):
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    output("keys", "create", "--name", "a")
    asyncio.run(lock())
    assert [row["address"] for row in output("lockouts", "list")] == [ADDRESS]
    assert output("lockouts", "clear", ADDRESS) == {"cleared": 1}
    assert output("lockouts", "list") == []
