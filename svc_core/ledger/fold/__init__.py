"""The fold: what a set of records says of a subject, as known at one time and held at another.

It is pure and total: any set of records has a view, and the order of its records leaves no trace.
"""
