"""Automations: questions that the agent is asked on a schedule, each with its runs."""

from svc_core.automations.operations import OPERATIONS

__all__ = ["OPERATIONS"]
