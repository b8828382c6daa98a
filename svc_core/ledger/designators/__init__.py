"""Designators: how the world names a subject, as a scheme and one normalised value.

Rule 1: a value that is already normalised is itself; two spellings of one thing give one value.
Rule 2: check digits are checked, so that a slip of the hand designates nobody.
Rule 3: nothing is looked up: a value that is well formed may still name nothing.
"""
