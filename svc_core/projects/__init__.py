"""Projects: what a person keeps together, seen by nobody else."""

from svc_core.projects.operations import OPERATIONS

__all__ = ["OPERATIONS"]
