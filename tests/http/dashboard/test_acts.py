"""What people do on the dashboard stands in the audit log, and with it from where."""

from svc_core.access.audit import SYSTEM_ACTS
from tests.http.dashboard.conftest import PASSWORD, Desk, words
from tests.http.dashboard.test_entrance import credential_of, rows


def test_signing_in_and_what_is_done_then_are_rows_of_the_workspace(desk: Desk) -> None:
    home, other = desk.workspace(), desk.workspace("Night desk")
    desk.person("ben", other)
    browser = desk.person("ann", home)

    browser.get("/dashboard/me")
    browser.post("/dashboard/me", {"act": "setPassword", "password": "winter orchard hums on"})
    browser.post("/dashboard/me", {"act": "setPassword", "password": "password password"})

    acts = [act for act in rows(desk, SYSTEM_ACTS) if act.workspace_id == home]
    outcomes = [(act.operation, act.outcome) for act in acts]
    assert sorted(outcomes) == [
        ("setPassword", "VALIDATION_FAILED"),
        ("setPassword", "done"),
        ("useInviteLink", "done"),
    ]
    assert {(act.who, act.user_id, act.address) for act in acts} == {
        ("ann", credential_of(desk, "ann").id, "127.0.0.1")
    }
    assert len({act.session_id for act in acts}) == 1
    assert all(act.request_id for act in acts if act.operation == "setPassword")
    assert PASSWORD not in str(rows(desk, SYSTEM_ACTS))
    page = words(browser.get(f"/dashboard/w/{home}/audit"))
    assert "ann" in page
    assert "ben" not in page
