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


@pytest.mark.parametrize(
    ("name", "failures"),
    [(ADDRESS, 5), (f"sign-in usr_a {ADDRESS}", 5), ("account usr_a", 20)],
)
def test_who_is_locked_is_listed_and_let_in_again(environment, name, failures, capsys):
    async def fail(times):
        shared = open_shared(settings.load(environment))
        for _ in range(times):
            await shared.lockouts.record(name, system.now())
        await shared.close()

    def output(*words):
        capsys.readouterr()
        assert main([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    output("keys", "create", "--name", "a")
    asyncio.run(fail(failures - 1))
    assert output("lockouts", "list") == []
    asyncio.run(fail(1))
    assert [row["address"] for row in output("lockouts", "list")] == [name]
    assert output("lockouts", "clear", name) == {"cleared": 1}
    assert output("lockouts", "list") == []
