"""Fusion: what several kinds of rows tell of one company together, joined and explained."""

from svc_core.intel.fusion.operations import OPERATIONS

__all__ = ["OPERATIONS"]
