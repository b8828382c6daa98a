"""Workspaces, people and API keys: managed by local operations, never over HTTP."""
