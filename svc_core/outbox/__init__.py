"""The outbox: events for webhooks, written in the same unit of work as their cause."""
