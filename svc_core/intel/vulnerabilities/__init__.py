"""Vulnerabilities (CVE), as their sources rate them."""
