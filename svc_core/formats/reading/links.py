"""Makes the links of feed items absolute and removes the parameters that track readers.

Rule 1: only campaign and click identifiers are removed, never a parameter that selects content.
Rule 2: two links that differ in tracking, host case or default port are the same link.
"""

import re
from collections.abc import Iterable
from urllib.parse import SplitResult, urljoin, urlsplit

_TRACKING_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_", "at_custom")
_TRACKING_NAMES = """
    fbclid gclid gclsrc dclid gbraid wbraid msclkid twclid yclid ysclid igshid igsh
    li_fat_id ttclid mc_cid mc_eid mkt_tok vero_id oly_enc_id oly_anon_id xtor wt_mc cmpid
    ito ftag mwrsm feedtype feedname ref_src guccounter spm _ga _gl _hsenc _hsmi at_campaign
    at_medium ns_campaign ns_mchannel ns_source ns_linkname ns_fee s_cid
"""
_TRACKING = frozenset(_TRACKING_NAMES.split())
_TRACKING_PAIRS = frozenset({"partner=rss", "emc=rss", "source=rss", "from=rss", "ref=rss"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SPACE_OR_CONTROL = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff<>\"]")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")  # RFC 3986, 3.1
_INVISIBLE = re.compile(r"[\t\r\n\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def absolute_url(link: str, bases: Iterable[str | None], *, chars_max: int) -> str | None:
    """`link` as an absolute http(s) URL, resolved against the first usable base.

    `None` when it is not a web address (`javascript:`, `tag:`), stays relative or is longer
    than `chars_max`.
    """
    link = _INVISIBLE.sub("", link.strip())
    if not link or len(link) > chars_max:
        return None
    if _SCHEME.match(link):
        return _web_address(link)
    candidates = (_join(base, link) for base in bases if base)
    return next((url for url in map(_web_address, candidates) if url), None)


def canonical_url(url: str) -> str:
    """An absolute URL in canonical form: without tracking, default port and host case."""
    parts = urlsplit(url)
    port = None if parts.port == _DEFAULT_PORTS[parts.scheme] else parts.port
    host = _host(parts) if port is None else f"{_host(parts)}:{port}"
    query = _strip_tracking(parts.query)
    part = _strip_tracking(parts.fragment) if "=" in parts.fragment else parts.fragment
    return parts._replace(netloc=host, path=parts.path or "/", query=query, fragment=part).geturl()


def same_site(left: str | None, right: str | None) -> bool:
    """Whether two absolute URLs are on one host, `www.` aside."""
    return bool(left and right) and _site(left or "") == _site(right or "")


def permalink(link: str | None, candidates: Iterable[str | None], home: str | None) -> str | None:
    """Chooses the URL of an entry's own page.

    The link of a link-blog leads to an article on another site; the page of the entry is then the
    related link or the guid on the site of the feed. For any other entry it is `link`.
    """
    if link is None or (home is not None and not same_site(link, home)):
        return next((url for url in candidates if url and same_site(url, home)), link)
    return link


def _join(base: str, link: str) -> str:
    try:
        return urljoin(base, link)
    except ValueError:  # an unclosed IPv6 bracket in either
        return ""


def _web_address(url: str) -> str | None:
    """`url` with its spaces escaped, when it is an http(s) URL with a host and a real port."""
    url = _SPACE_OR_CONTROL.sub(_escape, url)
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts.geturl() if usable else None


def _escape(match: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _host(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    return f"[{host}]" if ":" in host else host


def _site(url: str) -> str:
    return _host(urlsplit(url)).removeprefix("www.")


def _strip_tracking(query: str) -> str:
    return "&".join(pair for pair in query.split("&") if not _is_tracking(pair))


def _is_tracking(pair: str) -> bool:
    lower_pair = pair.lower()
    name = lower_pair.partition("=")[0]
    return name in _TRACKING or name.startswith(_TRACKING_PREFIXES) or lower_pair in _TRACKING_PAIRS
