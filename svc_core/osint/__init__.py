"""OSINT situation data: events, where and when they are, countries, indicators, and sources."""
