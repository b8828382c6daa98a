"""Analyses text by rules and counts: words, sentences, languages, names, topics, tone, speech."""
