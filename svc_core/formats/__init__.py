"""One pure parser for each format that public sources write: bytes in, typed observations out."""
