"""What the writer has and a reader has not."""

from typing import NamedTuple

from svc_http.stores.sqlite.texts import Texts
from svc_http.stores.sqlite.traces import Traces


class WriterState(NamedTuple):
    """Beside the connection: words and traces of the batch, and the collections it wrote to."""

    texts: Texts
    traces: Traces
    names: set[str]
