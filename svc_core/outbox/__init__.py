"""Events that webhooks receive, written in the unit of work that causes them."""
