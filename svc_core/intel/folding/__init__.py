"""Folding: stores what each source says, finds which statements describe one row, and makes it."""
