"""The agent: it answers questions with the service's own tools, and cites what they found."""
