"""Incidents: what several rows tell of one happening; stories of news, signals about them."""
