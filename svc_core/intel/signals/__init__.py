"""Signals: changes and outliers in the stored rows that an analyst should look at."""
