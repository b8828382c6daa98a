"""Persons, companies, actors and vulnerabilities as rows, and whom a name or an id means."""
