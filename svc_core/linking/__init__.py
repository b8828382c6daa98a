"""Who a name means: pure rules over names, designators and dates.

Rule 1: an equal strong designator is the same entity; two of one scheme forbid it.
Rule 2: the alias table says who a vendor or company was at a date.
Rule 3: the same normalised name is the same entity only where one has it alone, and where it has
        two words or something else speaks for it.
Rule 4: everything weaker is a candidate with its score and reasons, and joins nothing.
"""
