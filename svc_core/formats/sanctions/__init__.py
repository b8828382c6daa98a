"""Lists of persons and companies under sanctions."""
