"""Reading what others publish: documents behind http(s) addresses, files and folders.

Whatever an address or a server says, nothing but public addresses is reached, and nothing larger,
slower or further away than `FetchLimits` allows is read.
"""

from svc_core.base.egress import LOOPBACK, PRIVATE, is_allowed
from svc_http.outside.fetch.client import USER_AGENT, Fetcher
from svc_http.outside.fetch.files import locations
from svc_http.outside.fetch.model import Fetched, FetchLimits, FetchRefused, NotModified

__all__ = [
    "LOOPBACK",
    "PRIVATE",
    "USER_AGENT",
    "FetchLimits",
    "FetchRefused",
    "Fetched",
    "Fetcher",
    "NotModified",
    "is_allowed",
    "locations",
]
