"""Access control: workspaces, people, API keys, plans, scopes, rate limits and lockout."""
