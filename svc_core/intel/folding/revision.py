"""Rows as they were and as they are, for what is written beside them."""

from typing import Any

from attrs import frozen

from svc_core.intel.news.model import NewsText


@frozen
class Written:
    """A row as it was and as it is; None where there is none. `words` are those of a news item."""

    before: Any
    after: Any
    words: NewsText | None = None
