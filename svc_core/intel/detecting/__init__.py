"""Signals of what stands out among many rows."""

from svc_core.intel.detecting.passes import detect_new

__all__ = ["detect_new"]
