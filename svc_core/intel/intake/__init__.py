"""Intake: the sources, their health and schedule, and the way of a document into rows."""
