"""Incidents: what several sources tell of one happening."""
