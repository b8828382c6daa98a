"""Coordination of processes: request counters, lockouts, leases, and signals of commits.

There are three backends: one process alone, a PostgreSQL database, and a Redis or Valkey server.
Each implements the four ports of `svc_core.operation.ports.shared` and passes the same tests.
"""
