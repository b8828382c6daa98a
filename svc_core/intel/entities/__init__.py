"""Persons, companies, groups and what relates them."""
