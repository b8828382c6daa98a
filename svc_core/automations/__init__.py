"""Automations: questions that the agent is asked on a schedule, each with its runs."""
