"""Vulnerabilities with a CVE id: how their rows are folded, and their lists."""
