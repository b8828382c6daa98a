"""Designators: external identifiers of a subject, each a scheme and a normalised value.

Rule 1: a value that is already normalised is itself; two spellings of one thing give one value.
Rule 2: check digits are verified, so that a typing error is refused and names nobody else.
Rule 3: nothing is looked up: a value that is well formed may still name nothing.
"""
