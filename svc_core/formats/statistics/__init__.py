"""Statistics and exchange rates: series of observations."""
