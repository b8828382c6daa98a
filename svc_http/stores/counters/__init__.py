"""Where processes share their counts, lockouts, leases and the news of commits.

In this process alone, in a PostgreSQL database, or on a Redis or Valkey server: each implements the
four ports of `svc_core.operation.ports.shared`, and one suite holds for all three.
"""
