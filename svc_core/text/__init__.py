"""Text before anybody judges it: words, sentences, languages, evidence, how common a word is.

Rule 1: no clock, no chance, no I/O; the same text gives the same answer.
Rule 2: importing the package is cheap; tables are read on first use.
"""
