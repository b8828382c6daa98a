"""Reports: cited intelligence about a profile's topic, made from stored evidence alone."""

from svc_core.reports.making import (
    Finished,
    Material,
    Window,
    compose,
    gather,
    publish,
    settle,
)
from svc_core.reports.operations import OPERATIONS

__all__ = ["OPERATIONS", "Finished", "Material", "Window", "compose", "gather", "publish", "settle"]
