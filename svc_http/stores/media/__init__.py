"""Media files: how they are kept, and how they are served."""
