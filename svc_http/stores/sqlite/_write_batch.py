"""The state of a batch of writes that only the writer thread holds."""

from typing import NamedTuple

from svc_http.stores.sqlite._texts import Texts
from svc_http.stores.sqlite._traces import Traces


class WriteBatch(NamedTuple):
    """Buffered text writes and erasure traces of a batch, and the collections that it wrote to."""

    texts: Texts
    traces: Traces
    names: set[str]
