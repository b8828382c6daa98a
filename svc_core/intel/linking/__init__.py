"""Which names and identifiers mean the same thing: pure comparison of names and designators."""
