"""Reports: cited intelligence about a profile's topic, made from stored evidence alone.

What makes reports is loaded when it is first used: who only reads them needs no word lists.
"""
