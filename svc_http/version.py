"""Which version of this service runs."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def service_version() -> str:
    """The version of the installed distribution; `unknown` in a bare source tree."""
    try:
        return version("svc-intelligence")
    except PackageNotFoundError:
        return "unknown"
