"""CloudEvents 1.0 in structured JSON mode: the one form of everything that is told to webhooks."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from svc_core import compact, instants

_text = compact.encoder()


def cloud_event(
    id_: str,
    type_: str,
    subject: str,
    *,
    source: str,
    at: datetime,
    data: Mapping[str, Any],
) -> str:
    """The body of an event; `source` is the origin of the service, `data` plain JSON."""
    return _text(
        {
            "specversion": "1.0",
            "id": id_,
            "source": source,
            "type": type_,
            "subject": subject,
            "time": instants.render(at),
            "datacontenttype": "application/json",
            "data": dict(data),
        }
    )
