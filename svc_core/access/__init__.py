"""Who calls, what they may do and how fast: workspaces, keys, plans, scopes, limits, lockout."""
