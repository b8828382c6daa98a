"""Companies, who owns them, their filings and figures."""
