"""The rules that keep a person's session their own: the cookie, the origin of forms, the policy.

Rule 1: the cookie is read under `/dashboard` alone, is out of reach of scripts, and goes to no
        other site.
Rule 2: nothing changes by GET. A POST must come from a page of this origin: by `Sec-Fetch-Site`
        where the browser sends it, else by `Origin`; without either it is refused. That holds for
        signing in as well, so that nobody is signed in as somebody else.
Rule 3: a page loads only files of this origin, and has neither script nor style inside.
"""

from typing import Final
from urllib.parse import urlsplit

from svc_core.access.person_sessions import LIFETIME
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_http.exchange.http_exchange import DASHBOARD, Exchange, Header
from svc_http.settings import Settings

SECURE_COOKIE: Final = "__Host-svc"
"""Over https. The prefix makes browsers insist on Secure, on this host and on the path `/`."""
LOCAL_COOKIE: Final = "svc-local"
"""On the loopback address over http, where a Secure cookie may be refused."""

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def cookie_name(settings: Settings) -> str | None:
    """The name of the session's cookie; None where the service cannot keep a session.

    Beyond the loopback address a cookie over plain http could be read by anybody on the way.
    """
    origin = urlsplit(settings.origin)
    if origin.scheme == "https":
        return SECURE_COOKIE
    return LOCAL_COOKIE if origin.hostname in _LOOPBACK else None


def session_token(exchange: Exchange, name: str | None) -> str | None:
    """The token of the session that the request carries, if any."""
    if name is None:
        return None
    pairs = (pair.partition("=") for pair in (exchange.header("cookie") or "").split(";"))
    # Read by hand, because a cookie of somebody else that no parser understands may stand beside.
    return next((token.strip() for key, _, token in pairs if key.strip() == name and token), None)


def set_cookie(name: str, token: str | None) -> Header:
    """The field that stores the token in the browser, or, without one, removes it."""
    age = 0 if token is None else int(LIFETIME.total_seconds())
    mark = "; Secure" if name == SECURE_COOKIE else ""
    text = f"{name}={token or ''}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{mark}"
    return b"set-cookie", text.encode("ascii")


def check_origin(exchange: Exchange, origin: str) -> None:
    """Check that a form was sent by a page of this origin.

    Raises:
        Problem: FORBIDDEN.
    """
    site, source = exchange.header("sec-fetch-site"), exchange.header("origin")
    if site == "same-origin" or (site is None and source == origin):
        return
    detail = f"This form was not sent by a page of {origin}."
    step = f"Open {origin}{DASHBOARD} and send it from there."
    raise Problem(problem.FORBIDDEN, detail, resolution=step)


def page_fields(media_origin: str | None, *, is_secret: bool = False) -> tuple[Header, ...]:
    """The header fields of every page; recordings may come from `media_origin`."""
    media = " ".join(filter(None, ("'self'", media_origin)))
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        f"font-src 'self'; connect-src 'self'; media-src {media}; form-action 'self'; "
        "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types svc"
    )
    return (
        (b"content-security-policy", policy.encode()),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
        (b"x-robots-tag", b"noindex"),
        (b"cache-control", b"no-store" if is_secret else b"private, no-cache"),
    )
