"""Voices that read reports aloud."""
