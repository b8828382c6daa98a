"""Pages for people: templates, and what makes bytes of them."""
