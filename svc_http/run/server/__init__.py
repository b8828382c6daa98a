"""The process that serves: Hypercorn with our protocol, and what `svc serve` puts together."""
