import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.address import (
    DEFAULT_TRUSTED,
    ClientAddress,
    ForwardingHeaders,
    normalise_address,
    parse_trusted,
    resolve,
)


@given(st.ip_addresses())
def test_equal_addresses_have_equal_spellings_and_no_others(address):
    assert normalise_address(str(address)) == normalise_address(address.exploded)
    if address.version == 4:
        assert (
            normalise_address(f"::ffff:{address}")
            == normalise_address(str(address))
            == str(address)
        )


@given(st.text(max_size=70))
def test_what_is_read_is_an_address_and_stays_itself(text):
    try:
        spelling = normalise_address(text)
    except ValueError:
        return
    assert str(ipaddress.ip_address(spelling)) == spelling


STRANGER, PROXY = "203.0.113.9", "10.0.0.7"
CF, XFF, REAL = "198.51.100.1", "198.51.100.2", "198.51.100.3"
ALL_HEADERS = ForwardingHeaders([CF], [f"{XFF}, 198.51.100.8"], [REAL])

SEEN_CASES = [
    # peer, headers, address, certain
    (STRANGER, ForwardingHeaders(), STRANGER, True),
    (STRANGER, ALL_HEADERS, STRANGER, True),  # spoofing from the open network does nothing
    (PROXY, ForwardingHeaders(), PROXY, True),
    (PROXY, ALL_HEADERS, CF, True),
    (PROXY, ALL_HEADERS._replace(cf_connecting_ip=()), XFF, True),
    (PROXY, ForwardingHeaders(x_real_ip=[REAL]), REAL, True),
    ("::ffff:10.0.0.7", ALL_HEADERS, CF, True),
    ("::ffff:203.0.113.9", ALL_HEADERS, STRANGER, True),
    ("127.0.0.1", ALL_HEADERS, CF, True),
    ("::1", ALL_HEADERS, CF, True),
    ("172.31.0.1", ALL_HEADERS, CF, True),
    ("172.32.0.1", ALL_HEADERS, "172.32.0.1", True),
    ("192.168.1.1", ALL_HEADERS, CF, True),
    ("169.254.1.1", ALL_HEADERS, CF, True),
    ("fe80::1%eth0", ALL_HEADERS, CF, True),
    ("fd00::1", ALL_HEADERS, CF, True),
    ("100.64.0.1", ALL_HEADERS, "100.64.0.1", True),
    # a header that cannot be read never gives way to the next one
    (PROXY, ALL_HEADERS._replace(cf_connecting_ip=["garbage"]), PROXY, False),
    (PROXY, ALL_HEADERS._replace(cf_connecting_ip=[CF, CF]), PROXY, False),
    (PROXY, ALL_HEADERS._replace(cf_connecting_ip=[""]), PROXY, False),
    (PROXY, ALL_HEADERS._replace(cf_connecting_ip=[f"{CF}:443"]), PROXY, False),
    (PROXY, ALL_HEADERS._replace(cf_connecting_ip=["198.051.100.1"]), PROXY, False),
    (
        PROXY,
        ForwardingHeaders(x_forwarded_for=["unknown, 198.51.100.2"], x_real_ip=[REAL]),
        PROXY,
        False,
    ),
    (PROXY, ForwardingHeaders(x_forwarded_for=["", XFF]), PROXY, False),
    (PROXY, ForwardingHeaders(x_real_ip=[REAL, REAL]), PROXY, False),
    # spelling
    (PROXY, ForwardingHeaders(x_forwarded_for=[XFF, CF]), XFF, True),
    (PROXY, ForwardingHeaders(x_forwarded_for=[f" \t{XFF}\t,{CF}"]), XFF, True),
    (PROXY, ForwardingHeaders(cf_connecting_ip=[f" {CF} "]), CF, True),
    (PROXY, ForwardingHeaders(cf_connecting_ip=["::FFFF:198.51.100.1"]), CF, True),
    # no address at all: a unix socket or a call inside the process
    (None, ALL_HEADERS, CF, True),
    (None, ForwardingHeaders(), "", False),
    ("testclient", ALL_HEADERS, CF, True),
    ("testclient", ForwardingHeaders(), "testclient", False),
]


@pytest.mark.parametrize(("peer", "fields", "text", "certain"), SEEN_CASES)
def test_the_client_address_by_default(peer, fields, text, certain):
    assert resolve(peer, fields, DEFAULT_TRUSTED) == ClientAddress(text, certain)


TRUST = [
    # setting, peer, believed
    (["*"], STRANGER, True),
    (["*"], None, True),
    ([], "127.0.0.1", False),
    ([], None, False),
    (["loopback"], "127.8.9.10", True),
    (["loopback"], None, True),
    (["loopback"], PROXY, False),
    (["private"], PROXY, True),
    (["private"], "127.0.0.1", False),
    (["private"], None, False),
    (["203.0.113.0/24"], STRANGER, True),
    (["203.0.113.9"], STRANGER, True),
    (["203.0.113.9"], "203.0.113.10", False),
    (["2001:db8::/32"], "2001:db8::5", True),
    (["2001:db8::/32"], STRANGER, False),
]


@pytest.mark.parametrize(("setting", "peer", "is_believed"), TRUST)
def test_headers_are_believed_from_the_peers_of_the_setting(setting, peer, is_believed):
    peers = parse_trusted(setting)
    assert (resolve(peer, ALL_HEADERS, peers) == (CF, True)) is is_believed


@pytest.mark.parametrize("entry", ["10.0.0.1/8", "everyone", "", "10.0.0.0/33"])
def test_an_unreadable_entry_is_refused_by_name(entry):
    with pytest.raises(ValueError, match="loopback, private"):
        parse_trusted(["private", entry])


# -- a known number of proxies -----------------------------------------------------------------

SPOOF = "192.0.2.66"

HOPS_CASES = [
    # peer, hops, values of X-Forwarded-For by field line, address, certain
    (PROXY, 1, [f"{SPOOF}, {XFF}"], XFF, True),
    (PROXY, 1, [SPOOF, XFF], XFF, True),
    (PROXY, 2, [f"{SPOOF}, {XFF} ,10.0.0.8"], XFF, True),
    (PROXY, 2, [f"{SPOOF},{XFF}", "10.0.0.8"], XFF, True),
    (PROXY, 1, [f"{SPOOF}, garbage"], PROXY, False),
    (PROXY, 1, [f"{SPOOF},"], PROXY, False),
    (PROXY, 1, [XFF], XFF, True),
    # fewer values than proxies: somebody went past one, and is known as the peer alone
    (PROXY, 2, [SPOOF], PROXY, False),
    (PROXY, 3, [f"{SPOOF}, {XFF}"], PROXY, False),
    (PROXY, 2, [], PROXY, True),
    (STRANGER, 1, [SPOOF], STRANGER, True),
]


@pytest.mark.parametrize(("peer", "hops", "lines", "text", "certain"), HOPS_CASES)
def test_the_address_that_the_outermost_of_known_proxies_wrote_counts(
    peer, hops, lines, text, certain
):
    rules = parse_trusted(["private"], hops)
    fields = ForwardingHeaders([CF], lines, [REAL])
    assert resolve(peer, fields, rules) == ClientAddress(text, certain)


@given(st.lists(st.text("0123456789.:, abc", max_size=20), max_size=6), st.integers(1, 4))
def test_what_a_stranger_writes_moves_no_address_that_proxies_append(lines, hops):
    own = ", ".join([XFF, "10.0.0.8", "10.0.0.9", "10.0.0.10"][:hops])
    fields = ForwardingHeaders([CF], [*lines, own], [REAL])
    assert resolve(PROXY, fields, parse_trusted(["private"], hops)) == ClientAddress(XFF, True)


BLOCKS = [
    # prefix, address, the caller it counts as
    (64, "2001:db8::1", "2001:db8::/64"),
    (64, "2001:db8:0:0:ffff::9%eth0", "2001:db8::/64"),
    (56, "2001:db8:0:ff::9", "2001:db8::/56"),
    (128, "2001:db8::9", "2001:db8::9/128"),
    (64, "::ffff:192.0.2.7", "192.0.2.7"),
    (64, "192.0.2.7", "192.0.2.7"),
    (64, "2001:db8::/64", "2001:db8::/64"),
    (64, "testclient", "testclient"),
]


@pytest.mark.parametrize(("prefix", "text", "caller"), BLOCKS)
def test_a_caller_is_an_address_or_a_prefix_of_ipv6(prefix, text, caller):
    assert parse_trusted([], None, prefix).block(text) == caller
