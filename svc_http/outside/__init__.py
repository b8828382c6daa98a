"""What this process reaches outside: documents, models, voices, facilitators."""
