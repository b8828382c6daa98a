"""The way in: links, passwords, sessions, and what is refused at the door."""

from typing import Any

import attrs
import pytest

from svc_core.access.model import MEMBERS, USERS
from svc_core.access.people import CREDENTIALS
from svc_core.access.person_sessions import SESSIONS
from tests.http.dashboard.conftest import ORIGIN, PASSWORD, Desk, words

FORMS = ("/dashboard/sign-in", "/dashboard/sign-out", "/dashboard/setup", "/dashboard/invite")


def rows(desk: Desk, collection: Any) -> list[Any]:
    async def read(ctx: Any) -> list[Any]:
        return [collection.decode(row.raw) async for row in ctx.every(collection)]

    return list(desk.system(read))


def credential_of(desk: Desk, handle: str) -> Any:
    return next(row for row in rows(desk, CREDENTIALS) if row.handle == handle)


def roles(desk: Desk, handle: str) -> dict[str, str]:
    """The roles of a person by workspace."""
    id_ = credential_of(desk, handle).id
    return {row.workspace_id: row.role for row in rows(desk, MEMBERS) if row.user_id == id_}


# -- links -------------------------------------------------------------------------------------


def test_the_first_person_is_operator_and_owner_of_the_first_workspace(desk: Desk) -> None:
    browser, token = desk.browser(), desk.link("setup", role="owner", is_operator=True)

    page = browser.post("/dashboard/setup", {"token": f"{ORIGIN}/dashboard/setup#{token}"})
    assert page.status_code == 200
    assert "You are the first here" in words(page)
    answer = browser.follow(token, handle="ann@example.org", name="Ann", password=PASSWORD)

    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")
    [credential], [user], [member] = (rows(desk, part) for part in (CREDENTIALS, USERS, MEMBERS))
    assert (credential.handle, credential.is_operator) == ("ann@example.org", True)
    assert (user.name, member.role) == ("Ann", "owner")
    assert browser.get("/dashboard/sign-in").headers["location"] == "/dashboard"


def test_an_invitation_makes_a_member_and_says_of_what(desk: Desk) -> None:
    home = desk.workspace()
    token = desk.link("invite", workspace_id=home, role="admin", handle="ben")
    browser = desk.browser()

    page = words(browser.post("/dashboard/invite", {"token": token}))
    assert "Harbour desk" in page
    assert "admin" in page
    assert browser.follow(token, password=PASSWORD).status_code == 303

    assert roles(desk, "ben") == {home: "admin"}
    assert browser.sign_in("ben").status_code == 303


def test_whoever_is_signed_in_joins_as_who_they_are(desk: Desk) -> None:
    home = desk.workspace()
    browser = desk.person("ann", home)
    other = desk.workspace("Night desk")
    token = desk.link("invite", workspace_id=other, role="member")
    desk.house.clock.forward(hours=1)
    [session] = rows(desk, SESSIONS)

    page = words(browser.post("/dashboard/setup", {"token": token}))
    assert "Join Night desk" in page
    assert "ann" in page
    answer = browser.follow(token)
    assert answer.status_code == 303
    assert "set-cookie" not in answer.headers, "an invitation proves nothing about who follows it"
    [after] = rows(desk, SESSIONS)
    assert (after.id, after.signed_in_at) == (session.id, session.signed_in_at)

    assert roles(desk, "ann") == {home: "owner", other: "member"}
    assert len(rows(desk, CREDENTIALS)) == 1


def test_a_reset_gives_a_new_password_and_ends_every_session(desk: Desk) -> None:
    before = desk.person("ann", desk.workspace())
    credential = credential_of(desk, "ann")
    token, browser = desk.link("reset", user_id=credential.id), desk.browser()

    assert "Welcome back" in words(browser.post("/dashboard/setup", {"token": token}))
    assert browser.follow(token, password="winter orchard keeps humming").status_code == 303

    assert "/dashboard/sign-in" in before.get("/dashboard/me").headers["location"]
    assert browser.sign_in("ann").status_code == 403
    assert browser.sign_in("ann", "winter orchard keeps humming").status_code == 303


def test_a_sign_in_link_opens_at_once(desk: Desk) -> None:
    desk.person("demo", desk.workspace())
    credential = credential_of(desk, "demo")
    token, browser = desk.link("sign-in", user_id=credential.id), desk.browser()

    answer = browser.post("/dashboard/setup", {"token": token})

    assert (answer.status_code, answer.headers["location"]) == (303, "/dashboard")
    assert browser.sign_in("demo").status_code == 303, "its password is what it was"


@pytest.mark.parametrize("case", ["used", "over", "unknown"])
def test_a_link_without_effect_says_how_to_get_another(desk: Desk, case: str) -> None:
    token = desk.link("invite", workspace_id=desk.workspace(), role="member")
    browser = desk.browser()
    if case == "used":
        assert browser.follow(token, handle="ann", password=PASSWORD).status_code == 303
    if case == "over":
        desk.house.clock.forward(days=8)
    token = "0" * 64 if case == "unknown" else token

    for answer in (
        desk.browser().post("/dashboard/setup", {"token": token}),
        desk.browser().follow(token, handle="ben", password=PASSWORD),
    ):
        assert answer.status_code == 410
        assert "svc users link" in words(answer)
        assert "set-cookie" not in answer.headers
    assert len(rows(desk, CREDENTIALS)) == (case == "used")


def test_of_two_uses_at_once_only_the_first_counts(desk: Desk) -> None:
    token = desk.link("invite", workspace_id=desk.workspace(), role="member")
    forms = [
        {"token": token, "act": "true", "handle": f"ann{number}", "password": PASSWORD}
        for number in range(2)
    ]

    answers = desk.at_once("/dashboard/setup", forms)

    assert sorted(answer.status_code for answer in answers) == [303, 410]
    assert len(rows(desk, CREDENTIALS)) == 1


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"handle": "ann", "password": "short"}, "12"),
        ({"handle": "ann", "password": "password password"}, "Password : is one that many"),
        ({"handle": "a", "password": PASSWORD}, "Handle : must "),
        ({"handle": "ann"}, "Password : choose one"),
        ({"handle": "a", "password": "short"}, "Password : must have 12"),
    ],
)
def test_what_is_refused_leaves_the_link_as_it_was(
    desk: Desk, form: dict[str, str], reason: str
) -> None:
    token = desk.link("invite", workspace_id=desk.workspace(), role="member")
    browser = desk.browser()

    answer = browser.follow(token, name="Ann <b>", **form)

    assert answer.status_code == 400
    assert reason in words(answer)
    assert 'value="Ann &lt;b&gt;"' in answer.text, "what was entered stays, but for the password"
    assert form.get("password", PASSWORD) not in answer.text
    assert browser.follow(token, handle="ann", password=PASSWORD).status_code == 303


# -- sign-in -----------------------------------------------------------------------------------


def test_a_wrong_password_and_an_unknown_handle_are_told_alike(desk: Desk) -> None:
    desk.person("ann", desk.workspace())

    answers = [
        desk.browser().sign_in("ann", "not this one at all"),
        desk.browser().sign_in("eve", "not this one at all"),
    ]

    assert {answer.status_code for answer in answers} == {403}
    assert len({words(answer) for answer in answers}) == 1
    assert all("set-cookie" not in answer.headers for answer in answers)


def test_five_failures_lock_a_password_and_nothing_else(desk: Desk) -> None:
    home = desk.workspace()
    desk.person("ann", home)
    desk.person("ben", home)
    browser = desk.browser()
    for _ in range(5):
        assert browser.sign_in("ann", "not this one at all").status_code == 403

    answer = browser.sign_in("ann")

    assert answer.status_code == 429
    assert int(answer.headers["retry-after"]) == 900
    assert "svc users link" in words(answer)
    assert "It opens again in 15 minutes" in words(answer)
    assert "passkey" in words(answer)
    assert browser.sign_in("ben").status_code == 303
    assert desk.browser("192.0.2.7").sign_in("ann").status_code == 303
    token = desk.link("reset", user_id=credential_of(desk, "ann").id)
    assert browser.follow(token, password="winter orchard keeps humming").status_code == 303
    desk.house.clock.forward(minutes=15)
    assert browser.sign_in("ann", "winter orchard keeps humming").status_code == 303


def test_an_account_is_locked_everywhere_after_twenty(make_desk: Any) -> None:
    desk: Desk = make_desk(rate_limits=False)
    desk.person("ann", desk.workspace())
    for number in range(20):
        desk.browser(f"192.0.2.{number}").sign_in("ann", "not this one at all")

    assert desk.browser("198.51.100.1").sign_in("ann").status_code == 429


def test_the_pages_of_strangers_are_counted_by_address(make_desk: Any) -> None:
    desk: Desk = make_desk()
    browser = desk.browser()
    codes = {browser.get("/dashboard/sign-in").status_code for _ in range(121)}

    assert codes == {200, 429}
    assert desk.browser("192.0.2.7").get("/dashboard/sign-in").status_code == 200
    lenient: Desk = make_desk(rate_limits=False)
    assert {lenient.browser().get("/dashboard/sign-in").status_code for _ in range(121)} == {200}


@pytest.mark.parametrize(
    ("address", "destination"),
    [
        ("/dashboard/w/wsp_1/keys?limit=5", "/dashboard/w/wsp_1/keys?limit=5"),
        ("/dashboard", "/dashboard"),
        ("https://evil.example", "/dashboard"),
        ("//evil.example/dashboard", "/dashboard"),
        ("/dashboard\\@evil.example", "/dashboard"),
        ("/dashboardx", "/dashboard"),
        ("/api/v1/reports", "/dashboard"),
        ("/dashboard/\r\nset-cookie: a=b", "/dashboard"),
        ("javascript:alert(1)", "/dashboard"),
        ("", "/dashboard"),
    ],
)
def test_a_sign_in_leads_only_to_pages_of_the_dashboard(
    desk: Desk, address: str, destination: str
) -> None:
    desk.person("ann", desk.workspace())
    form = {"handle": "ann", "password": PASSWORD}
    fields = {"sec-fetch-site": "same-origin"}

    answer = desk.browser().send(
        "POST", "/dashboard/sign-in", fields, data=form, params={"next": address}
    )

    assert (answer.status_code, answer.headers["location"]) == (303, destination)


def test_a_page_leads_through_the_sign_in_and_back(desk: Desk) -> None:
    home = desk.workspace()
    browser = desk.person("ann", home)
    browser.post("/dashboard/sign-out")

    step = browser.get("/dashboard/me?a=1&b=%20")
    assert step.status_code == 303
    answer = browser.post(step.headers["location"], {"handle": "ANN", "password": PASSWORD})

    assert answer.headers["location"] == "/dashboard/me?a=1&b=%20"


# -- sessions ----------------------------------------------------------------------------------


def test_the_cookie_stays_with_the_browser_and_the_origin(desk: Desk) -> None:
    desk.person("ann", desk.workspace())
    [text] = desk.browser().sign_in("ann").headers.get_list("set-cookie")

    name, *marks = text.split("; ")
    assert name.startswith("__Host-svc=")
    assert set(marks) == {"Path=/", "Max-Age=1209600", "HttpOnly", "SameSite=Lax", "Secure"}


def test_sign_out_ends_the_session_and_removes_the_cookie(desk: Desk) -> None:
    browser = desk.person("ann", desk.workspace())
    token = browser.cookie

    answer = browser.post("/dashboard/sign-out")

    assert answer.headers["location"] == "/dashboard/sign-in"
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert rows(desk, SESSIONS) == []
    browser.cookie = token
    assert browser.get("/dashboard/sign-in").status_code == 200


@pytest.mark.parametrize(("span", "opens"), [({"hours": 11.9}, True), ({"hours": 12}, False)])
def test_a_session_ends_when_nobody_uses_it(
    desk: Desk, span: dict[str, float], opens: bool
) -> None:
    browser = desk.person("ann", desk.workspace())
    desk.house.clock.forward(**span)

    assert (browser.get("/dashboard/sign-in").status_code == 303) is opens


def test_a_session_ends_after_two_weeks_in_any_case(desk: Desk) -> None:
    browser = desk.person("ann", desk.workspace())
    codes = []
    for _ in range(29):
        desk.house.clock.forward(hours=11.9)
        codes.append(browser.get("/dashboard/sign-in").status_code)

    assert codes == [303] * 28 + [200]


def test_a_new_sign_in_takes_the_place_of_the_session_before_it(desk: Desk) -> None:
    browser = desk.person("ann", desk.workspace())
    token = browser.cookie

    assert browser.sign_in("ann").status_code == 303

    assert browser.cookie != token
    assert len(rows(desk, SESSIONS)) == 1
    browser.cookie = token
    assert browser.get("/dashboard/sign-in").status_code == 200


def test_a_change_of_role_exchanges_the_token_in_every_tab(desk: Desk) -> None:
    browser = desk.person("ann", desk.workspace())
    token = browser.cookie

    async def demote(ctx: Any) -> None:
        async for row in ctx.every(MEMBERS):
            member = MEMBERS.decode(row.raw)
            await ctx.save(MEMBERS, row.id, attrs.evolve(member, role="member"))

    desk.system(demote)
    assert browser.get("/dashboard/me").status_code == 200
    assert browser.cookie != token, "the token that the browser has is the new one"

    tab = desk.browser()
    tab.cookie = token
    assert tab.get("/dashboard/me").status_code == 200, "another tab is still under way"
    desk.house.clock.forward(seconds=61)
    assert tab.get("/dashboard/me").status_code == 303
    assert browser.get("/dashboard/me").status_code == 200


def test_the_new_token_is_not_lost_on_the_way_in(desk: Desk) -> None:
    home = desk.workspace()
    browser = desk.person("ann", home)
    token = browser.cookie

    async def demote(ctx: Any) -> None:
        id_ = f"{home}:{owner.id}"
        member = await ctx.value(MEMBERS, id_)
        await ctx.save(MEMBERS, id_, attrs.evolve(member, role="member"))

    owner = credential_of(desk, "ann")
    desk.system(demote)
    assert browser.get("/dashboard/sign-in?again=true").status_code == 200
    assert browser.cookie != token
    desk.house.clock.forward(seconds=61)
    assert browser.get("/dashboard/me").status_code == 200


def test_a_fresh_sign_in_asks_for_the_password_alone(desk: Desk) -> None:
    browser = desk.person("ann", desk.workspace())
    desk.person("ben", desk.workspace())
    token = browser.cookie
    desk.house.clock.forward(minutes=30)

    page = browser.get("/dashboard/sign-in?again=true&next=/dashboard/me")
    assert page.status_code == 200
    assert "ann" in words(page)
    form = {"handle": "ben", "password": PASSWORD}
    answer = browser.post("/dashboard/sign-in?again=true&next=/dashboard/me", form)

    assert answer.headers["location"] == "/dashboard/me"
    assert browser.cookie != token
    session = max(rows(desk, SESSIONS), key=lambda row: row.signed_in_at)
    assert session.user_id == credential_of(desk, "ann").id, (
        "the handle in the form is not believed"
    )
    assert session.signed_in_at == desk.house.clock()


# -- other origins -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", FORMS)
@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "origin": "https://other.example.org"},
        {"sec-fetch-site": "none"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {},
    ],
)
def test_a_form_of_another_origin_is_refused(
    desk: Desk, path: str, headers: dict[str, str]
) -> None:
    browser = desk.person("ann", desk.workspace())
    token = browser.cookie
    form = {"handle": "ann", "password": PASSWORD, "token": "0" * 64}

    answer = browser.send("POST", path, headers, data=form)

    assert answer.status_code == 403
    assert browser.cookie == token
    assert len(rows(desk, SESSIONS)) == 1


@pytest.mark.parametrize("path", ["/dashboard/sign-in", "/dashboard/setup", "/dashboard/me"])
def test_pages_have_the_fields_of_the_dashboard_and_no_cors(desk: Desk, path: str) -> None:
    browser = desk.person("ann", desk.workspace())
    if path != "/dashboard/me":
        browser.cookie = ""

    fields = browser.get(path, origin="https://other.example.org").headers

    assert "require-trusted-types-for 'script'" in fields["content-security-policy"]
    assert "unsafe" not in fields["content-security-policy"]
    assert fields["x-content-type-options"] == "nosniff"
    assert fields["referrer-policy"] == "no-referrer"
    assert fields["cross-origin-opener-policy"] == "same-origin"
    assert not [name for name in fields if name.startswith("access-control")]


def test_a_session_opens_no_interface(desk: Desk) -> None:
    browser = desk.person("ann", desk.workspace())

    assert browser.get("/api/v1/reports").status_code in {401, 402}
    assert browser.get("/api/v1/reports").json()["code"] in {"MISSING_API_KEY", "PAYMENT_REQUIRED"}


def test_a_key_opens_no_page(desk: Desk) -> None:
    key = desk.house.key()

    answer = desk.browser().get("/dashboard/me", authorization=f"Bearer {key}")

    assert answer.status_code == 303
    assert "/dashboard/sign-in" in answer.headers["location"]


# -- what a session needs ----------------------------------------------------------------------


@pytest.mark.parametrize("path", FORMS[:1] + FORMS[2:])
def test_beyond_this_machine_without_https_there_is_no_form(make_desk: Any, path: str) -> None:
    desk: Desk = make_desk(base_url="http://desk.example.org")
    browser = desk.browser()

    page = browser.get(path)

    assert "examples/deploy" in words(page)
    assert "<form" not in page.text
    form = {"handle": "ann", "password": PASSWORD, "token": "0" * 64}
    answer = browser.post(path, form)
    assert "examples/deploy" in words(answer)
    assert browser.cookie == ""


def test_the_dashboard_is_not_below_a_mount(desk: Desk) -> None:
    answer = desk.house.ask("GET", "/svc/dashboard/sign-in", root_path="/svc")

    assert answer.status_code == 404


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b"{}", 415),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 2_000_000, 413),
        ("application/x-www-form-urlencoded", b"a=" + b"x" * 65_536, 413),
        ("application/x-www-form-urlencoded", b"&".join([b"a=1"] * 501), 400),
        ("application/x-www-form-urlencoded", b"a=%ff", 400),
    ],
)
def test_the_body_of_a_form_is_bounded(desk: Desk, kind: str, body: bytes, status: int) -> None:
    headers = {"sec-fetch-site": "same-origin", "content-type": kind}

    answer = desk.browser().send("POST", "/dashboard/sign-in", headers, content=body)

    assert answer.status_code == status
