"""Checks the form of URLs that others name; `svc_core.base.egress` judges hosts and addresses."""

import re

from httpx2 import URL, InvalidURL

from svc_core.base.egress import URL_CHARS_MAX, Network, is_allowed, is_ip_literal, is_public_name
from svc_http.outside.fetch.model import FetchRefusal

_PORT_MIN = 1_024
_PORTS_BELOW = frozenset({80, 443})


def readable_url(text: str) -> URL:
    """Parse a web address that names a host and has no user name or password.

    Raises:
        FetchRefusal: `badAddress`.
    """
    if len(text) > URL_CHARS_MAX or re.search(r"[\x00-\x20\x7f\\]", text):
        raise FetchRefusal(
            "badAddress",
            f"An address has at most {URL_CHARS_MAX} characters, none of them a space, a control "
            "character or a backslash.",
        )
    try:
        url = URL(text)
    except (InvalidURL, ValueError) as fault:
        raise FetchRefusal("badAddress", f"This is not a web address: {fault}.") from fault
    if url.scheme not in {"http", "https"} or not url.host:
        raise FetchRefusal(
            "badAddress", "A web address begins with http:// or https:// and a host."
        )
    if url.userinfo:
        raise FetchRefusal("badAddress", "An address with a user name or password is not fetched.")
    return url


def checked_url(text: str, exceptions: tuple[Network, ...] = ()) -> URL:
    """Parse a URL and check that its port and host may be reached.

    Raises:
        FetchRefusal: `badAddress` or `deniedAddress`.
    """
    url = readable_url(text)
    _check_port(url)
    _check_host(url.raw_host.decode("ascii").lower().rstrip("."), exceptions)
    return url.copy_with(fragment=None)


def _check_port(url: URL) -> None:
    # A port below 1024 belongs to another protocol, which must not be spoken to in HTTP.
    port = url.port
    if port is not None and port not in _PORTS_BELOW and not _PORT_MIN <= port <= 65_535:
        raise FetchRefusal("deniedAddress", f"Port {port} is not one that web servers use.")


def _check_host(host: str, exceptions: tuple[Network, ...]) -> None:
    if is_ip_literal(host):
        if not is_allowed(host, exceptions):
            raise denied_address(host)
    elif exceptions:
        return
    elif not is_public_name(host):
        raise FetchRefusal("deniedAddress", f"{host} is not the name of a public host.")


def denied_address(host: str) -> FetchRefusal:
    """The refusal of a host that is, or resolves to, an address that is not public."""
    return FetchRefusal(
        "deniedAddress",
        f"{host} is an address inside a private or reserved network; "
        "the setting allow_private_fetch permits private ones.",
    )
