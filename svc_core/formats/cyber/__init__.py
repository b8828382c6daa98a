"""Vulnerabilities, advisories, threat actors and what they use."""
