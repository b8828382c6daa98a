"""Pure text work: words, topics, tone, relevance, stories, extractive reports, signals and graphs.

Rule 1: no clock, no chance, no I/O; the same evidence in any order gives the same answer.
Rule 2: importing the package is cheap; word lists are read on first use.
"""
