"""The cookie of a session, and where forms may come from."""

from types import SimpleNamespace
from typing import Any

import pytest

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.dashboard import security
from svc_http.dashboard.page_markup import safe_link
from tests.http.conftest import make_settings

ORIGIN = "https://desk.example.org"


def request(**fields: str) -> Any:
    lines = {name.replace("_", "-"): value for name, value in fields.items()}
    return SimpleNamespace(header=lines.get)


@pytest.mark.parametrize(
    ("fields", "passes"),
    [
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "same-origin", "origin": ORIGIN}, True),
        ({"sec_fetch_site": "same-site", "origin": ORIGIN}, False),
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "none", "origin": ORIGIN}, False),
        ({"sec_fetch_site": ""}, False),
        ({"origin": ORIGIN}, True),
        ({"origin": f"{ORIGIN}:8443"}, False),
        ({"origin": "http://desk.example.org"}, False),
        ({"origin": "null"}, False),
        ({"referer": f"{ORIGIN}/dashboard"}, False),
        ({}, False),
    ],
)
def test_a_form_comes_from_a_page_of_this_origin(fields: dict[str, str], passes: bool) -> None:
    if passes:
        security.check_origin(request(**fields), ORIGIN)
        return
    with pytest.raises(Problem) as refusal:
        security.check_origin(request(**fields), ORIGIN)
    assert refusal.value.type is problem.FORBIDDEN
    assert f"{ORIGIN}/dashboard" in refusal.value.resolution


@pytest.mark.parametrize(
    ("base_url", "name"),
    [
        ("https://desk.example.org", "__Host-svc"),
        ("http://127.0.0.1:8000", "svc-local"),
        ("http://localhost:8000", "svc-local"),
        ("http://[::1]:8000", "svc-local"),
        ("http://desk.example.org", None),
        ("http://192.168.0.7:8000", None),
    ],
)
def test_a_cookie_goes_over_https_or_stays_on_the_machine(base_url: str, name: str | None) -> None:
    assert security.cookie_name(make_settings(base_url=base_url)) == name


def test_a_cookie_is_out_of_reach_of_scripts_and_other_sites() -> None:
    field, text = security.set_cookie("__Host-svc", "0f" * 32)

    assert field == b"set-cookie"
    assert text.decode().split("; ") == [
        "__Host-svc=" + "0f" * 32, "Path=/", "Max-Age=1209600", "HttpOnly", "SameSite=Lax",
        "Secure",
    ]  # fmt: skip
    assert b"Max-Age=0" in security.set_cookie("svc-local", None)[1]
    assert b"Secure" not in security.set_cookie("svc-local", "a")[1]


@pytest.mark.parametrize(
    ("sent", "token"),
    [
        ("__Host-svc=abc", "abc"),
        ("other=1; __Host-svc=abc; more=2", "abc"),
        ("svc-local=abc", None),
        ("__Host-svc", None),
        ('a={"x": 1}; __Host-svc=abc', "abc"),
        ("x; b=c d; __Host-svc=abc", "abc"),
        ("clé=ü; __Host-svc=abc;", "abc"),
        ("x__Host-svc=abc", None),
        ("", None),
    ],
)
def test_only_the_cookie_of_its_name_is_read(sent: str, token: str | None) -> None:
    assert security.session_token(request(cookie=sent), "__Host-svc") == token
    assert security.session_token(request(cookie=sent), None) is None


@pytest.mark.parametrize(
    ("address", "is_safe"),
    [
        ("https://example.org/a", True),
        ("/dashboard/w/wsp_1", True),
        ("mailto:ann@example.org", True),
        ("javascript:alert(1)", False),
        (" JavaScript:alert(1)", False),
        ("java\nscript:alert(1)", False),
        ("data:text/html,x", False),
        ("http://[", False),
    ],
)
def test_a_link_never_runs_anything(address: str, is_safe: bool) -> None:
    assert (safe_link(address) == address) is is_safe
