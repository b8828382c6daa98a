"""Entities: companies, persons, threat actors and vulnerabilities, and the search for whom a name
or id means."""
