"""Addresses that somebody else names reach public hosts, or nothing."""

from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.base.egress import EgressError, check_callback, is_allowed, is_public_name
from tests.themes import each

GOOD = [
    "https://hooks.example.com/svc",
    "https://hooks.example.com",
    "https://hooks.example.com/",
    "https://HOOKS.Example.COM/Svc",
    "https://hooks.example.com:443/svc",
    "https://8.8.8.8/hook",
    "https://[2606:4700:4700::1111]/hook",
    "https://xn--bcher-kva.example.org/a?b=c&d=%20e",
    "https://two--hyphens.example.net/x",
    "https://example.com/" + "a" * 2000,
]

LOCAL = [
    "http://127.0.0.1:9000/hook",
    "http://localhost:9000/hook",
    "http://localhost/",
    "http://127.9.9.9:1/",
    "http://[::1]:65535/hook",
]

HOSTILE_HOSTS = [
    # this machine
    *("localhost", "LOCALHOST", "a.localhost", "127.0.0.1", "127.1", "127.0.1", "0", "0.0.0.0"),
    *("2130706433", "0x7f000001", "0x7f.1", "017700000001", "0177.0.0.1", "127.0.0.1."),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    *("[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]"),
    # private, link-local, metadata, shared
    *("10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1"),
    *("169.254.169.254", "[::ffff:169.254.169.254]", "[fd00:ec2::254]", "100.64.0.1"),
    *("[fe80::1]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[fc00::1]", "[fec0::1]", "[ff02::1]"),
    # reserved, documentation, benchmarks, multicast, broadcast
    *("192.0.0.1", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.175.48.1"),
    *("198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.1.1.1"),
    *("240.0.0.1", "255.255.255.255", "[2001::1]", "[2001:db8::1]", "[3fff::1]", "[5f00::1]"),
    *("[2620:4f:8000::1]", "[100::1]", "[4000::1]", "[2001:10::1]", "[2001:20::1]"),
    # names of the neighbourhood
    *("printer.local", "router.lan", "db.internal", "metadata.google.internal", "a.svc"),
    *("api.default.svc.cluster.local", "x.cluster.local", "host.localdomain", "nas.home.arpa"),
    *("hidden.onion", "a.test", "b.invalid", "c.example", "intranet", "kubernetes"),
    # names that are none
    *("example.com.", "-a.example.com", "a-.example.com", "a..example.com", ".example.com"),
    *("under_score.example.net", "_dmarc.example.net", "example.c_m"),
    *("example.123", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.4.", "a" * 64 + ".com"),
    *("ex ample.com", "example.com%00", "ex%61mple.com", "bücher.example", "ⓔxample.com", "[::1"),
    *("[1.2.3.4]", "[]", "[g::1]", "", "*", "example。com"),
]

HOSTILE_URLS = [
    *("http://example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/"),
    *("HTTPS://example.com/", "https:/example.com", "https:example.com", "//example.com/", ""),
    *("https://example.com:0/", "https://example.com:22/", "https://example.com:8443/"),
    *("https://example.com:80/", "https://example.com:65536/", "https://example.com:0443/"),
    *("https://example.com:/", "https://example.com:٤٤٣/", "https://example.com:-1/"),
    *("https://user@example.com/", "https://user:secret@example.com/", "https://@example.com/"),
    *("https://example.com@127.0.0.1/", "https://127.0.0.1#@example.com/", "https://a#b.com/"),
    *("https://example.com/#fragment", "https://example.com\\@127.0.0.1/", "https://example.com?x"),
    *(
        "https://example.com/a b",
        " https://example.com/",
        "https://example.com/\n",
        "https://ex\t.com",
    ),
    *("https://example.com/\u202e", "https://example.com/" + "a" * 2048, "https://", "https:///x"),
    *("http://127.0.0.1/", "http://localhost:9000/", "http://[::1]/", "javascript:alert(1)"),
]


@pytest.mark.parametrize("url", GOOD)
def test_public_https_addresses_may_be_called_back(url):
    check_callback(url)
    check_callback(url, loopback=True)


@pytest.mark.parametrize("url", LOCAL)
def test_a_developer_may_be_called_back_on_loopback_alone(url):
    check_callback(url, loopback=True)
    with pytest.raises(EgressError):
        check_callback(url)


@each([f"https://{host}/hook" for host in HOSTILE_HOSTS] + HOSTILE_URLS)
def test_hostile_addresses_are_refused(url):
    with pytest.raises(EgressError):
        check_callback(url)


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "example.com", "[fe80::1]", "0"])
def test_loopback_opens_nothing_else_to_plain_http(host):
    with pytest.raises(EgressError):
        check_callback(f"http://{host}/", loopback=True)


@pytest.mark.parametrize("port", [0, 65536, 99999])
def test_a_port_that_does_not_exist_is_refused_on_loopback_too(port):
    with pytest.raises(EgressError, match="does not exist"):
        check_callback(f"http://127.0.0.1:{port}/", loopback=True)


@given(st.text())
def test_any_text_is_judged_without_another_error(text):
    try:
        check_callback(text, loopback=True)
    except EgressError:
        return
    assert text.isascii()


@given(st.ip_addresses())
def test_an_allowed_address_is_a_global_one(address):
    if is_allowed(str(address)):
        assert address.is_global
        assert not address.is_multicast


def test_a_name_has_at_most_253_characters():
    assert is_public_name(".".join(["a" * 61] * 4) + ".com")
    assert not is_public_name(".".join(["a" * 62] * 4) + ".com")


@pytest.mark.parametrize(
    ("text", "exceptions", "expected"),
    [
        ("svc.test", (), False),
        ("fe80::1%eth0", (ip_network("fe80::/10"),), False),
        ("10.1.2.3", (), False),
        ("10.1.2.3", (ip_network("10.1.0.0/16"),), True),
        ("::ffff:10.1.2.3", (ip_network("10.1.0.0/16"),), True),
    ],
)
def test_an_exception_opens_its_network_and_no_text_that_is_no_plain_address(
    text, exceptions, expected
):
    assert is_allowed(text, exceptions) is expected
