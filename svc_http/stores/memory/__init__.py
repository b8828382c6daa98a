"""The in-memory backend: for tests and demonstrations, and the model of the durable backends."""
