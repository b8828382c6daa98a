"""Article addresses: parses them, and derives the id of the incident that an article is about."""

from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

from svc_core.base import ids


def page_of(url: str | None) -> SplitResult | None:
    """The parts of an http address; None for text that has no host."""
    try:
        page = urlsplit(url or "")
    except ValueError:  # of brackets that hold no address
        return None
    return page if page.hostname else None


@lru_cache(maxsize=4_096)  # several rows may be about one article
def incident_of_article(url: str | None) -> str | None:
    """The id of the incident that an article is about, the same from every source.

    `www.`, the scheme, the fragment and a trailing slash make no difference. None for what is no
    address.
    """
    page = page_of(url)
    if page is None:
        return None
    host = str(page.hostname).removeprefix("www.")
    address = page._replace(scheme="", netloc="", path=page.path.rstrip("/"), fragment="")
    return ids.derived_id("inc", "article", "", f"{host} {address.geturl()}")
