"""Projects: private collections of reports, subjects and notes of one person."""
