"""Signals of what changed, found in the unit that wrote it."""

from svc_core.intake.signals.following import follow, follow_severity
from svc_core.intake.signals.scores import follow_scores

__all__ = ["follow", "follow_scores", "follow_severity"]
