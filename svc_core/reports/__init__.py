"""Reports: cited intelligence about a profile's topic, composed from stored evidence alone.

The modules that compose reports are imported on first use: reading one needs no word lists.
"""
