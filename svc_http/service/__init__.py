"""A running service: how it is put together, its background workers, its log and its metrics."""
