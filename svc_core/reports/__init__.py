"""Reports: cited intelligence about a profile's topic, made from stored evidence alone.

What makes reports is loaded when it is first used: who only reads them needs no word lists.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from svc_core.reports.operations import OPERATIONS

if TYPE_CHECKING:
    from svc_core.reports.making import (
        Finished,
        Material,
        Window,
        compose,
        gather,
        postpone,
        publish,
        settle,
    )

__all__ = [
    "OPERATIONS",
    "Finished",
    "Material",
    "Window",
    "compose",
    "gather",
    "postpone",
    "publish",
    "settle",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that makes reports."""
    if name not in __all__:
        raise AttributeError(f"module 'svc_core.reports' has no attribute {name!r}")
    return getattr(import_module("svc_core.reports.making"), name)
