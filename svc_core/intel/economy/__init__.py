"""Indicators, markets, filings and figures of companies."""
