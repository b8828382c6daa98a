"""OSINT events: things that happened at a place and a time, from every situation data provider."""
