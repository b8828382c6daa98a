"""Each scheme has one text for one thing, and takes nothing that is not one of it."""

import string
from ipaddress import IPv6Address
from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.contract.problem import Problem
from svc_core.formats.designators.schemes import SCHEMES
from svc_core.ledger.designator_input import VALUE_MAX, SchemeName, normalise
from tests.themes import each

WILD = ":*" * 7
SHA = "3660315a9af3df255d8f19ab077e4797822b41488a0e2a04bc6af71213c23274"
WALLET = "0x52908400098527886e0f7030069857d2e4169ee7"

GOOD = [
    ("lei", "5493001KJTIIGC8Y1R12", "5493001KJTIIGC8Y1R12"),
    ("lei", "5493 001k jtii gc8y 1r12", "5493001KJTIIGC8Y1R12"),
    ("lei", "HWUPKR0MPOU8FGXBT394", "HWUPKR0MPOU8FGXBT394"),
    ("isin", "US0378331005", "US0378331005"),
    ("isin", "de 000bay0017", "DE000BAY0017"),
    ("isin", " CH0012032048\n", "CH0012032048"),
    ("cik", "0000320193", "0000320193"),
    ("cik", "320193", "0000320193"),
    ("cik", "CIK 0000320193", "0000320193"),
    ("ticker", "XNAS:AAPL", "XNAS:AAPL"),
    ("ticker", "xnys:brk.b", "XNYS:BRK.B"),
    ("ticker", "XTKS:7203", "XTKS:7203"),
    ("figi", "BBG000B9XRY4", "BBG000B9XRY4"),
    ("figi", "bbg000blnnh6", "BBG000BLNNH6"),
    ("figi", "BBG000BLNNV0", "BBG000BLNNV0"),
    ("cve", "CVE-2024-3094", "CVE-2024-3094"),
    ("cve", "cve-2021-44228", "CVE-2021-44228"),
    ("cve", "CVE-1999-0001", "CVE-1999-0001"),
    ("cwe", "CWE-79", "CWE-79"),
    ("cwe", "cwe-079", "CWE-79"),
    ("cwe", "CWE-1321", "CWE-1321"),
    ("cpe", f"cpe:2.3:a:tukaani:xz:5.6.0{WILD}", f"cpe:2.3:a:tukaani:xz:5.6.0{WILD}"),
    ("cpe", f"CPE:2.3:O:Vendor:Product\\+:-{WILD}", f"cpe:2.3:o:vendor:product\\+:-{WILD}"),
    (
        "cpe",
        "cpe:2.3:h:a:b?:*1*:-:-:en-us:-:-:-:-",
        "cpe:2.3:h:a:b?:*1*:-:-:en-us:-:-:-:-",
    ),
    ("attack", "G0016", "G0016"),
    ("attack", "t1059.001", "T1059.001"),
    ("attack", "C0024", "C0024"),
    ("purl", "pkg:npm/%40scope/left-pad@1.3.0", "pkg:npm/%40scope/left-pad@1.3.0"),
    ("purl", "PKG:NPM//@scope/left-pad@1.3.0", "pkg:npm/%40scope/left-pad@1.3.0"),
    ("purl", "pkg:npm/@scope", "pkg:npm/%40scope"),
    ("purl", "pkg:PyPI/Django_Rest@1.0", "pkg:pypi/django-rest@1.0"),
    ("purl", "pkg:deb/debian/curl@7.50?b=1&Arch=i386&c=", "pkg:deb/debian/curl@7.50?arch=i386&b=1"),
    ("purl", "pkg:github/Pier/Tool@v1#/docs/./../a b/", "pkg:github/pier/tool@v1#docs/a%20b"),
    ("purl", "pkg:maven/org.pier/Tool@1%2B2:3", "pkg:maven/org.pier/Tool@1%2B2:3"),
    ("sha256", SHA, SHA),
    ("sha256", SHA.upper(), SHA),
    ("x509", SHA, SHA),
    ("x509", ":".join(SHA.upper()[i : i + 2] for i in range(0, 64, 2)), SHA),
    ("domain", "example.com", "example.com"),
    ("domain", "WWW.Example.COM.", "www.example.com"),
    ("domain", "Bücher.example", "xn--bcher-kva.example"),
    ("domain", "bu\u0308cher.example", "xn--bcher-kva.example"),
    ("domain", "XN--BCHER-KVA.example", "xn--bcher-kva.example"),
    ("domain", "straße.de", "xn--strae-oqa.de"),
    ("domain", "www.7.example", "www.7.example"),
    ("domain", "例え。テスト", "xn--r8jz45g.xn--zckzah"),
    ("domain", "r3---sn-a.example", "r3---sn-a.example"),
    ("url", "https://example.com", "https://example.com/"),
    ("url", "HTTPS://Example.COM:443/a/./b/../%7euser", "https://example.com/a/~user"),
    ("url", "http://example.com:8080/?q=%c3%a9#Top", "http://example.com:8080/?q=%C3%A9#Top"),
    ("url", "http://bücher.example/é", "http://xn--bcher-kva.example/%C3%A9"),
    ("url", "http://192.0.2.1/", "http://192.0.2.1/"),
    ("url", "http://[2001:DB8::0:1]:80/x/..", "http://[2001:db8::1]/"),
    ("url", "ftp://example.com:021/../..//a", "ftp://example.com//a"),
    ("url", "https://example.com:/a%2fb%25", "https://example.com/a%2Fb%25"),
    ("ipv4", "192.0.2.1", "192.0.2.1"),
    ("ipv4", " 0.0.0.0 ", "0.0.0.0"),
    ("ipv4", "255.255.255.255", "255.255.255.255"),
    ("ipv6", "2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
    ("ipv6", "2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
    ("ipv6", "::", "::"),
    ("ipv6", "::FFFF:C000:0201", "::ffff:192.0.2.1"),
    ("ipv6", "::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ("asn", "64496", "64496"),
    ("asn", "AS64496", "64496"),
    ("asn", "as 0064496", "64496"),
    ("asn", "4294967295", "4294967295"),
    ("email", "press@example.com", "press@example.com"),
    ("email", "Press.Office+A@Example.COM", "press.office+a@example.com"),
    ("email", "x@Bücher.example", "x@xn--bcher-kva.example"),
    ("imo", "9074729", "9074729"),
    ("imo", "IMO 9074729", "9074729"),
    ("imo", "imo9319466", "9319466"),
    ("mmsi", "211331640", "211331640"),
    ("mmsi", "002111234", "002111234"),
    ("mmsi", "970123456", "970123456"),
    ("mmsi", "992111234", "992111234"),
    ("icao24", "3c6444", "3c6444"),
    ("icao24", "A1B2C3", "a1b2c3"),
    ("wallet", f"eip155:1:{WALLET}", f"eip155:1:{WALLET}"),
    ("wallet", f"eip155:1:{WALLET.replace('e', 'E')}", f"eip155:1:{WALLET}"),
    (
        "wallet",
        "bip122:000000000019d6689c085ae165831e93:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
        "bip122:000000000019d6689c085ae165831e93:1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa",
    ),
    ("wikidata", "Q42", "Q42"),
    ("wikidata", "q7747", "Q7747"),
    ("wikidata", " Q123456789012", "Q123456789012"),
    ("opensanctions", "NK-2dtbmTFwdyt8wsgTYAnhGD", "NK-2dtbmTFwdyt8wsgTYAnhGD"),
    ("opensanctions", "Q7747", "Q7747"),
    ("opensanctions", "ofac-20157 ", "ofac-20157"),
    ("phone", "+41446681800", "+41446681800"),
    ("phone", "+41 44 668-18.00", "+41446681800"),
    ("phone", "+1 (202) 555\u20110143", "+12025550143"),
    ("handle", "github:octocat", "github:octocat"),
    ("handle", "X:@@Ä", "x:ä"),
    ("handle", "GitHub:@OctoCat", "github:octocat"),
    ("handle", "mastodon:@Pier@Social.example", "mastodon:pier@social.example"),
    ("handle", "vk:Мария", "vk:мария"),
    ("name", "Müller  Shipping\u00a0AG", "Müller Shipping AG"),
    ("name", "Mu\u0308ller", "Müller"),
    ("name", " 7 ", "7"),
    ("name", "می\u200cخواهم", "می\u200cخواهم"),
]

LONG_DOMAIN = ".".join(["a" * 63] * 3)
LONG_MAILBOX = "a" * 64 + "@" + "bcd." * 45
LONG_URL = "https://example.com/"
# The longest or largest value of a scheme, and the first that is too long or too large.
LIMITS = [
    ("asn", "1", "0"),
    ("asn", "4294967295", "4294967296"),
    ("domain", "a.b.", "a.b.."),
    ("domain", "163.com", "com.163"),
    ("domain", "a" * 63 + ".example", "a" * 64 + ".example"),
    ("domain", f"{LONG_DOMAIN}.{'a' * 61}", f"{LONG_DOMAIN}.{'a' * 62}"),
    ("email", "a" * 64 + "@example.com", "a" * 65 + "@example.com"),
    ("email", LONG_MAILBOX + "efghijklm", LONG_MAILBOX + "efghijklmn"),
    ("handle", "github:" + "a" * 128, "github:" + "a" * 129),
    ("name", "a" * 300, "a" * 301),
    ("name", "7", ""),
    ("name", "a" + " " * 2_046 + "b", "a" + " " * 2_047 + "b"),
    ("handle", "github:a", "github:@"),
    ("phone", "+123456789012345", "+1234567890123456"),
    ("phone", "+1234567", "+123456"),
    ("url", "https://example.com:65535/", "https://example.com:65536/"),
    ("url", LONG_URL + "a" * 2_028, LONG_URL + "a" * 2_029),
    # It has six times the characters when it is normalised.
    ("url", LONG_URL + "é" * 338, LONG_URL + "é" * 338 + "a"),
    ("wikidata", "Q999999999999", "Q9999999999999"),
]

BAD = [
    ("lei", "HWUPKR0MPOU8FGXBT395"),
    ("lei", "5493001KJTIIGC8Y1R1"),
    ("lei", "5493001KJTIIGC8Y1R1A"),
    ("lei", "5493-001KJTIIGC8Y1R1"),
    ("isin", "US0378331006"),
    ("isin", "US037833100"),
    ("isin", "0S0378331005"),
    ("cik", "0"),
    ("cik", "12345678901"),
    ("cik", "٣٢٠١٩٣"),
    ("ticker", "AAPL"),
    ("ticker", "XNAS:"),
    ("ticker", "NAS:AAPL"),
    ("ticker", "XNAS:A APL"),
    ("figi", "BBG000B9XRY5"),
    ("figi", "BBX000B9XRY4"),
    ("figi", "GBG000B9XRY4"),
    ("figi", "ABG000B9XRY4"),
    ("cve", "CVE-2024-309"),
    ("cve", "2024-3094"),
    ("cve", "CVE-1998-0001"),
    ("cve", "CVE-2024-３０９４"),
    ("cwe", "79"),
    ("cwe", "CWE-0"),
    ("cwe", "CWE-1234567"),
    ("cpe", "cpe:/a:vendor:product:1"),
    ("cpe", "cpe:2.3:x:a:b:1" + WILD),
    ("cpe", "cpe:2.3:a:a:b:1" + WILD + ":*"),
    ("cpe", "cpe:2.3:a:a*b:b:1" + WILD),
    ("cpe", "cpe:2.3:a:a:b:1:*:*:english:*:*:*:*"),
    ("attack", "X0016"),
    ("attack", "T105"),
    ("attack", "G0016.001"),
    ("attack", "TA0001"),
    ("purl", "npm/left-pad"),
    ("purl", "npm:npm/left-pad"),
    ("purl", "pkg:npm"),
    ("purl", "pkg:npm/"),
    ("purl", "pkg:1npm/x"),
    ("purl", "pkg:npm/x?1a=b"),
    ("purl", "pkg:npm/x?a=b&A=c"),
    ("purl", "pkg:npm/%ff"),
    ("sha256", SHA[:-1]),
    ("sha256", SHA + "0"),
    ("sha256", SHA[:-1] + "g"),
    ("sha256", f"sha256:{SHA}"),
    ("x509", SHA[:40]),
    ("x509", SHA + "00"),
    ("x509", "sha1:" + SHA[:40]),
    ("x509", SHA.replace("3", " ", 1)),
    ("domain", "localhost"),
    ("domain", "a..com"),
    ("domain", ".example.com"),
    ("domain", "."),
    ("domain", "192.0.2.1"),
    ("domain", "www.example.7"),
    ("domain", "-a.example"),
    ("domain", "a_b.example"),
    ("domain", "a" * 64 + ".example"),
    ("domain", ".".join(["a" * 60] * 5)),
    ("domain", "i❤.example"),
    ("domain", "-ü.example"),
    ("domain", "ü-.example"),
    ("domain", "\u0308u.example"),
    ("domain", "xn--bcher-.example"),
    ("domain", "xn--99999999.example"),
    ("domain", "xn--.example"),
    ("domain", "ü" * 63 + "x.example"),
    ("url", "example.com"),
    ("url", "javascript:alert(1)"),
    ("url", "file:///etc/passwd"),
    ("url", "https://user:secret@example.com/"),
    ("url", "https://localhost/"),
    ("url", "https://example.com/a b"),
    ("url", "https://example.com/%zz"),
    ("url", "https://example.com:0/"),
    ("url", "https://example.com:65536/"),
    ("url", "https://example.com:x/"),
    ("url", "https://[::1%25eth0]/"),
    ("url", "https://1.2.3.4.5/"),
    ("url", "https://" + "é" * 100 + ".com/"),
    ("url", "https://example.com/" + "é" * 1_000),
    ("ipv4", "192.0.2"),
    ("ipv4", "192.0.2.256"),
    ("ipv4", "192.0.2.01"),
    ("ipv4", "192.0.2.1/24"),
    ("ipv4", "١٩٢.0.2.1"),
    ("ipv6", "192.0.2.1"),
    ("ipv6", "fe80::1%eth0"),
    ("ipv6", "2001:db8:::1"),
    ("ipv6", "2001:db8::/32"),
    ("asn", "0"),
    ("asn", "4294967296"),
    ("asn", "1.10"),
    ("email", "example.com"),
    ("email", "@example.com"),
    ("email", "a..b@example.com"),
    ("email", '"a b"@example.com'),
    ("email", "a@localhost"),
    ("email", "a" * 65 + "@example.com"),
    ("email", "a" * 60 + "@" + ".".join(["b" * 60] * 4)),
    ("imo", "9074728"),
    ("imo", "907472"),
    ("imo", "IMO-9074729"),
    ("mmsi", "21133164"),
    ("mmsi", "111999999"),
    ("mmsi", "000000000"),
    ("mmsi", "971999999x"),
    ("icao24", "000000"),
    ("icao24", "FFFFFF"),
    ("icao24", "3c644"),
    ("icao24", "3c644g"),
    ("wallet", WALLET),
    ("wallet", f"eip155:x:{WALLET}"),
    ("wallet", "eip155:1:0x5290"),
    ("wallet", "ei:1:abc"),
    ("wikidata", "42"),
    ("wikidata", "Q042"),
    ("wikidata", "Q0"),
    ("wikidata", "P31"),
    ("opensanctions", "x"),
    ("opensanctions", "-abc"),
    ("opensanctions", "a b"),
    ("phone", "0446681800"),
    ("phone", "+41 (0)44 668 18 00"),
    ("phone", "+0446681800"),
    ("phone", "+4144668180012345"),
    ("phone", "+41446x"),
    ("handle", "x:@@"),
    ("handle", "octocat"),
    ("handle", ":octocat"),
    ("handle", "github:"),
    ("handle", "github:@"),
    ("handle", "github:octo cat"),
    ("handle", "github:" + "a" * 129),
    ("name", ""),
    ("name", " \t "),
    ("name", "---"),
    ("name", "a\x07b"),
    ("name", "a\ud800"),
    ("name", "a\ue000"),
    ("name", "a" * 301),
]

# Texts that look like values: what readers of many schemes care about, and then anything at all.
LIKELY = st.text(
    st.sampled_from(string.ascii_letters + string.digits + ":/.-@%#?&=+[]_ *\\üß\u0308")
)
ANY_TEXT = LIKELY | st.text(max_size=60)
NAMES = st.sampled_from(sorted(SCHEMES))


def outcome(scheme, value):
    try:
        return normalise(scheme, value), None
    except Problem as problem:
        return None, problem.type.code


@st.composite
def mutants(draw):
    """A value of a scheme with a few characters put in, left out or exchanged."""
    scheme, value, _ = draw(st.sampled_from(GOOD))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(value)))
        value = (
            value[:place]
            + draw(LIKELY.map(lambda t: t[:2]))
            + value[place + draw(st.integers(0, 1)) :]
        )
    return scheme, value


@each(GOOD)
def test_every_spelling_gives_the_one_value(scheme, value, normal):
    assert normalise(scheme, value) == normal
    assert normalise(scheme, normal) == normal


@each(BAD)
def test_what_is_not_one_of_the_scheme_is_refused(scheme, value):
    with pytest.raises(Problem) as failure:
        normalise(scheme, value, "/value")
    assert failure.value.type.code == "DESIGNATOR_INVALID"
    assert failure.value.detail.startswith(f"/value: is no {scheme}: it ")


@pytest.mark.parametrize(("scheme", "last", "first"), LIMITS)
def test_limits_belong_to_the_scheme_and_what_is_beyond_is_refused(scheme, last, first):
    assert outcome(scheme, last)[1] is None
    assert outcome(scheme, first)[1] == "DESIGNATOR_INVALID"


@pytest.mark.parametrize("kind", ["bitbucket", "github", "composer", "deb", "apk", "alpm", "pypi"])
def test_packages_of_some_types_have_names_in_lower_case(kind):
    assert normalise("purl", f"pkg:{kind}/Pier/Tool@V1") == f"pkg:{kind}/pier/tool@V1"


@pytest.mark.parametrize("prefix", ["BS", "BM", "GG", "GB", "GH", "KY", "VG"])
def test_no_figi_begins_like_the_isin_of_a_country(prefix):
    assert with_digits("figi", prefix + "G000B9XRY", 1) == []


def test_every_scheme_is_held_by_six_cases_and_named_once():
    cases = [scheme for scheme, *_ in (*GOOD, *BAD)]
    assert {name: cases.count(name) for name in SCHEMES if cases.count(name) < 6} == {}
    assert set(SCHEMES) == set(get_args(SchemeName))
    assert list(SCHEMES) == [scheme.name for scheme in SCHEMES.values()]


@pytest.mark.parametrize("scheme", SCHEMES.values(), ids=lambda scheme: scheme.name)
def test_the_example_of_a_scheme_is_normalised(scheme):
    assert normalise(scheme.name, scheme.example) == scheme.example
    assert scheme.doc.endswith(".")


def test_an_unknown_scheme_is_refused_with_the_known_ones():
    with pytest.raises(Problem) as failure:
        normalise("duns", "150483782")
    assert failure.value.type.code == "DESIGNATOR_INVALID"
    assert "lei, isin" in failure.value.detail
    assert failure.value.detail.startswith("value: ")


def test_a_refusal_says_that_secrets_do_not_belong_into_a_url():
    with pytest.raises(Problem) as failure:
        normalise("url", "https://user:secret@example.com/")
    assert "password" in str(failure.value.detail)


@each(list(product(SCHEMES, ["a" * (VALUE_MAX + 1), "1" * 1_000_000, "a\x00b", "a\ud800b"])))
def test_no_scheme_takes_what_is_too_long_or_cannot_be_stored(scheme, value):
    with pytest.raises(Problem) as failure:
        normalise(scheme, value)
    assert failure.value.type.code == "DESIGNATOR_INVALID"


@given(st.tuples(NAMES, ANY_TEXT) | mutants())
def test_normalising_is_idempotent_and_raises_nothing_else(case):
    scheme, value = case
    normal, code = outcome(scheme, value)
    assert code in {None, "DESIGNATOR_INVALID"}
    if normal is not None:
        assert normalise(scheme, normal) == normal
        assert 0 < len(normal) <= VALUE_MAX


@given(ANY_TEXT.map(lambda text: f"https://example.com/{text}"))
def test_urls_are_idempotent(url):
    normal, _ = outcome("url", url)
    if normal is not None:
        assert normalise("url", normal) == normal
        assert normal.isascii()


@given(st.integers(0, 2**128 - 1))
def test_ipv6_reads_back_from_its_one_text(number):
    address = IPv6Address(number)
    normal = normalise("ipv6", address.exploded.upper())
    assert IPv6Address(normal) == address
    assert normal == normal.lower() == normalise("ipv6", str(address))


def is_taken(scheme, value):
    return outcome(scheme, value)[0] == value


def with_digits(scheme, body, digits):
    """The values that begin with `body` and end in that many check digits, of all that could be."""
    endings = (f"{number:0{digits}}" for number in range(10**digits))
    return [body + ending for ending in endings if is_taken(scheme, body + ending)]


ALNUM = string.digits + string.ascii_uppercase
CONSONANTS = "BCDFGHJKLMNPQRSTVWXYZ"


@given(st.text(ALNUM, min_size=18, max_size=18))
def test_only_one_pair_of_digits_completes_a_lei(body):
    assert len(with_digits("lei", body, 2)) == 1


@given(
    st.text(string.ascii_uppercase, min_size=2, max_size=2), st.text(ALNUM, min_size=9, max_size=9)
)
def test_only_one_digit_completes_an_isin(country, body):
    assert len(with_digits("isin", country + body, 1)) == 1


@given(st.text(CONSONANTS + string.digits, min_size=8, max_size=8))
def test_only_one_digit_completes_a_figi(body):
    assert len(with_digits("figi", "BBG" + body, 1)) == 1


@given(st.text(string.digits, min_size=6, max_size=6))
def test_only_one_digit_completes_an_imo_number(body):
    assert len(with_digits("imo", body, 1)) == 1


@given(st.text(ALNUM, min_size=18, max_size=18), st.integers(0, 19), st.integers(1, 25))
def test_every_wrong_digit_or_letter_of_a_lei_is_found(body, place, step):
    (lei,) = with_digits("lei", body, 2)
    # A letter counts as two digits, so one in the place of a digit shifts the sum and may pass.
    alike = string.digits if lei[place] in string.digits else string.ascii_uppercase
    character = alike[(alike.index(lei[place]) + step) % len(alike)]
    wrong = lei[:place] + character + lei[place + 1 :]
    assert is_taken("lei", wrong) == (wrong == lei)
