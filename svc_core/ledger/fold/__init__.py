"""The bitemporal fold: computes the view of a subject from records, at a record and a valid time.

It is a pure and total function: every set of records has a view, whatever order they come in.
"""
