"""Text, judged by numbers: words, sentences, languages, names, topics, tone, extracts, speech."""
