"""Which version of this service runs."""

from importlib.metadata import PackageNotFoundError, version


def service_version() -> str:
    """The version of the installed distribution; `unknown` in a bare source tree."""
    try:
        return version("svc-intelligence")
    except PackageNotFoundError:
        return "unknown"
