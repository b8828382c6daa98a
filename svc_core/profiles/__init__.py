"""Profiles: topic monitors, each with the subscription that delivers its reports."""
