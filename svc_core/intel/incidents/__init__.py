"""Incidents: joins the rows that are about one event, groups news into stories, links signals."""
