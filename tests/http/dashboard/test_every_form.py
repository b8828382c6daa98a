"""Every form posts the documented example of its operation, and lands where it can be seen."""

from collections.abc import Iterator
from typing import Any

import pytest

from svc_http.dashboard.form_fields import fields_of
from svc_http.dashboard.page_addresses import EVERY, is_safe
from tests.http.dashboard.offices import Office, page_of
from tests.people import SignedUp

PASSWORD = "copper lantern drifts sideways"
LOCAL: dict[str, dict[str, Any]] = {
    "createWorkspace": {"name": "Harbour"},
    "createUser": {"name": "Bo"},
    "setPlan": {"workspace": "{home}", "plan": "elite"},
    "createKey": {"name": "Laptop"},
    "updateKey": {"name": "Desktop"},
    "setMemberRole": {"role": "admin"},
    "inviteMember": {"handle": "guest", "role": "member"},
    "deleteWorkspace": {"name": "another name"},
    "renameWorkspace": {"name": "Desk"},
    "linkUser": {"handle": "somebody", "workspace": "{home}"},
    "removeUser": {"user": "{user}"},
    "setPassword": {"password": PASSWORD},
    "grantCredits": {"credits": 5},
    "matchEntities": {"lines": [{"name": "APT28"}]},
    "pullSources": {"all": False, "sourceIds": ["{source}"]},
    "removeSources": {"sourceIds": ["{source}"]},
    "resetSources": {"sourceIds": ["{source}"]},
    "disableSources": {"sourceIds": ["{source}"]},
    "enableSources": {"sourceIds": ["{source}"]},
    "mergeEntities": {"intoId": "{entity}"},
    "distinguishEntities": {"otherId": "{entity}"},
    "eraseRecord": {"reason": "They asked for it.", "legalBasis": "GDPR 17"},
    "triggerReport": {},
}
"""What is entered into the forms of local operations, which have no documented example."""

REFUSED = {
    "addPasskey": {400, 503},  # no answer of a device
    "removePasskey": {400, 404},
    "addSources": {400, 503},  # nothing to fetch with
    "importSources": {400, 503},
    "importLedger": {400, 404, 409, 503},
    "pullSources": {400, 503},
    "partEntity": {404},  # nothing was merged
    "reconcilePayments": {400, 503},
    "speakReport": {503},
    "deleteWorkspace": {400},  # the name is another one: everything else is needed
    "keepWorkspace": {404, 409},  # it is not to be deleted
    "appendEntries": {400},
    "eraseRecord": {400, 403, 409},
    "grandfatherKey": {409, 400},
}
"""What the world of this test lacks, by operation."""


ENDS = {"archive", "delete", "remove", "revoke"}
"""Verbs after which a row is not there for the next form."""


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    office = Office()
    yield office
    office.close()


def pairs_of(office: Office, operation: Any, guest: SignedUp) -> list[tuple[str, str]]:
    """What is entered into the fields of a form."""
    values = {
        "home": office.home,
        "user": guest.user_id,
        "source": office.row_ids("sources")[0],
        "entity": office.row_ids("entities")[-1],
    }
    if operation.local:
        body = _filled(LOCAL.get(operation.id, {}), values)
    else:
        content = office.world.contract.description_of(operation).get("requestBody")
        body = office.world.example_body(operation) if content else {}
    if not isinstance(body, dict) or [each.name for each in fields_of(operation)] == ["body"]:
        body = {"body": body}
    return [(name, text) for name, text in office.example_pairs(operation, body) if text]


def _filled(body: Any, values: dict[str, str]) -> Any:
    if isinstance(body, dict):
        return {name: _filled(member, values) for name, member in body.items()}
    if isinstance(body, list):
        return [_filled(item, values) for item in body]
    return body.format(**values) if isinstance(body, str) else body


@pytest.mark.parametrize(
    "operation",
    [operation for operation in EVERY if not is_safe(operation)],
    ids=lambda operation: operation.id,
)
def test_a_form_posts_its_example_and_lands(office, operation) -> None:
    role = "owner" if office.may(operation, "owner") else "operator"
    ids, guest = office.ids_for(role, operation, office.ids_of(operation)), office.guest()
    own = {"userId": guest.user_id, "sessionId": guest.session_id}
    ids |= {name: id_ for name, id_ in own.items() if name in ids}
    path = office.address(operation, ids)
    page = page_of(office.get(role, path))
    (form,) = (form for form in page.forms if form.method == "post")
    beside = {each.name for each in fields_of(operation) if each.is_for_operators}
    pairs = [
        pair for pair in pairs_of(office, operation, guest) if pair[0] not in beside - form.names
    ]
    assert {name for name, _ in pairs} <= form.names
    entered = dict(pairs)
    rest = [pair for pair in form.pairs if pair[0] not in entered]
    answer = office.post(role, path, [*rest, *pairs])
    if operation.verb in ENDS:
        office.renew_rows(operation.group)
    if operation.id in REFUSED:
        assert answer.status_code in {200, 303, *REFUSED[operation.id]}, answer.text
        return
    assert answer.status_code in {200, 303}, page_of(answer).main.text[:800]
    if answer.status_code == 303:
        shown = office.get(role, answer.headers["location"])
        assert shown.status_code == 200, answer.headers["location"]
        page_of(shown)
