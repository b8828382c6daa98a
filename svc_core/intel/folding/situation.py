"""How the operations of situation data are declared."""

from functools import partial

from svc_core.operation import filters

READ = frozenset({"osint:read"})

reading = partial(filters.reading, tag="OSINT", scopes=READ)
"""An operation of v1 that reads situation data."""
