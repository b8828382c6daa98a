"""Which origin a request names, over a socket: the authority of its target, else its `Host`."""

import pytest

from svc_http.guard import authority
from tests.http.conftest import Wire

HOST = b"data.example.org"
PATH = b"/livez"
ELSEWHERE = b"/problems"
"""What the public origin has, and the secondary one lacks."""


@pytest.fixture(scope="module")
def two():
    server = Wire(data_url=f"https://{HOST.decode()}")
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize(
    ("target", "rest", "is_there"),
    [
        (b"%b", b"HTTP/1.1\r\nHost: data.example.org\r\n", True),
        (b"%b", b"HTTP/1.1\r\nHost: DATA.example.ORG:443\r\n", True),
        (b"%b", b"HTTP/1.1\r\nHost: data.example.org.\r\n", False),
        (b"%b", b"HTTP/1.1\r\nHost: data.example.org:444\r\n", False),
        (b"%b", b"HTTP/1.1\r\nHost:\r\n", False),
        (b"%b", b"HTTP/1.1\r\nHost: a\r\nX-Forwarded-Host: data.example.org\r\n", False),
        (b"%b", b"HTTP/1.0\r\n", False),
        (b"%b", b"HTTP/1.0\r\nHost: data.example.org\r\n", True),
        # RFC 9112 3.2.2: "MUST ignore the received Host header field".
        (b"https://data.example.org%b", b"HTTP/1.1\r\nHost: a\r\n", True),
        (b"http://data.example.org:443%b", b"HTTP/1.1\r\nHost: a\r\n", True),
        (b"http://api.example.org%b", b"HTTP/1.1\r\nHost: data.example.org\r\n", False),
        (b"http://data.example.org%b", b"HTTP/1.0\r\n", True),
    ],
)
def test_a_request_names_its_origin(two, target, rest, is_there):
    for path, status in ((PATH, b"200"), (ELSEWHERE, b"404" if is_there else b"200")):
        answer = two.say(b"GET " + target % path + b" " + rest + b"\r\n")
        assert answer.split()[1] == status, answer


@pytest.mark.parametrize(
    "rest", [b"HTTP/1.1\r\n", b"HTTP/1.1\r\nHost: data.example.org\r\nHost: a\r\n"]
)
def test_a_request_that_names_none_or_two_is_refused(two, rest):
    answer = two.say(b"GET /livez " + rest + b"\r\n")
    assert answer.split()[1] == b"400"


@pytest.mark.parametrize(
    ("host", "origin", "is_named"),
    [
        (b"[::1]:8080", "http://[::1]:8080", True),
        (b"[0:0:0:0:0:0:0:1]:8080", "http://[::1]:8080", True),
        (b"[2001:DB8::A]", "https://[2001:db8::a]/", True),
        (b"[2001:db8::a]:443", "https://[2001:db8::a]", True),
        (b"[2001:db8::a]:80", "https://[2001:db8::a]", False),
        (b"[2001:db8::b]", "https://[2001:db8::a]", False),
        (b"::1", "http://[::1]", False),
        (b"[v1.x]", "http://[V1.X]", True),
        (b"data.example.org", "HTTPS://Data.example.org:443/under/here", True),
        (b"data.example.org:80", "http://data.example.org", True),
        (b"", "https://data.example.org", False),
        (b"d.example", "https://d\u00e4ta.example", False),
    ],
)
def test_a_host_and_a_port_are_compared_whole(host, origin, is_named):
    assert authority.authority_names(host, origin) == is_named
